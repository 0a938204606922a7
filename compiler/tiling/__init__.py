"""Tiling: how a stage is cut into tiles, and what a cut costs."""
