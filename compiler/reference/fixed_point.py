"""Exponential, reciprocal and logistic function in fixed point, as gemmlowp's fixedpoint.h defines them.

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


def one_over_one_plus(argument: Integers) -> Integers:
    """1 / (1 + `argument`), `argument` ∈ [0, 1) and result in Q0.31, by three Newton steps."""
    half_denominator = (argument + INT32_MAX + 1) >> 1
    x = _NEWTON_START + doubling_high_mul(half_denominator, _NEWTON_SLOPE)
    for _ in range(3):
        error = _ONE_Q2 - doubling_high_mul(half_denominator, x)
        x = wrap_int32(x + saturate_int32(doubling_high_mul(x, error) << 2))
    return saturate_int32(x << 1)


def logistic(argument: Integers) -> Integers:
    """1 / (1 + exp(−`argument`)), `argument` in Q4.27 and result in Q0.31."""
    positive = one_over_one_plus(exp_of_negative(-np.abs(argument), 4))
    result = np.where(argument > 0, positive, INT32_MAX - positive)
    return np.where(argument == 0, 1 << 30, result)
