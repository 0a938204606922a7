"""Functions in fixed point: exponential, logistic, tanh, reciprocals and inverse square root.

gemmlowp's fixedpoint.h defines them, unless one names another source.
Qa.b is an int32 with a integer and b fraction bits. Arrays are int64 holding such int32 values.
"""

import numpy as np

from compiler.reference.arithmetic import (
    INT32_MAX,
    doubling_high_mul,
    rounding_divide_by_pot,
    saturate_int32,
    wrap_int32,
)
from compiler.reference.registry import Integers

_ONE_EIGHTH = 1 << 28
"""1/8 in Q0.31: the distance from −1/8, where the series of the exponential is developed."""
_EXP_MINUS_ONE_EIGHTH = 1895147668
"""exp(−1/8) in Q0.31."""
_ONE_THIRD = 715827883
"""1/3 in Q0.31."""
_EXP_OF_MINUS_POWER = (
    (-2, 1672461947),
    (-1, 1302514674),
    (0, 790015084),
    (1, 290630308),
    (2, 39332535),
    (3, 720401),
    (4, 242),
)
"""Pairs k, exp(−2^k) in Q0.31: the factors of the exponential, one per bit of its argument."""
_NEWTON_START = 1515870810
"""48/17 in Q2.29."""
_NEWTON_SLOPE = -1010580540
"""−32/17 in Q2.29."""
_ONE_Q2 = 1 << 29
"""1 in Q2.29."""
_ONE_Q3 = 1 << 28
"""1 in Q3.28."""
_HALF_SQUARE_ROOT_OF_TWO = 1518500250
"""√½ in Q0.31."""


def _exp_near_minus_one_eighth(argument: Integers) -> Integers:
    """e^`argument` for −1/4 ≤ `argument` < 0, all in Q0.31, by a polynomial of degree 4."""
    x1 = argument + _ONE_EIGHTH
    x2 = doubling_high_mul(x1, x1)
    x3 = doubling_high_mul(x2, x1)
    x4 = doubling_high_mul(x2, x2)
    tail = doubling_high_mul(rounding_divide_by_pot(x4, 2) + x3, _ONE_THIRD) + x2
    series = x1 + rounding_divide_by_pot(tail, 1)
    return _EXP_MINUS_ONE_EIGHTH + doubling_high_mul(series, _EXP_MINUS_ONE_EIGHTH)


def exp_of_negative(argument: Integers, integer_bits: int) -> Integers:
    """e^`argument` in Q0.31 for `argument` ≤ 0 in Q`integer_bits`.(31 − `integer_bits`); at most 5 bits.

    The result for 0 is 1 − 2⁻³¹, the largest value of Q0.31.
    """
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    below_quarter = (argument & (quarter - 1)) - quarter
    remainder = below_quarter - argument
    result = _exp_near_minus_one_eighth(saturate_int32(below_quarter << integer_bits))
    for power, factor in _EXP_OF_MINUS_POWER:
        if power < integer_bits:
            is_set = (remainder >> (fraction_bits + power)) & 1 == 1
            result = np.where(is_set, doubling_high_mul(result, factor), result)
    return np.where(argument == 0, INT32_MAX, result)


def _two_over_one_plus(argument: Integers) -> Integers:
    """2 / (1 + `argument`) in Q2.29, `argument` ∈ [0, 1) in Q0.31, by three Newton steps."""
    half_denominator = (argument + INT32_MAX + 1) >> 1
    x = _NEWTON_START + doubling_high_mul(half_denominator, _NEWTON_SLOPE)
    for _ in range(3):
        error = _ONE_Q2 - doubling_high_mul(half_denominator, x)
        x = wrap_int32(x + saturate_int32(doubling_high_mul(x, error) << 2))
    return x


def one_over_one_plus(argument: Integers) -> Integers:
    """1 / (1 + `argument`), `argument` ∈ [0, 1) and result in Q0.31."""
    return saturate_int32(_two_over_one_plus(argument) << 1)


def _one_minus_over_one_plus(argument: Integers) -> Integers:
    """(1 − `argument`) / (1 + `argument`), `argument` ∈ [0, 1) and result in Q0.31."""
    return saturate_int32((_two_over_one_plus(argument) - _ONE_Q2) << 2)


def logistic(argument: Integers) -> Integers:
    """1 / (1 + exp(−`argument`)), `argument` in Q4.27 and result in Q0.31."""
    positive = one_over_one_plus(exp_of_negative(-np.abs(argument), 4))
    result = np.where(argument > 0, positive, INT32_MAX - positive)
    return np.where(argument == 0, 1 << 30, result)


def tanh(argument: Integers) -> Integers:
    """Hyperbolic tangent, `argument` in Q4.27 and result in Q0.31.

    tanh |x| = (1 − e) / (1 + e) with e = exp(−2|x|); the bits of x in Q4.27 are those of 2x in Q5.26.
    """
    magnitude = _one_minus_over_one_plus(exp_of_negative(-np.abs(argument), 5))
    return np.where(argument < 0, -magnitude, np.where(argument == 0, 0, magnitude))


def inverse_square_root(value: Integers) -> tuple[Integers, Integers]:
    """(m, r) with 1 / √`value` ≈ m · 2^(−31 − r), by five Newton steps in Q3.28; 1 − 2⁻³¹ up to a value of 1.

    TensorFlow Lite's quantization_util defines it. `value` is an int32 of any sign; r ≥ 0.
    """
    mantissa, shift = _even_power_mantissa(np.maximum(value, 2))
    # The mantissa is read as Q3.28, halved once: it is 2 · 4^k times the value, hence √½ at the end.
    half = rounding_divide_by_pot(mantissa >> 1, 1)
    x = np.full_like(half, _ONE_Q3)
    for _ in range(5):
        cube = saturate_int32(doubling_high_mul(doubling_high_mul(x, x), x) << 6)
        x = saturate_int32(
            (doubling_high_mul(_ONE_Q3 + _ONE_Q3 // 2, x) - doubling_high_mul(half, cube)) << 3
        )
    x = doubling_high_mul(x, _HALF_SQUARE_ROOT_OF_TWO)
    multiplier = wrap_int32(x << np.maximum(-shift, 0))
    is_tiny = value <= 1
    return np.where(is_tiny, INT32_MAX, multiplier), np.where(is_tiny, 0, np.maximum(shift, 0))


def _even_power_mantissa(value: Integers) -> tuple[Integers, Integers]:
    """`value` ≥ 2 times or over powers of four, in [2²⁷, 2²⁹), and 11 less the power it was multiplied by."""
    mantissa, shift = value.copy(), np.full_like(value, 11)
    while (is_large := mantissa >= 1 << 29).any():
        mantissa, shift = np.where(is_large, mantissa >> 2, mantissa), shift + is_large
    while (is_small := mantissa < 1 << 27).any():
        mantissa, shift = np.where(is_small, mantissa << 2, mantissa), shift - is_small
    return mantissa, shift
