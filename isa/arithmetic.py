"""Fixed-point arithmetic of the instruction set.

The bits follow the public NNAPI CPU path and gemmlowp, as `quant8-semantics.md` states them (sections 1, 6
and 7). Unless a docstring says otherwise, arguments are int32 values, as Python integers or arrays of any
integer type that holds them, and results are int64 arrays that hold int32 values. Qi.f names a fixed-point
format with i integer and f fraction bits.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
IntegerArray = npt.NDArray[np.integer]

INT32_MIN = -(1 << 31)
INT32_MAX = (1 << 31) - 1
MAX_RIGHT_SHIFT = 31
"""Rounding shifts by more are not defined; multipliers that would need one are rounded to zero."""

_BLOCK_ELEMENTS = 1 << 14
"""Elements requantised at a time: two int64 buffers of this length stay in a second-level cache."""


class QuantizedMultiplier(NamedTuple):
    """A real factor as multiplier * 2**(shift - 31): a Q0.31 mantissa and an exponent of two."""

    multiplier: int
    shift: int


def quantize_multiplier(real: float) -> QuantizedMultiplier:
    """Find the nearest multiplier and shift of a factor >= 0.

    The mantissa is in [2**30, 2**31), or 0 for 0 and for factors below 2**-32, whose shift would be less
    than -31. Raises ValueError for a negative or non-finite factor.
    """
    if not (math.isfinite(real) and real >= 0):
        raise ValueError(f"multiplier {real!r}: must be finite and not negative")
    fraction, shift = math.frexp(real)
    mantissa = math.floor(fraction * 2.0**31 + 0.5)
    if mantissa == 1 << 31:
        mantissa, shift = 1 << 30, shift + 1
    if shift < -MAX_RIGHT_SHIFT:
        return QuantizedMultiplier(0, 0)
    return QuantizedMultiplier(mantissa, shift)


def quantize_multiplier_smaller_than_one(real: float) -> QuantizedMultiplier:
    """`quantize_multiplier` for a factor in [0, 1) whose shift comes out <= 0; ValueError otherwise.

    A factor less than 2**-32 below 1 rounds up to 1, has shift 1 and is refused too.
    """
    scaling = quantize_multiplier(real)
    if real >= 1 or scaling.shift > 0:
        raise ValueError(f"multiplier {real!r}: must be smaller than 1, also after rounding to 31 bits")
    return scaling


def quantize_multiplier_greater_than_one(real: float) -> QuantizedMultiplier:
    """`quantize_multiplier` for a factor > 1, so that shift >= 1; ValueError otherwise."""
    if not real > 1:
        raise ValueError(f"multiplier {real!r}: must be greater than 1")
    return quantize_multiplier(real)


def srdhm(a: npt.ArrayLike, b: npt.ArrayLike) -> Int64Array:
    """Saturating rounding doubling high multiply: (a * b + 2**30) >> 31, ties toward +infinity.

    The one product that does not fit, of -2**31 with itself, saturates to 2**31 - 1.
    """
    product: Int64Array = np.multiply(a, b, dtype=np.int64)
    rounded: Int64Array = np.minimum((product + (1 << 30)) >> 31, INT32_MAX)
    return rounded


def rounding_divide_by_pot(x: npt.ArrayLike, exponent: npt.ArrayLike) -> Int64Array:
    """Divide by 2**exponent and round to the nearest integer, ties away from zero; 0 <= exponent <= 61."""
    value = np.asarray(x, np.int64)
    half = np.left_shift(np.int64(1), np.asarray(exponent, np.int64)) >> 1
    rounded: Int64Array = np.right_shift(value + half - ((value < 0) & (half > 0)), exponent)
    return rounded


def multiply_by_quantized_multiplier(x: npt.ArrayLike, multiplier: int, shift: int) -> Int64Array:
    """MBQM: x * 2**max(shift, 0) wrapped to int32, SRDHM with the multiplier, then the rounding shift.

    Raises ValueError if shift < -31.
    """
    value = np.asarray(x, np.int64)
    product = np.empty(value.shape, np.int64)
    _scale_into(product, np.empty(value.shape, np.int64), value, multiplier, shift)
    return product


def requantize(
    sums: npt.NDArray[np.int32],
    multiplier: int,
    shift: int,
    output_zero: int,
    clamp_min: int,
    clamp_max: int,
    out: IntegerArray,
) -> None:
    """Write clamp(MBQM(sums, multiplier, shift) + output_zero) to `out`, element by element.

    `sums` and `out` are contiguous and have the same number of elements; the clamp's bounds must fit the
    type of `out`. Raises ValueError if shift < -31.
    """
    flat, target = sums.reshape(-1), out.reshape(-1)
    length = min(flat.size, _BLOCK_ELEMENTS)
    product, scratch = np.empty(length, np.int64), np.empty(length, np.int64)
    lowest, highest = clamp_min - output_zero, clamp_max - output_zero
    for start in range(0, flat.size, _BLOCK_ELEMENTS):
        block = flat[start : start + _BLOCK_ELEMENTS]
        scaled = product[: block.size]
        _scale_into(scaled, scratch[: block.size], block, multiplier, shift)
        np.clip(scaled, lowest, highest, out=scaled)
        scaled += output_zero
        np.copyto(target[start : start + block.size], scaled, casting="unsafe")


def _scale_into(
    product: Int64Array, scratch: Int64Array, x: IntegerArray, multiplier: int, shift: int
) -> None:
    """Write MBQM(x, multiplier, shift) to `product`.

    Both roundings in one shift of the exact product p = x * multiplier: with t = (p + 2**30) >> 31, the
    rounding shift by n > 0 is (t + 2**(n-1) - [t < 0]) >> n, and nested floors of quotients collapse, so the
    result is (p + 2**30 + 2**(30+n) - [p < 0] * 2**31) >> (31 + n). Where p < 0 but t = 0, the result is 0
    with and without the correction. |p| <= 2**62, hence no sum leaves int64.
    """
    right = max(-shift, 0)
    if right > MAX_RIGHT_SHIFT:
        raise ValueError(f"requantisation shift {shift}: the smallest is {-MAX_RIGHT_SHIFT}")
    if shift > 0:
        x = np.left_shift(x, shift).astype(np.int32)
    np.multiply(x, multiplier, out=product, dtype=np.int64)
    if multiplier == INT32_MIN:
        np.minimum(product, INT32_MAX << 31, out=product)
    offset = 1 << 30
    if right:
        np.right_shift(product, 63, out=scratch)
        np.left_shift(scratch, 31, out=scratch)
        np.add(product, scratch, out=product)
        offset += 1 << (30 + right)
    np.add(product, offset, out=product)
    np.right_shift(product, 31 + right, out=product)


def saturating_left_shift(x: npt.ArrayLike, exponent: int) -> Int64Array:
    """Multiply by 2**exponent, 0 <= exponent <= 31, and saturate to int32."""
    return np.clip(np.left_shift(np.asarray(x, np.int64), exponent), INT32_MIN, INT32_MAX)


_EXP_FACTORS = (
    (-2, 1672461947),
    (-1, 1302514674),
    (0, 790015084),
    (1, 290630308),
    (2, 39332535),
    (3, 720401),
    (4, 242),
)
"""k and exp(-2**k) in Q0.31."""


def exp_on_negative(a: npt.ArrayLike, integer_bits: int) -> Int64Array:
    """exp(a) in Q0.31 for a <= 0 in Q(integer_bits).(31 - integer_bits); integer_bits in 0 … 5.

    `a` is split into a remainder in [-1/4, 0), which a polynomial takes, and multiples of 1/4, of which each
    set bit contributes a factor. exp(0) is 2**31 - 1, the largest Q0.31.
    """
    value = np.asarray(a, np.int64)
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    remainder = (value & (quarter - 1)) - quarter
    multiples = remainder - value
    result = _exp_on_quarter(remainder << integer_bits)
    for k, factor in _EXP_FACTORS:
        if integer_bits > k:
            selected = (multiples >> (fraction_bits + k)) & 1
            result = np.where(selected == 1, srdhm(result, factor), result)
    return np.where(value == 0, INT32_MAX, result)


def _exp_on_quarter(r: Int64Array) -> Int64Array:
    """exp(r) for r in [-1/4, 0), all Q0.31: a fourth-order Taylor polynomial around -1/8."""
    exp_minus_eighth, third = 1895147668, 715827883
    x = r + (1 << 28)
    x2 = srdhm(x, x)
    x3 = srdhm(x2, x)
    x4 = srdhm(x2, x2)
    tail = srdhm(rounding_divide_by_pot(x4, 2) + x3, third) + x2
    return exp_minus_eighth + srdhm(exp_minus_eighth, x + rounding_divide_by_pot(tail, 1))


def one_over_one_plus(u: npt.ArrayLike) -> Int64Array:
    """1 / (1 + u) for u in [0, 1), both Q0.31."""
    return saturating_left_shift(_two_over_one_plus(np.asarray(u, np.int64)), 1)


def _two_over_one_plus(u: Int64Array) -> Int64Array:
    """2 / (1 + u) in Q2.29 for u in [0, 1), Q0.31: three Newton steps from 48/17 - 32/17 * h.

    h = (1 + u) / 2, the half sum rounded away from zero, with 1 as 2**31 - 1.
    """
    total = u + INT32_MAX
    half_sum = np.where(total >= 0, (total + 1) >> 1, -((1 - total) >> 1))
    x = 1515870810 + srdhm(half_sum, -1010580540)
    for _ in range(3):
        error = (1 << 29) - srdhm(half_sum, x)
        x = x + saturating_left_shift(srdhm(x, error), 2)
    return x


def logistic(t: npt.ArrayLike) -> Int64Array:
    """1 / (1 + exp(-t)) in Q0.31, for t in Q4.27."""
    value = np.asarray(t, np.int64)
    of_magnitude = one_over_one_plus(exp_on_negative(-np.abs(value), 4))
    signed = np.where(value > 0, of_magnitude, INT32_MAX - of_magnitude)
    return np.where(value == 0, 1 << 30, signed)


def logistic_table(scale: float, zero_point: int) -> npt.NDArray[np.uint8]:
    """LOGISTIC of every uint8 code, uint8 [256]; the output has scale 1/256 and zero point 0.

    Codes further from the zero point than 15 (as the input's real value, rounded down) saturate. Raises
    ValueError unless scale > 2**-27.
    """
    centered, radius, argument = _table_arguments(scale, zero_point)
    value = np.minimum(rounding_divide_by_pot(logistic(argument), 23), 255)
    inside = np.abs(centered) <= radius
    return np.where(inside, value, np.where(centered < 0, 0, 255)).astype(np.uint8)


def tanh(t: npt.ArrayLike) -> Int64Array:
    """Hyperbolic tangent in Q0.31, for t in Q4.27: (1 - e) / (1 + e) with e = exp(-2|t|), signed as t.

    The doubling only reads the bits of |t| as Q5.26.
    """
    value = np.asarray(t, np.int64)
    quotient = _two_over_one_plus(exp_on_negative(-np.abs(value), 5)) - (1 << 29)
    return np.sign(value) * saturating_left_shift(quotient, 2)


def tanh_table(scale: float, zero_point: int) -> npt.NDArray[np.uint8]:
    """TANH of every uint8 code, uint8 [256]; the output has scale 1/128 and zero point 128.

    Codes at least as far from the zero point as 15 (as the input's real value, rounded down) saturate, the
    zero point itself to 0 where 15 is nearer than one step. Raises ValueError unless scale > 2**-27.
    """
    centered, radius, argument = _table_arguments(scale, zero_point)
    value = np.minimum(rounding_divide_by_pot(tanh(argument), 24) + 128, 255)
    return np.where(centered <= -radius, 0, np.where(centered >= radius, 255, value)).astype(np.uint8)


def _table_arguments(scale: float, zero_point: int) -> tuple[Int64Array, int, Int64Array]:
    """Distance of every uint8 code to the zero point, that of 15, and the arguments in Q4.27, 0 beyond it."""
    multiplier, shift = quantize_multiplier_greater_than_one(scale * 2.0**27)
    radius = (15 << 27) >> shift
    centered = np.arange(256, dtype=np.int64) - zero_point
    inside = np.where(np.abs(centered) <= radius, centered, 0)
    return centered, radius, srdhm(inside << min(shift, 31), multiplier)


class SoftmaxParameters(NamedTuple):
    """How softmax rescales a difference d of input codes: SRDHM(d * 2**shift, multiplier), Q5.26."""

    multiplier: int
    shift: int
    difference_limit: int
    """Largest distance below the maximum that the format holds; elements further down yield 0."""


def softmax_parameters(scale: float, beta: float) -> SoftmaxParameters:
    """Parameters of SOFTMAX for an input scale and beta.

    The factor is min(beta * scale * 2**26, 2**31 - 1); ValueError unless it is > 1.
    """
    factor = min(beta * scale * 2.0**26, float(INT32_MAX))
    multiplier, shift = quantize_multiplier_greater_than_one(factor)
    return SoftmaxParameters(multiplier, shift, (31 << 26) >> shift)


@functools.lru_cache(maxsize=8)
def softmax_exponentials(multiplier: int, shift: int, difference_limit: int) -> Int64Array:
    """exp(-d * factor) in Q0.31 for the distances d = 0 … 255 below the maximum, int64 [256], read-only.

    Distances beyond `difference_limit` yield 0.
    """
    distance = np.arange(256, dtype=np.int64)
    inside = distance <= difference_limit
    argument = srdhm(np.where(inside, -distance, 0) << shift, multiplier)
    table = np.where(inside, exp_on_negative(argument, 5), 0)
    table.flags.writeable = False
    return table


def softmax(codes: npt.NDArray[np.uint8], parameters: SoftmaxParameters) -> npt.NDArray[np.uint8]:
    """Softmax of each row of uint8 [rows, depth]; the result has scale 1/256 and zero point 0.

    The sum is Q12.19 and wraps: about 4,096 equal elements fill it.
    """
    distance = codes.max(axis=1, keepdims=True) - codes
    exponential = softmax_exponentials(*parameters)
    addend = rounding_divide_by_pot(exponential, 12)
    total = addend[distance].sum(axis=1, keepdims=True) & 0xFFFFFFFF
    leading_zeros = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    mantissa = (total << leading_zeros) + INT32_MIN
    probability = srdhm(one_over_one_plus(mantissa), exponential[distance])
    return np.minimum(rounding_divide_by_pot(probability, 35 - leading_zeros), 255).astype(np.uint8)
