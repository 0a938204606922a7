"""Timed units: matrix, vector and DMA, each with its closed forms."""
