"""Every primitive against plain integers, written from the text of the semantics."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa import arithmetic
from tests.support import scalar_arithmetic as scalar

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
int32s = st.integers(INT32_MIN, INT32_MAX) | st.sampled_from(
    [INT32_MIN, INT32_MIN + 1, -(2**30), -1, 0, 1, 2**30, INT32_MAX - 1, INT32_MAX]
)
mantissas = st.integers(2**30, INT32_MAX) | int32s


@given(int32s, int32s)
def test_srdhm_is_the_exact_quotient_rounded_half_up(a: int, b: int) -> None:
    assert arithmetic.srdhm(a, b) == scalar.srdhm(a, b)


def test_srdhm_of_the_two_smallest_saturates() -> None:
    assert arithmetic.srdhm(INT32_MIN, INT32_MIN) == INT32_MAX


@pytest.mark.parametrize(("a", "expected"), [(1, 1), (-1, 0), (3, 2), (-3, -1)])
def test_srdhm_rounds_ties_up_for_both_signs(a: int, expected: int) -> None:
    assert arithmetic.srdhm(a, 2**30) == expected  # a / 2


@given(int32s, st.integers(0, 31))
def test_rounding_divide_is_the_exact_quotient_rounded_half_away(x: int, n: int) -> None:
    assert arithmetic.rounding_divide_by_pot(x, n) == scalar.rounding_divide_by_pot(x, n)


@pytest.mark.parametrize(("x", "expected"), [(1, 1), (-1, -1), (3, 2), (-3, -2), (5, 3), (-5, -3)])
def test_rounding_divide_rounds_ties_away_from_zero(x: int, expected: int) -> None:
    assert arithmetic.rounding_divide_by_pot(x, 1) == expected


@given(st.lists(int32s, min_size=1, max_size=40), st.lists(st.integers(0, 31), min_size=1, max_size=40))
def test_rounding_divide_takes_an_exponent_per_element(xs: list[int], ns: list[int]) -> None:
    pairs = list(zip(xs, ns, strict=False))
    result = arithmetic.rounding_divide_by_pot([x for x, _ in pairs], [n for _, n in pairs])
    assert result.tolist() == [scalar.rounding_divide_by_pot(x, n) for x, n in pairs]


@given(st.lists(int32s, min_size=1, max_size=50), mantissas, st.integers(-31, 31))
def test_mbqm_rounds_twice_and_wraps_its_left_shift(xs: list[int], multiplier: int, shift: int) -> None:
    result = arithmetic.multiply_by_quantized_multiplier(xs, multiplier, shift)
    assert result.tolist() == [scalar.mbqm(x, multiplier, shift) for x in xs]


@given(st.integers(-(2**17), 2**17), st.integers(1, 12))
def test_mbqm_agrees_at_ties_of_both_roundings(k: int, n: int) -> None:
    # 2k+1 halves: a tie of SRDHM; multiples of 2**n plus a half: ties of the rounding shift.
    for x in (2 * k + 1, (k << n) + (1 << (n - 1)), 2 * ((k << n) + (1 << (n - 1))) - 1):
        assert arithmetic.multiply_by_quantized_multiplier(x, 2**30, -n) == scalar.mbqm(x, 2**30, -n)


@pytest.mark.parametrize("shift", [0, -1, -5, -31])
def test_mbqm_of_the_two_smallest_saturates(shift: int) -> None:
    result = arithmetic.multiply_by_quantized_multiplier([INT32_MIN, INT32_MIN + 1], INT32_MIN, shift)
    assert result.tolist() == [scalar.mbqm(x, INT32_MIN, shift) for x in (INT32_MIN, INT32_MIN + 1)]


def test_mbqm_refuses_a_right_shift_beyond_31() -> None:
    with pytest.raises(ValueError, match="-32"):
        arithmetic.multiply_by_quantized_multiplier(1, 2**30, -32)


@given(
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
    mantissas,
    st.integers(-31, 8),
    st.integers(0, 255),
    st.tuples(st.integers(0, 255), st.integers(0, 255)).map(lambda ends: (min(ends), max(ends))),
)
def test_requantize_is_mbqm_zero_point_and_clamp(
    scale_bits: int, seed: int, multiplier: int, shift: int, zero: int, clamp: tuple[int, int]
) -> None:
    sums = np.random.default_rng(seed).integers(INT32_MIN, INT32_MAX, 64, np.int32, endpoint=True)
    sums >>= 10 * (scale_bits - 1)
    out = np.zeros(64, np.uint8)
    arithmetic.requantize(sums, multiplier, shift, zero, *clamp, out)
    expected = [min(max(scalar.mbqm(int(x), multiplier, shift) + zero, clamp[0]), clamp[1]) for x in sums]
    assert out.tolist() == expected


def test_requantize_covers_several_blocks() -> None:
    sums = np.arange(-50_000, 50_000, dtype=np.int32).reshape(100, 1000)
    out = np.zeros(sums.shape, np.uint8)
    arithmetic.requantize(sums, 1_500_000_000, -8, 128, 3, 250, out)
    scaled = arithmetic.multiply_by_quantized_multiplier(sums, 1_500_000_000, -8)
    assert np.array_equal(out, np.clip(scaled + 128, 3, 250))


@given(st.floats(0, 1e30, allow_subnormal=False) | st.floats(1e-12, 4))
def test_quantize_multiplier_is_the_nearest_mantissa(real: float) -> None:
    multiplier, shift = arithmetic.quantize_multiplier(real)
    assert (multiplier, shift) == scalar.quantize_multiplier(real)
    if multiplier:
        assert 2**30 <= multiplier <= INT32_MAX
        error = abs(Fraction(multiplier) * Fraction(2) ** (shift - 31) - Fraction(real))
        assert error * 2 <= Fraction(2) ** (shift - 31)


def test_quantize_multiplier_carries_into_the_exponent() -> None:
    assert arithmetic.quantize_multiplier(1 - 2.0**-40) == (2**30, 1)


def test_quantize_multiplier_flushes_tiny_factors() -> None:
    assert arithmetic.quantize_multiplier(2.0**-32) == (2**30, -31)
    assert arithmetic.quantize_multiplier(2.0**-33) == (0, 0)


@pytest.mark.parametrize("real", [-1.0, math.inf, math.nan])
def test_quantize_multiplier_refuses(real: float) -> None:
    with pytest.raises(ValueError, match="finite and not negative"):
        arithmetic.quantize_multiplier(real)


@pytest.mark.parametrize("real", [1.0, 2.0, 1 - 2.0**-40])
def test_smaller_than_one_refuses_one_and_what_rounds_to_it(real: float) -> None:
    with pytest.raises(ValueError, match="smaller than 1"):
        arithmetic.quantize_multiplier_smaller_than_one(real)


def test_smaller_than_one_takes_zero_and_a_half() -> None:
    assert arithmetic.quantize_multiplier_smaller_than_one(0.0) == (0, 0)
    assert arithmetic.quantize_multiplier_smaller_than_one(0.5) == (2**30, 0)


@pytest.mark.parametrize("real", [1.0, 0.5, math.nan])
def test_greater_than_one_refuses_one_and_less(real: float) -> None:
    with pytest.raises(ValueError, match="greater than 1"):
        arithmetic.quantize_multiplier_greater_than_one(real)


@given(int32s, st.integers(0, 31))
def test_saturating_left_shift_clamps(x: int, n: int) -> None:
    assert arithmetic.saturating_left_shift(x, n) == min(max(x << n, INT32_MIN), INT32_MAX)


@given(st.integers(INT32_MIN, 0), st.integers(0, 5))
def test_exp_on_negative_follows_the_text(a: int, integer_bits: int) -> None:
    assert arithmetic.exp_on_negative(a, integer_bits) == scalar.exp_on_negative(a, integer_bits)


@given(st.integers(INT32_MIN, 0), st.integers(0, 5))
def test_exp_on_negative_is_close_to_exp(a: int, integer_bits: int) -> None:
    real = math.exp(a / 2 ** (31 - integer_bits))
    assert abs(int(arithmetic.exp_on_negative(a, integer_bits)) / 2**31 - real) < 1e-6


@given(st.integers(0, INT32_MAX))
def test_one_over_one_plus_follows_the_text_and_is_close(u: int) -> None:
    result = int(arithmetic.one_over_one_plus(u))
    assert result == scalar.one_over_one_plus(u)
    assert abs(result / 2**31 - 1 / (1 + u / 2**31)) < 1e-8


@given(int32s)
def test_logistic_follows_the_text(t: int) -> None:
    assert arithmetic.logistic(t) == scalar.logistic(t)


@pytest.mark.parametrize("scale", [2.0**-8, 2.0**-7, 1 / 16, 0.0235, 0.5, 1.0, 4.0, 8.0, 1e6, 2.0**-26])
@pytest.mark.parametrize("zero_point", [0, 3, 128, 255])
def test_logistic_table_equals_the_scalar_rule_on_all_codes(scale: float, zero_point: int) -> None:
    expected = [scalar.logistic_code(code, scale, zero_point) for code in range(256)]
    assert arithmetic.logistic_table(scale, zero_point).tolist() == expected


def test_logistic_table_with_large_scale_keeps_values_inside_the_bound() -> None:
    table = arithmetic.logistic_table(4.0, 100)
    assert table[[98, 99, 100, 101, 102]].tolist() == [0, 5, 128, 251, 255]


def test_logistic_refuses_a_scale_without_a_left_shift() -> None:
    with pytest.raises(ValueError, match="greater than 1"):
        arithmetic.logistic_table(2.0**-27, 0)


@given(st.integers(-(2**31) + 1, INT32_MAX))
def test_tanh_follows_the_text(t: int) -> None:
    assert arithmetic.tanh(t) == scalar.tanh(t)


@given(st.integers(-(2**31) + 1, INT32_MAX))
def test_tanh_is_close_to_tanh(t: int) -> None:
    assert abs(int(arithmetic.tanh(t)) / 2**31 - math.tanh(t / 2**27)) < 1e-6


@pytest.mark.parametrize("scale", [0.004, 0.0078125, 0.02, 0.1, 0.9, 1.5, 3.99])
@pytest.mark.parametrize("zero_point", [0, 77, 128, 255])
def test_tanh_table_equals_the_scalar_rule_on_all_codes(scale: float, zero_point: int) -> None:
    expected = [scalar.tanh_code(code, scale, zero_point) for code in range(256)]
    assert arithmetic.tanh_table(scale, zero_point).tolist() == expected


def test_tanh_table_has_the_values_computed_by_hand() -> None:
    """tanh(0) = 0, tanh(1/2) = 0.46212, tanh(1) = 0.76159, tanh(2) = 0.96403, in steps of 1/128."""
    table = arithmetic.tanh_table(1 / 64, 128)
    assert [int(table[128 + 64 * n // 2]) for n in (-2, -1, 0, 1, 2)] == [31, 69, 128, 187, 225]
    assert [int(table[code]) for code in (0, 255)] == [5, 251]


def test_tanh_table_saturates_at_a_distance_of_15() -> None:
    table = arithmetic.tanh_table(1.0, 128)
    assert [int(table[128 + step]) for step in (-15, -14, 14, 15)] == [0, 0, 255, 255]


def test_softmax_refuses_a_factor_of_one() -> None:
    with pytest.raises(ValueError, match="greater than 1"):
        arithmetic.softmax_parameters(2.0**-26, 1.0)


@pytest.mark.parametrize(("scale", "beta"), [(0.1, 1.0), (1 / 256, 1.0), (2.0, 4.0), (1e9, 1.0), (1e-6, 0.5)])
def test_softmax_equals_the_scalar_rule_on_all_codes(scale: float, beta: float) -> None:
    codes = np.random.default_rng(1).permutation(256).astype(np.uint8)
    result = arithmetic.softmax(codes[None, :], arithmetic.softmax_parameters(scale, beta))
    assert result[0].tolist() == scalar.softmax_codes(codes.tolist(), scale, beta)


@given(
    st.lists(st.integers(0, 255), min_size=1, max_size=40),
    st.floats(1e-5, 10).map(lambda s: float(np.float32(s))),
)
def test_softmax_equals_the_scalar_rule_on_random_rows(codes: list[int], scale: float) -> None:
    row = np.array([codes, codes[::-1]], np.uint8)
    result = arithmetic.softmax(row, arithmetic.softmax_parameters(scale, 1.0))
    expected = scalar.softmax_codes(codes, scale, 1.0)
    assert result.tolist() == [expected, expected[::-1]]


@pytest.mark.parametrize("depth", [1, 256, 600, 1200, 4095, 4097, 8192, 8193])
def test_softmax_of_equal_codes_equals_the_scalar_rule(depth: int) -> None:
    row = np.full((1, depth), 7, np.uint8)
    result = arithmetic.softmax(row, arithmetic.softmax_parameters(0.1, 1.0))
    assert result[0].tolist() == scalar.softmax_codes([7] * depth, 0.1, 1.0)


def test_softmax_of_a_single_element_is_255() -> None:
    assert arithmetic.softmax(np.zeros((1, 1), np.uint8), arithmetic.softmax_parameters(0.1, 1.0)) == 255
