import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import GraphError
from compiler.nnapi import OperationCode
from tests.compiler.reference.calls import compute
from tests.support.one_operation import quant8

ADD = OperationCode.ADD
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
