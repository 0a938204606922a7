from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import GraphError
from compiler.nnapi import Numerics, OperationCode
from tests.compiler.reference.calls import FLOAT, Array, compute, single
from tests.support.one_operation import quant8

AVERAGE, MAX = OperationCode.AVERAGE_POOL_2D, OperationCode.MAX_POOL_2D
SAME, VALID = 1, 2
IMAGE = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]]).reshape(1, 3, 3, 1)
KIND = quant8(scale=0.5, zero_point=4)


def pool(code: OperationCode, values: Any, scalars: list[Any], numerics: Numerics = Numerics.NNAPI) -> Array:
    return compute(code, [(KIND, values)], scalars, KIND, numerics)


def test_the_average_rounds_halves_up() -> None:
    # Sums 12, 16, 24, 29 over four taps.
    assert pool(AVERAGE, IMAGE, [VALID, 1, 1, 2, 2, 0]).ravel().tolist() == [3, 4, 6, 7]
    assert pool(AVERAGE, [[[[1], [2]]]], [VALID, 1, 1, 2, 1, 0]).item() == 2


def test_the_average_divides_by_the_taps_inside() -> None:
    assert pool(AVERAGE, IMAGE, [SAME, 1, 1, 2, 2, 0])[0, :, :, 0].tolist() == [
        [3, 4, 5],
        [6, 7, 8],
        [8, 9, 10],
    ]


def test_the_maximum_ignores_padding() -> None:
    assert pool(MAX, IMAGE, [SAME, 1, 1, 2, 2, 0])[0, :, :, 0].tolist() == [
        [5, 6, 6],
        [8, 10, 10],
        [8, 10, 10],
    ]


def test_filter_and_stride_are_width_then_height() -> None:
    assert pool(MAX, IMAGE, [VALID, 2, 1, 3, 1, 0]).shape == (1, 3, 1, 1)
    assert pool(MAX, IMAGE, [VALID, 2, 1, 1, 3, 0]).shape == (1, 1, 2, 1)


def test_channels_first_transposes_input_and_output() -> None:
    values = np.arange(2 * 3 * 4).reshape(1, 2, 3, 4)
    usual = pool(AVERAGE, values, [VALID, 1, 1, 2, 2, 0])
    other = pool(AVERAGE, values.transpose(0, 3, 1, 2), [VALID, 1, 1, 2, 2, 0, True])
    assert (other == usual.transpose(0, 3, 1, 2)).all()


@pytest.mark.parametrize("code", [AVERAGE, MAX])
def test_the_activation_clamps_raw_bytes(code: OperationCode) -> None:
    # RELU1 at scale 1/2 and zero point 4 keeps 2…6.
    assert pool(code, [[[[0], [4], [9]]]], [VALID, 1, 1, 1, 1, 2]).ravel().tolist() == [2, 4, 6]


def test_large_windows_do_not_overflow() -> None:
    assert pool(AVERAGE, np.full((1, 40, 40, 1), 255), [VALID, 1, 1, 40, 40, 0]).item() == 255


@settings(deadline=None)
@given(st.data())
def test_pools_equal_the_sum_and_maximum_over_taps(data: st.DataObject) -> None:
    height, width, rows, columns = (data.draw(st.integers(1, 4)) for _ in range(4))
    kernel = min(rows, height), min(columns, width)
    strides = [data.draw(st.integers(1, 3)) for _ in range(2)]
    pads = [data.draw(st.integers(0, kernel[axis] - 1)) for axis in (1, 1, 0, 0)]
    values = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 256, (2, height, width, 2))
    scalars = [*pads, *strides, kernel[1], kernel[0], 0]
    averages, maxima = pool(AVERAGE, values, scalars), pool(MAX, values, scalars)
    for b, i, j, c in np.ndindex(*averages.shape):
        top, left = i * strides[1] - pads[2], j * strides[0] - pads[0]
        window = values[b, max(top, 0) : top + kernel[0], max(left, 0) : left + kernel[1], c]
        assert averages[b, i, j, c] == (window.sum() + window.size // 2) // window.size
        assert maxima[b, i, j, c] == window.max()


@pytest.mark.parametrize("code", [AVERAGE, MAX])
def test_pools_that_would_rescale_are_refused(code: OperationCode) -> None:
    with pytest.raises(GraphError, match="does not rescale"):
        compute(code, [(KIND, IMAGE)], [VALID, 1, 1, 1, 1, 0], quant8(scale=0.25, zero_point=4))


def test_level_27_pools_copy_raw_bytes_into_another_scale() -> None:
    output = compute(
        MAX, [(KIND, [[[[9]]]])], [VALID, 1, 1, 1, 1, 0], quant8(scale=0.25, zero_point=0), Numerics.NNAPI27
    )
    assert output.item() == 9


def test_level_27_refuses_an_average_of_nothing() -> None:
    with pytest.raises(GraphError, match="undefined"):
        pool(AVERAGE, [[[[9]]]], [1, 0, 0, 0, 1, 1, 1, 1, 0], Numerics.NNAPI27)


def test_level_27_refuses_the_layout_flag() -> None:
    with pytest.raises(GraphError, match="8 inputs"):
        pool(AVERAGE, IMAGE, [VALID, 1, 1, 1, 1, 0, False], Numerics.NNAPI27)


def float_pool(code: OperationCode, values: Any, scalars: list[Any]) -> list[float]:
    flat: list[float] = compute(code, [(FLOAT, values)], scalars, FLOAT).ravel().tolist()
    return flat


def test_floats_are_averaged_over_the_taps_inside() -> None:
    assert float_pool(AVERAGE, [[[[1.0], [2.0], [4.5]]]], [SAME, 1, 1, 2, 1, 0]) == [1.5, 3.25, 4.5]


def test_the_maximum_of_negative_floats_ignores_padding() -> None:
    assert float_pool(MAX, [[[[-1.0], [-2.0], [-4.5]]]], [SAME, 1, 1, 2, 1, 0]) == [-1.0, -2.0, -4.5]


def test_the_activation_clamps_floats() -> None:
    assert float_pool(MAX, [[[[-3.0], [0.5], [9.0]]]], [VALID, 1, 1, 1, 1, 2]) == [-1.0, 0.5, 1.0]


@pytest.mark.parametrize("numerics", list(Numerics))
def test_l2_pools_take_the_root_of_the_mean_square_of_the_taps_inside(numerics: Numerics) -> None:
    values, scalars = [[[[1.0], [7.0], [-3.0]]]], [SAME, 1, 1, 2, 1, 0]
    output = compute(OperationCode.L2_POOL_2D, [(FLOAT, values)], scalars, FLOAT, numerics)
    assert output.ravel().tolist() == np.sqrt(single([25.0, 29.0, 9.0])).tolist()


def test_l2_pools_know_only_floats() -> None:
    with pytest.raises(GraphError, match="TENSOR_QUANT8_ASYMM, not TENSOR_FLOAT32"):
        compute(OperationCode.L2_POOL_2D, [(KIND, IMAGE)], [VALID, 1, 1, 1, 1, 0], KIND)
