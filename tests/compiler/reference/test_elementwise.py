import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import GraphError
from compiler.nnapi import OperationCode
from tests.compiler.reference.calls import FLOAT, compute, single
from tests.support.one_operation import quant8

ADD, MUL = OperationCode.ADD, OperationCode.MUL
UNIT = quant8(scale=1.0)


def test_equal_scales_add_steps() -> None:
    inputs = [(quant8(scale=0.5, zero_point=10), [13, 5]), (quant8(scale=0.5, zero_point=20), [24, 20])]
    assert compute(ADD, inputs, [0], quant8(scale=0.5, zero_point=100)).tolist() == [107, 95]


def test_inputs_of_different_scale_meet_in_the_output_scale() -> None:
    # 3 · 1 + 5 · 0.25 = 4.25 = 8.5 · 0.5, and halves round away from the zero point.
    inputs = [(UNIT, [3]), (quant8(scale=0.25), [5])]
    assert compute(ADD, inputs, [0], quant8(scale=0.5)).tolist() == [9]


def test_sums_saturate() -> None:
    assert compute(ADD, [(UNIT, [200]), (UNIT, [100])], [0], UNIT).tolist() == [255]


def test_the_activation_clamps_in_the_output_scale() -> None:
    assert compute(ADD, [(UNIT, [5]), (UNIT, [4])], [3], UNIT).tolist() == [6]


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3,)), ((1, 3), (2, 1)), ((4, 1, 2), (5, 4, 3, 1)), ((2, 2), (1,)), ((0, 2), (2,))],
)
def test_shapes_broadcast_from_the_last_axis(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = np.arange(np.prod(left)).reshape(left), np.arange(np.prod(right)).reshape(right)
    assert compute(ADD, [(UNIT, a), (UNIT, b)], [0], UNIT).tolist() == (a + b).tolist()


@settings(deadline=None)
@given(
    st.floats(1e-3, 0.3), st.floats(1e-3, 0.3), st.floats(0.4, 4.0), st.integers(0, 255), st.integers(0, 255)
)
def test_sums_are_within_half_a_step_of_the_real_sum(
    left: float, right: float, factor: float, left_zero: int, right_zero: int
) -> None:
    kinds = quant8(scale=left, zero_point=left_zero), quant8(scale=right, zero_point=right_zero)
    result = quant8(scale=max(left, right) * factor, zero_point=128)
    a, b = np.arange(256).reshape(-1, 1), np.arange(0, 256, 5)
    output = compute(ADD, [(kinds[0], a), (kinds[1], b)], [0], result)
    real = (a - left_zero) * kinds[0].scale + (b - right_zero) * kinds[1].scale
    exact = np.clip(real / result.scale + 128, 0, 255)
    assert np.abs(output - exact).max() < 0.5 + 1e-3


def test_an_output_scale_too_small_for_the_fixed_point_is_refused() -> None:
    with pytest.raises(GraphError, match="must be below 1"):
        compute(ADD, [(UNIT, [1]), (UNIT, [1])], [0], quant8(scale=2.0**-19))


def test_scales_at_the_end_of_single_precision_are_refused_or_vanish() -> None:
    huge = quant8(scale=3e38)
    with pytest.raises(GraphError, match="must be below 1"):
        compute(ADD, [(huge, [1]), (huge, [1])], [0], huge)
    assert compute(ADD, [(UNIT, [1]), (UNIT, [1])], [0], quant8(scale=3e38, zero_point=9)).tolist() == [9]


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(GraphError, match="do not broadcast"):
        compute(ADD, [(UNIT, [1, 2]), (UNIT, [1, 2, 3])], [0], UNIT)


def test_more_than_four_dimensions_are_refused() -> None:
    with pytest.raises(GraphError, match="at most 4"):
        compute(ADD, [(UNIT, np.ones((1, 1, 1, 1, 1))), (UNIT, [1])], [0], UNIT)


def test_products_are_rescaled_with_ties_away_from_the_zero_point() -> None:
    # Steps 3·4, 2·1, −2·1 and −3·4 times 1/4: 3, 0.5, −0.5, −3.
    left = (quant8(scale=0.5, zero_point=10), [13, 12, 8, 7])
    right = (quant8(scale=0.5, zero_point=20), [24, 21, 21, 24])
    assert compute(MUL, [left, right], [0], quant8(zero_point=100)).tolist() == [103, 101, 99, 97]


def test_products_saturate_and_are_clamped_in_the_output_scale() -> None:
    half = quant8(scale=0.5)
    assert compute(MUL, [(half, [100]), (half, [100])], [0], UNIT).tolist() == [255]
    assert compute(MUL, [(half, [100]), (half, [100])], [3], UNIT).tolist() == [6]


@settings(deadline=None)
@given(
    st.floats(1e-3, 0.5),
    st.floats(1e-3, 0.5),
    st.floats(1.01, 50.0),
    st.integers(0, 255),
    st.integers(0, 255),
)
def test_products_are_rounded_twice_so_within_three_quarters_of_a_step_of_the_real_product(
    left: float, right: float, factor: float, left_zero: int, right_zero: int
) -> None:
    kinds = quant8(scale=left, zero_point=left_zero), quant8(scale=right, zero_point=right_zero)
    result = quant8(scale=left * right * factor, zero_point=128)
    a, b = np.arange(256).reshape(-1, 1), np.arange(0, 256, 5)
    output = compute(MUL, [(kinds[0], a), (kinds[1], b)], [0], result)
    real = (a - left_zero) * kinds[0].scale * (b - right_zero) * kinds[1].scale
    exact = np.clip(real / result.scale + 128, 0, 255)
    assert np.abs(output - exact).max() < 0.75 + 1e-3


@pytest.mark.parametrize("scale", [1.0, 0.5, 1e-30])
def test_a_product_needs_an_output_scale_above_that_of_its_inputs(scale: float) -> None:
    with pytest.raises(GraphError, match="must be below 1"):
        compute(MUL, [(UNIT, [1]), (UNIT, [1])], [0], quant8(scale=scale))


def test_floats_are_added_and_multiplied_in_single_precision() -> None:
    left, right = single([0.1, 3.0, 1e30]), single([0.2, -5.0, 1e30])
    tensors = [(FLOAT, left), (FLOAT, right)]
    assert compute(ADD, tensors, [0], FLOAT).tolist() == (left + right).tolist()
    with np.errstate(over="ignore"):
        assert compute(MUL, tensors, [0], FLOAT).tolist() == (left * right).tolist()


@pytest.mark.parametrize(
    ("fuse", "expected"), [(0, [-3, 5, 8]), (1, [0, 5, 8]), (2, [-1, 1, 1]), (3, [0, 5, 6])]
)
def test_float_sums_are_clamped(fuse: int, expected: list[float]) -> None:
    assert compute(ADD, [(FLOAT, [-4.0, 4.0, 7.0]), (FLOAT, [1.0])], [fuse], FLOAT).tolist() == expected


@pytest.mark.parametrize("code", [ADD, MUL])
def test_floats_broadcast(code: OperationCode) -> None:
    output = compute(code, [(FLOAT, np.ones((2, 1, 3))), (FLOAT, np.ones((4, 1)))], [0], FLOAT)
    assert output.shape == (2, 4, 3)
