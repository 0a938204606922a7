import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.nnapi import FuseCode
from compiler.reference.arithmetic import (
    INT32_MAX,
    INT32_MIN,
    activation_range,
    doubling_high_mul,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    quantize_multiplier_above_one,
    quantize_multiplier_below_one,
    round_half_away,
    rounding_divide_by_pot,
    saturate_int32,
    wrap_int32,
)

INT32 = st.integers(INT32_MIN, INT32_MAX)


def nearest_away(value: Fraction) -> int:
    """Nearest integer, ties away from zero, in exact arithmetic."""
    magnitude = math.floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


@given(INT32, INT32)
def test_the_high_half_rounds_ties_up_and_saturates(left: int, right: int) -> None:
    exact = math.floor(Fraction(left * right, 1 << 31) + Fraction(1, 2))
    assert doubling_high_mul(left, right) == min(exact, INT32_MAX)


def test_the_high_half_of_the_two_lowest_saturates() -> None:
    assert doubling_high_mul(INT32_MIN, INT32_MIN) == INT32_MAX


@given(INT32, st.integers(0, 40))
def test_division_by_a_power_of_two_rounds_ties_away_from_zero(value: int, exponent: int) -> None:
    assert rounding_divide_by_pot(value, exponent) == nearest_away(Fraction(value, 1 << exponent))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 1), (-0.5, -1), (1.5, 2), (2.5, 3), (-2.5, -3), (0.49999997, 0), (-0.49999997, 0)],
)
def test_halves_round_away_from_zero(value: float, expected: int) -> None:
    assert round_half_away(np.float32(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(INT32_MAX + 1, INT32_MIN), (INT32_MIN - 1, INT32_MAX), (5, 5), (1 << 40, 0)]
)
def test_wrapping_keeps_the_low_32_bits(value: int, expected: int) -> None:
    assert wrap_int32(value) == expected


def test_saturation_stops_at_the_range_of_int32() -> None:
    assert saturate_int32(np.array([1 << 40, -(1 << 40), 7])).tolist() == [INT32_MAX, INT32_MIN, 7]


@given(st.floats(2.0**-32, 2.0**31))
def test_a_quantized_multiplier_is_the_nearest_with_31_bits(real: float) -> None:
    mantissa, exponent = quantize_multiplier(real)
    assert 1 << 30 <= mantissa < 1 << 31
    assert abs(Fraction(real) - mantissa * Fraction(2) ** (exponent - 31)) <= Fraction(2) ** (exponent - 32)


@pytest.mark.parametrize(
    ("real", "expected"),
    [
        (0.0, (0, 0)),
        (0.5, (1 << 30, 0)),
        (1.0, (1 << 30, 1)),
        (0.25, (1 << 30, -1)),
        (1.0 - 2.0**-40, (1 << 30, 1)),
        (2.0**-33, (0, 0)),
    ],
)
def test_multipliers_of_known_value(real: float, expected: tuple[int, int]) -> None:
    assert quantize_multiplier(real) == expected


@pytest.mark.parametrize("real", [1.0, 1.5, -0.5, 1.0 - 2.0**-40, math.nan])
def test_what_is_not_below_one_after_rounding_has_no_multiplier_below_one(real: float) -> None:
    assert quantize_multiplier_below_one(real) is None


@pytest.mark.parametrize("real", [1.0, 0.5, math.nan])
def test_what_is_not_above_one_has_no_multiplier_above_one(real: float) -> None:
    assert quantize_multiplier_above_one(real) is None


def test_rescaling_rounds_twice() -> None:
    # 5 · 0.3 / 4: the product 1.5 rounds to 2 first, then 2/4 = 0.5 rounds away to 1; the exact 0.375 is 0.
    mantissa, exponent = quantize_multiplier(0.3 / 4)
    assert (mantissa, exponent) == (quantize_multiplier(0.6)[0], -3)
    assert multiply_by_quantized_multiplier(5, mantissa, exponent) == 0
    assert multiply_by_quantized_multiplier(6, mantissa, exponent) == 1
    assert nearest_away(Fraction(6 * mantissa, 1 << 34)) == 0


def test_multipliers_above_one_shift_left_and_wrap() -> None:
    assert multiply_by_quantized_multiplier(3, *quantize_multiplier(4.0)) == 12
    assert multiply_by_quantized_multiplier(1 << 30, *quantize_multiplier(4.0)) == 0


@pytest.mark.parametrize(
    ("fuse", "scale", "zero_point", "expected"),
    [
        (FuseCode.NONE, 0.1, 7, (0, 255)),
        (FuseCode.RELU, 0.1, 7, (7, 255)),
        (FuseCode.RELU1, 0.1, 7, (0, 17)),
        (FuseCode.RELU1, 0.4, 100, (97, 103)),
        (FuseCode.RELU6, 0.1, 7, (7, 67)),
        (FuseCode.RELU6, 0.01, 7, (7, 255)),
        (FuseCode.RELU6, 1e-38, 7, (7, 255)),
    ],
)
def test_activation_ranges(fuse: FuseCode, scale: float, zero_point: int, expected: tuple[int, int]) -> None:
    assert activation_range(fuse, scale, zero_point) == expected
