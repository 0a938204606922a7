from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from tests.compiler.reference.calls import FLOAT, Array, compute, single
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


@pytest.mark.parametrize("beta", [0.0, -1.0, float("inf"), float("nan")])
def test_a_beta_that_is_not_positive_and_finite_is_bad_data(beta: float) -> None:
    with pytest.raises(GraphError, match="must be positive and finite") as caught:
        softmax([[1]], beta)
    assert caught.value.result_code is ResultCode.BAD_DATA


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


def normalise(code: OperationCode, values: Any, *scalars: float | int, **options: Any) -> Array:
    kind, output = options.get("kind", FLOAT), options.get("output", FLOAT)
    return compute(code, [(kind, values)], scalars, output, options.get("numerics", Numerics.NNAPI))


SOFTMAX, L2, LOCAL = (
    OperationCode.SOFTMAX,
    OperationCode.L2_NORMALIZATION,
    OperationCode.LOCAL_RESPONSE_NORMALIZATION,
)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_the_probabilities_of_floats_scale_differences_by_beta(numerics: Numerics) -> None:
    output = normalise(SOFTMAX, [[1000.0, 1000.0 + np.log(4.0), -1e30]], 0.5, numerics=numerics)
    assert output == pytest.approx(np.array([[1 / 3, 2 / 3, 0]]), abs=1e-5)


@pytest.mark.parametrize(("code", "scalars"), [(SOFTMAX, [1.0]), (L2, []), (LOCAL, [1, 1.0, 0.5, 0.75])])
@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -4])
def test_any_axis_of_floats_equals_the_last_of_the_moved_tensor(
    code: OperationCode, scalars: list[float | int], axis: int
) -> None:
    values = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    moved = normalise(code, np.moveaxis(values, axis, -1), *scalars)
    assert (normalise(code, values, *scalars, axis) == np.moveaxis(moved, -1, axis)).all()


@pytest.mark.parametrize(("code", "scalars"), [(L2, []), (LOCAL, [1, 1.0, 0.5, 0.75])])
def test_level_27_knows_four_dimensions(code: OperationCode, scalars: list[float | int]) -> None:
    assert normalise(code, np.ones((1, 1, 1, 2)), *scalars, numerics=Numerics.NNAPI27).shape == (1, 1, 1, 2)
    with pytest.raises(GraphError, match="rank 2, expected 4"):
        normalise(code, np.ones((1, 2)), *scalars, numerics=Numerics.NNAPI27)
    with pytest.raises(GraphError, match="inputs, expected"):
        normalise(code, np.ones((1, 1, 1, 2)), *scalars, 3, numerics=Numerics.NNAPI27)


def test_a_vector_is_divided_by_its_length() -> None:
    output = normalise(L2, [[3.0, 4.0], [0.0, -2.0], [0.0, 0.0]])
    assert output.tolist() == single([[0.6, 0.8], [0.0, -1.0], [0.0, 0.0]]).tolist()


UNITS = {"kind": quant8(scale=0.1, zero_point=10), "output": quant8(scale=1 / 128, zero_point=128)}


def test_a_vector_of_bytes_is_divided_by_its_length() -> None:
    # Steps (3, 4), (0, −2), (0, 0), (0, 1): 128 · 0.6 = 76.8, 128 · 0.8 = 102.4.
    output = normalise(L2, [[13, 14], [10, 8], [10, 10], [10, 11]], **UNITS)
    assert output.tolist() == [[205, 230], [128, 0], [128, 128], [128, 255]]


@settings(deadline=None)
@given(st.integers(0, 255), st.integers(1, 64), st.integers(0, 2**32 - 1))
def test_normalised_bytes_are_rounded_twice_so_within_three_quarters_of_a_step_of_the_real_ones(
    zero_point: int, depth: int, seed: int
) -> None:
    values = np.random.default_rng(seed).integers(0, 256, (3, depth))
    kind = quant8(scale=0.1, zero_point=zero_point)
    output = normalise(L2, values, kind=kind, output=UNITS["output"])
    steps = values - zero_point
    lengths = np.maximum(np.sqrt((steps**2).sum(axis=1, keepdims=True)), 1)
    assert np.abs(output - np.clip(128 + 128 * steps / lengths, 0, 255)).max() < 0.76


def test_normalised_bytes_demand_their_output_scale_and_level_29() -> None:
    with pytest.raises(GraphError, match="must be 1/128 and 128"):
        normalise(L2, [[1]], kind=UNITS["kind"], output=UNITS["kind"])
    with pytest.raises(GraphError, match="came with level 29"):
        normalise(L2, [[[[1]]]], numerics=Numerics.NNAPI27, **UNITS)


def test_a_neighbourhood_reaches_radius_places_to_both_sides() -> None:
    # Sums of squares over three places: 5, 14, 29, 25; α = 1/2 and β = 1.
    output = normalise(LOCAL, [[1.0, 2.0, 3.0, 4.0]], 1, 1.5, 0.5, 1.0)
    assert output.tolist() == [single([1 / 4, 2 / 8.5, 3 / 16, 4 / 14]).tolist()]


def test_a_radius_beyond_the_depth_takes_the_whole_depth() -> None:
    values = [[1.0, 2.0, 3.0]]
    assert (normalise(LOCAL, values, 9, 0.0, 1.0, 0.5) == normalise(L2, values)).all()


def test_a_negative_radius_is_refused() -> None:
    with pytest.raises(GraphError, match="radius -1 must not be negative"):
        normalise(LOCAL, [[1.0]], -1, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(("code", "scalars"), [(SOFTMAX, [1.0]), (L2, []), (LOCAL, [1, 1.0, 1.0, 1.0])])
def test_empty_floats_stay_empty(code: OperationCode, scalars: list[float | int]) -> None:
    assert normalise(code, np.zeros((0, 4)), *scalars).shape == (0, 4)
