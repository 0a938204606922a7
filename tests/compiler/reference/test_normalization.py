from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperationCode
from tests.compiler.reference.calls import Array, compute
from tests.support.one_operation import quant8

OUTPUT = quant8(scale=1 / 256)


def softmax(
    values: Any,
    *scalars: float | int,
    scale: float = 0.1,
    output: OperandType = OUTPUT,
    numerics: Numerics = Numerics.NNAPI,
) -> Array:
    return compute(OperationCode.SOFTMAX, [(quant8(scale=scale), values)], scalars or [1.0], output, numerics)


def test_a_single_element_has_the_largest_probability() -> None:
    assert softmax([[7]]).tolist() == [[255]]


def test_equal_elements_share() -> None:
    assert softmax([[9, 9, 9, 9]]).tolist() == [[64, 64, 64, 64]]


def test_elements_far_below_the_largest_get_nothing() -> None:
    assert softmax([[255, 0]], scale=1.0).tolist() == [[255, 0]]


@settings(deadline=None)
@given(st.floats(5e-3, 0.5), st.floats(0.1, 4.0), st.integers(0, 2**32 - 1))
def test_probabilities_are_within_a_step_of_the_real_function(scale: float, beta: float, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 256, (3, 20))
    exponentials = np.exp((values - values.max(axis=1, keepdims=True)) * np.float64(np.float32(scale)) * beta)
    real = np.minimum(256 * exponentials / exponentials.sum(axis=1, keepdims=True), 255)
    assert np.abs(softmax(values, float(np.float32(beta)), scale=scale) - real).max() < 0.51


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -4])
def test_any_axis_equals_the_last_of_the_moved_tensor(axis: int) -> None:
    values = np.random.default_rng(0).integers(0, 256, (2, 3, 4, 5))
    moved = softmax(np.moveaxis(values, axis, -1))
    assert (softmax(values, 1.0, axis) == np.moveaxis(moved, -1, axis)).all()


def test_more_than_511_equal_elements_get_nothing_each() -> None:
    assert not softmax(np.full((1, 600), 9)).any()


def test_an_empty_batch_stays_empty() -> None:
    assert softmax(np.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize("beta", [0.0, -1.0])
def test_a_beta_that_is_not_positive_is_refused(beta: float) -> None:
    with pytest.raises(GraphError, match="must be positive"):
        softmax([[1]], beta)


def test_an_axis_outside_is_refused() -> None:
    with pytest.raises(GraphError, match=r"axis 2 is outside \[-2, 2\)"):
        softmax([[1]], 1.0, 2)


def test_another_output_scale_is_refused() -> None:
    with pytest.raises(GraphError, match="must be 1/256 and 0"):
        softmax([[1]], output=quant8(scale=1 / 255))


def test_a_scale_that_the_fixed_point_cannot_hold_is_refused() -> None:
    with pytest.raises(GraphError, match="larger than 2⁻²⁶"):
        softmax([[1]], scale=2.0**-26)


def test_level_27_refuses_an_axis_operand() -> None:
    with pytest.raises(GraphError, match="3 inputs"):
        softmax([[1]], 1.0, 1, numerics=Numerics.NNAPI27)


@pytest.mark.parametrize("rank", [1, 3])
def test_level_27_knows_two_and_four_dimensions(rank: int) -> None:
    with pytest.raises(GraphError, match="expected 2 or 4"):
        softmax(np.ones((1,) * rank), numerics=Numerics.NNAPI27)
