"""What the operations on TENSOR_FLOAT32 share.

NNAPI leaves the order of additions open. The reference computes in double precision and rounds every
element of a result once to single precision, so its answer depends on no order; one that computes in single
precision throughout stays within AOSP's tolerance of it, 1e-5 + 5 · 2⁻²³ · |x|.
"""

import numpy as np
import numpy.typing as npt

from compiler.nnapi import FuseCode, OperandCode
from compiler.reference.registry import Array, Call, Floats

_BOUNDS: dict[FuseCode, tuple[float | None, float | None]] = {
    FuseCode.NONE: (None, None),
    FuseCode.RELU: (0.0, None),
    FuseCode.RELU1: (-1.0, 1.0),
    FuseCode.RELU6: (0.0, 6.0),
}


def clamp(values: Floats, fuse: FuseCode) -> Floats:
    """`values` limited to what `fuse` lets through; NaN stays NaN."""
    low, high = _BOUNDS[fuse]
    return values if low is None else np.clip(values, low, high)


def to_single(values: npt.ArrayLike) -> Array:
    """Values rounded to float32; beyond its range they become infinite or 0."""
    return np.asarray(values, np.float64).astype(np.float32)


def finish(call: Call, values: Floats, fuse: FuseCode = FuseCode.NONE) -> Array:
    """`values` after the fused activation, as the operation's first output, which must be float."""
    call.result(OperandCode.TENSOR_FLOAT32)
    return to_single(clamp(values, fuse))


def logistic(values: Floats) -> Floats:
    """1 / (1 + exp(−x))."""
    return 1.0 / (1.0 + np.exp(-values))
