"""One module per family of operations; importing this package fills `compiler.operation.REGISTRY`."""

from compiler.ops import (
    activation,
    convolution,
    depthwise,
    elementwise,
    matmul,
    normalization,
    pooling,
    shape,
)

__all__ = [
    "activation",
    "convolution",
    "depthwise",
    "elementwise",
    "matmul",
    "normalization",
    "pooling",
    "shape",
]
