from typing import Any

import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperationCode
from tests.compiler.reference.calls import FLOAT, INT32, Array, compute
from tests.support.one_operation import int32, quant8

KIND = quant8(scale=0.5, zero_point=3)


def reshape(values: Any, shape: Any, output: OperandType = KIND) -> Array:
    return compute(OperationCode.RESHAPE, [(KIND, values), (int32(), shape)], [], output)


@pytest.mark.parametrize("shape", [[6], [3, 2], [1, -1], [2, 1, -1], [-1]])
def test_reshape_keeps_the_bytes(shape: list[int]) -> None:
    values = np.arange(6).reshape(2, 3)
    assert reshape(values, shape).tolist() == values.reshape(shape).tolist()


@pytest.mark.parametrize("shape", [[5], [-1, -1], [4, -1], [-2, 3], [0, -1]])
def test_shapes_that_do_not_hold_the_elements_are_refused(shape: list[int]) -> None:
    with pytest.raises(GraphError, match="do not fill"):
        reshape(np.arange(6), shape)


def test_a_reshape_that_would_rescale_is_refused() -> None:
    with pytest.raises(GraphError, match="does not rescale"):
        reshape([1], [1], quant8(scale=0.5, zero_point=4))


def concatenate(
    parts: list[tuple[OperandType, Any]],
    axis: int,
    output: OperandType = KIND,
    numerics: Numerics = Numerics.NNAPI,
) -> Array:
    return compute(OperationCode.CONCATENATION, parts, [axis], output, numerics)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("numerics", list(Numerics))
def test_concatenation_joins_along_the_axis(axis: int, numerics: Numerics) -> None:
    first = np.arange(12).reshape(2, 2, 3)
    second = first + 12
    joined = concatenate([(KIND, first), (KIND, second)], axis, numerics=numerics)
    assert joined.tolist() == np.concatenate([first, second], axis).tolist()


def test_concatenation_brings_inputs_to_the_output_scale() -> None:
    # (x − 10) · 0.25 in steps of 0.5 around 3: halves round away from the zero point.
    parts = [(KIND, [9]), (quant8(scale=0.25, zero_point=10), [10, 13, 7, 0, 255])]
    assert concatenate(parts, 0).tolist() == [9, 3, 5, 1, 0, 126]


def test_a_huge_ratio_of_scales_saturates() -> None:
    parts = [(quant8(scale=1e9, zero_point=1), [0, 1, 2])]
    assert concatenate(parts, 0, quant8(scale=1e-9, zero_point=7)).tolist() == [0, 7, 255]


def test_a_ratio_beyond_single_precision_is_refused() -> None:
    with pytest.raises(GraphError, match="beyond single precision"):
        concatenate([(quant8(scale=1e20), [1])], 0, quant8(scale=1e-20))


def test_level_27_refuses_to_rescale() -> None:
    with pytest.raises(GraphError, match="level 27 wants them equal"):
        concatenate([(KIND, [1]), (quant8(scale=0.25), [1])], 0, numerics=Numerics.NNAPI27)


@pytest.mark.parametrize("axis", [-1, 1])
def test_an_axis_outside_is_refused(axis: int) -> None:
    with pytest.raises(GraphError, match=f"axis {axis}"):
        concatenate([(KIND, [1]), (KIND, [1])], axis)


@pytest.mark.parametrize("other", [np.ones((2, 3)), np.ones(4)])
def test_parts_of_other_shape_are_refused(other: Array) -> None:
    with pytest.raises(GraphError, match="input 1 is"):
        concatenate([(KIND, np.ones((2, 2))), (KIND, other)], 0)


def test_floats_and_integers_are_reshaped() -> None:
    for kind, values in ((FLOAT, [0.5, -1.5]), (INT32, [-7, 1 << 30])):
        output = compute(OperationCode.RESHAPE, [(kind, values), (INT32, [2, 1])], [], kind)
        assert output.tolist() == [[values[0]], [values[1]]]


@pytest.mark.parametrize("numerics", list(Numerics))
def test_floats_are_joined(numerics: Numerics) -> None:
    output = concatenate([(FLOAT, [[0.5]]), (FLOAT, [[1.5, -2.5]])], 1, FLOAT, numerics)
    assert output.tolist() == [[0.5, 1.5, -2.5]]
