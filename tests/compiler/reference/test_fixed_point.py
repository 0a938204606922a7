import numpy as np
import pytest

from compiler.reference.arithmetic import INT32_MAX
from compiler.reference.fixed_point import (
    exp_of_negative,
    inverse_square_root,
    logistic,
    one_over_one_plus,
    tanh,
)

SAMPLES = np.random.default_rng(0).integers(0, 1 << 31, 20_000)


@pytest.mark.parametrize("integer_bits", [0, 4, 5])
def test_the_exponential_is_within_a_millionth(integer_bits: int) -> None:
    exact = np.exp(-SAMPLES / 2.0 ** (31 - integer_bits))
    assert np.abs(exp_of_negative(-SAMPLES, integer_bits) / 2**31 - exact).max() < 1e-6


@pytest.mark.parametrize("integer_bits", [0, 4, 5])
def test_the_exponential_of_zero_is_the_largest_fraction(integer_bits: int) -> None:
    assert exp_of_negative(np.array([0]), integer_bits).tolist() == [INT32_MAX]


def test_the_reciprocal_is_within_a_ten_millionth() -> None:
    assert np.abs(one_over_one_plus(SAMPLES) / 2**31 - 1 / (1 + SAMPLES / 2**31)).max() < 1e-7


def test_the_reciprocal_of_one_saturates() -> None:
    assert one_over_one_plus(np.array([0]))[0] <= INT32_MAX


def test_the_logistic_function_is_within_a_millionth() -> None:
    arguments = SAMPLES * 2 - (1 << 31)
    assert np.abs(logistic(arguments) / 2**31 - 1 / (1 + np.exp(-arguments / 2**27))).max() < 1e-6


def test_the_logistic_function_is_symmetric_to_the_bit() -> None:
    arguments = SAMPLES[SAMPLES > 0]
    assert (logistic(arguments) + logistic(-arguments) == INT32_MAX).all()


def test_the_logistic_function_of_zero_is_one_half() -> None:
    assert logistic(np.array([0])).tolist() == [1 << 30]


def test_the_hyperbolic_tangent_is_within_a_millionth() -> None:
    arguments = SAMPLES * 2 - (1 << 31)
    assert np.abs(tanh(arguments) / 2**31 - np.tanh(arguments / 2**27)).max() < 1e-6


def test_the_hyperbolic_tangent_is_odd_to_the_bit() -> None:
    assert (tanh(-SAMPLES) == -tanh(SAMPLES)).all()
    assert tanh(np.array([0])).tolist() == [0]


def test_the_inverse_square_root_is_within_two_millionths_of_itself() -> None:
    values = np.unique(np.concatenate([np.arange(2, 5000), SAMPLES[SAMPLES > 1]]))
    multiplier, right_shift = inverse_square_root(values)
    assert (right_shift >= 0).all()
    real = multiplier / 2.0 ** (31 + right_shift)
    assert np.abs(real * np.sqrt(values) - 1).max() < 2e-6


@pytest.mark.parametrize("value", [-5, 0, 1])
def test_the_inverse_square_root_saturates_up_to_one(value: int) -> None:
    multiplier, right_shift = inverse_square_root(np.array([value]))
    assert (multiplier.tolist(), right_shift.tolist()) == ([INT32_MAX], [0])
