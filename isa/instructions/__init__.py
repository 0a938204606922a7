"""Instruction declarations. Importing this package fills the registry."""

from isa.instructions import control, dma, matrix, vector, window

__all__ = ["control", "dma", "matrix", "vector", "window"]
