"""Instruction declarations. Importing this package fills the registry."""

from isa.instructions import control, dma, float_vector, gather, matrix, resize, vector, window

__all__ = ["control", "dma", "float_vector", "gather", "matrix", "resize", "vector", "window"]
