"""Fixed-point primitives of the quantised kernels, on int64 arrays that hold int32 values.

Sources: gemmlowp's fixedpoint.h for the primitives, TensorFlow Lite's quantization_util for the
multipliers. All intermediate products fit into int64, so nothing here overflows unless it says it wraps.
"""

import math

import numpy as np
import numpy.typing as npt

from compiler.nnapi import FuseCode
from compiler.reference.registry import Array, Integers

INT32_MIN = -(1 << 31)
INT32_MAX = (1 << 31) - 1

_ACTIVATION_BOUNDS: dict[FuseCode, tuple[float | None, float | None]] = {
    FuseCode.NONE: (None, None),
    FuseCode.RELU: (0.0, None),
    FuseCode.RELU1: (-1.0, 1.0),
    FuseCode.RELU6: (0.0, 6.0),
}


def round_half_away(value: npt.ArrayLike) -> Integers:
    """Nearest integer, ties away from zero (C's `round`); `value` is float64 or exact in it."""
    wide = np.asarray(value, np.float64)
    magnitude = np.floor(np.abs(wide) + 0.5).astype(np.int64)
    return np.where(wide < 0, -magnitude, magnitude)


def wrap_int32(value: npt.ArrayLike) -> Integers:
    """`value` modulo 2³², as two's complement."""
    wide = np.asarray(value, np.int64)
    return ((wide - INT32_MIN) & 0xFFFFFFFF) + INT32_MIN


def saturate_int32(value: npt.ArrayLike) -> Integers:
    """`value` limited to the range of int32."""
    return np.clip(np.asarray(value, np.int64), INT32_MIN, INT32_MAX)


def doubling_high_mul(left: npt.ArrayLike, right: npt.ArrayLike) -> Integers:
    """⌊(left·right + 2³⁰) / 2³¹⌋, saturating: the high half of the doubled product, ties toward +∞."""
    product = np.asarray(left, np.int64) * np.asarray(right, np.int64)
    return saturate_int32((product + (1 << 30)) >> 31)


def rounding_divide_by_pot(value: npt.ArrayLike, exponent: npt.ArrayLike) -> Integers:
    """`value` / 2^`exponent` to the nearest integer, ties away from zero; 0 ≤ exponent ≤ 62.

    gemmlowp states it for exponents up to 31; beyond, this is the same division without that limit.
    """
    wide, shift = np.asarray(value, np.int64), np.asarray(exponent, np.int64)
    mask = (np.int64(1) << shift) - 1
    threshold = (mask >> 1) + (wide < 0)
    return (wide >> shift) + ((wide & mask) > threshold)


def multiply_by_quantized_multiplier(value: npt.ArrayLike, multiplier: int, exponent: int) -> Integers:
    """`value` · multiplier · 2^(exponent − 31), rounded twice as the kernels do; the left shift wraps."""
    shifted = wrap_int32(np.asarray(value, np.int64) << min(max(exponent, 0), 32))
    return rounding_divide_by_pot(doubling_high_mul(shifted, multiplier), max(-exponent, 0))


def quantize_multiplier(real: float) -> tuple[int, int]:
    """(m, e) with real ≈ m · 2^(e − 31), 2³⁰ ≤ m < 2³¹; (0, 0) for 0 and for values below 2⁻³²."""
    if real == 0.0:
        return 0, 0
    fraction, exponent = math.frexp(real)
    mantissa = math.floor(fraction * (1 << 31) + 0.5)
    if mantissa == 1 << 31:
        mantissa, exponent = 1 << 30, exponent + 1
    return (0, 0) if exponent < -31 else (mantissa, exponent)


def quantize_multiplier_below_one(real: float) -> tuple[int, int] | None:
    """As `quantize_multiplier`, with e ≤ 0; None unless 0 ≤ real < 1 and it stays below 1 when rounded."""
    if not 0.0 <= real < 1.0:
        return None
    mantissa, exponent = quantize_multiplier(real)
    return (mantissa, exponent) if exponent <= 0 else None


def quantize_multiplier_above_one(real: float) -> tuple[int, int] | None:
    """As `quantize_multiplier` for real > 1 (then e ≥ 1); None for any other value."""
    return quantize_multiplier(real) if real > 1.0 else None


def activation_range(fuse: FuseCode, scale: float, zero_point: int) -> tuple[int, int]:
    """Smallest and largest byte that `fuse` lets through a tensor of this scale and zero point.

    The bound is divided by the scale in single precision.
    """
    low, high = _ACTIVATION_BOUNDS[fuse]

    def quantized(bound: float) -> int:
        with np.errstate(over="ignore"):
            steps = np.float32(bound) / np.float32(scale)
        return zero_point + int(round_half_away(np.clip(steps, INT32_MIN, INT32_MAX)))

    return (
        0 if low is None else max(0, quantized(low)),
        255 if high is None else min(255, quantized(high)),
    )


def to_quant8(value: Integers, zero_point: int, bounds: tuple[int, int]) -> Array:
    """`value` steps from the zero point as bytes within `bounds`."""
    return np.clip(value + zero_point, *bounds).astype(np.uint8)
