import numpy as np
import pytest

from compiler.reference.arithmetic import INT32_MAX
from compiler.reference.fixed_point import exp_of_negative, logistic, one_over_one_plus

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
