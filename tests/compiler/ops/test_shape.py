import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import ConstantInput, ScalarInput
from compiler.ops.shape import concatenation_from_tflite, reshape_from_tflite
from tests.support.one_operation import float32, int32, one_operation, quant8
from tests.support.operations import inferred, refused, unsupported
from tests.support.tflite_operators import tflite_operator, tflite_tensor

OP_FAILED = ResultCode.OP_FAILED
UNSHAPED = quant8()


def reshape(*shape: int, output: OperandType = UNSHAPED, constant: bool = True) -> Graph:
    value = np.array(shape, np.int32) if constant else None
    tensors = [(quant8(2, 3, 4), None), (int32(len(shape)), value)]
    return one_operation(OperationCode.RESHAPE, tensors, (), output)


@pytest.mark.parametrize(
    ("shape", "expected"), [((6, 4), (6, 4)), ((4, -1), (4, 6)), ((-1,), (24,)), ((1, 2, 3, 4), (1, 2, 3, 4))]
)
def test_one_dimension_may_be_left_to_be_computed(shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert inferred(reshape(*shape)).dimensions == expected


@pytest.mark.parametrize("shape", [(-1, -1), (0, 24), (1, 1, 1, 1, 24), (-2, 12)])
def test_shapes_that_mean_nothing_fail(shape: tuple[int, ...]) -> None:
    refused(reshape(*shape), "must have 1 to 4 dimensions of at least 1", OP_FAILED)


@pytest.mark.parametrize("shape", [(5, 5), (-1, 5), (48,)])
def test_another_number_of_elements_fails(shape: tuple[int, ...]) -> None:
    refused(reshape(*shape), "must have the 24 elements of the input [2, 3, 4]", OP_FAILED)


@pytest.mark.parametrize("kind", [float32, int32])
def test_a_reshape_takes_any_type(kind: Callable[..., OperandType]) -> None:
    tensors = [(kind(2, 3), None), (int32(1), np.array([6], np.int32))]
    assert inferred(one_operation(OperationCode.RESHAPE, tensors, (), kind())) == kind(6)


def test_a_reshape_does_not_rescale() -> None:
    refused(reshape(24, output=quant8(scale=2.0)), "the operation does not rescale", OP_FAILED)


def test_a_shape_given_at_run_time_is_taken_from_the_declared_output() -> None:
    assert inferred(reshape(1, 1, output=quant8(8, 3), constant=False)).dimensions == (8, 3)


def test_a_shape_given_at_run_time_needs_a_declared_output() -> None:
    unsupported(reshape(1, 1, output=quant8(), constant=False), "shape (input 1) is not constant")


def test_a_file_may_give_the_new_shape_as_an_option() -> None:
    operator = tflite_operator("RESHAPE", [tflite_tensor(quant8(2, 2))], new_shape=(4, 1))
    _, shape = reshape_from_tflite(operator)
    assert isinstance(shape, ConstantInput)
    assert (shape.type.dimensions, shape.value.tolist()) == ((2,), [4, 1])


def test_a_shape_tensor_wins_over_the_option() -> None:
    tensor = dataclasses.replace(tflite_tensor(int32(1), np.array([4], np.int32)), index=5)
    operator = tflite_operator("RESHAPE", [tflite_tensor(quant8(2, 2)), tensor], new_shape=(4, 1))
    assert reshape_from_tflite(operator)[1] is tensor


def concatenation(axis: int, *kinds: OperandType, output: OperandType = UNSHAPED) -> Graph:
    return one_operation(OperationCode.CONCATENATION, [(kind, None) for kind in kinds], (axis,), output)


def test_sizes_add_up_along_the_axis() -> None:
    graph = concatenation(1, quant8(2, 3, 4), quant8(2, 5, 4), quant8(2, 1, 4))
    assert inferred(graph).dimensions == (2, 9, 4)


def test_floats_join_too() -> None:
    assert inferred(concatenation(0, float32(2), float32(3), output=float32())) == float32(5)


def test_tensors_of_different_types_are_bad_data() -> None:
    graph = concatenation(0, float32(2), quant8(3), output=float32())
    fragment = "tensor (input 1) is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32"
    refused(graph, fragment, ResultCode.BAD_DATA)


def test_one_tensor_is_enough() -> None:
    assert inferred(concatenation(0, quant8(2))).dimensions == (2,)


@pytest.mark.parametrize("axis", [-1, 3])
def test_the_axis_counts_from_the_front(axis: int) -> None:
    graph = concatenation(axis, quant8(2, 3, 4), quant8(2, 3, 4))
    refused(graph, f"axis (input 2) is {axis}, must be 0 to 2", OP_FAILED)


@pytest.mark.parametrize("other", [quant8(2, 4), quant8(3, 3, 1)])
def test_other_dimensions_must_agree(other: OperandType) -> None:
    refused(concatenation(0, quant8(2, 3), other), "tensor (input 1) has shape", OP_FAILED)


def test_no_tensor_at_all_is_bad_data() -> None:
    refused(concatenation(0), "has 1 inputs, must have at least 2", ResultCode.BAD_DATA)


def test_level_29_rescales_and_level_27_refuses_to() -> None:
    graph = concatenation(0, quant8(2), quant8(2, scale=0.5))
    assert inferred(graph).dimensions == (4,)
    refused(graph, "tensor (input 1) has scale 0.5 and zero point 0", OP_FAILED, Numerics.NNAPI27)


def test_a_negative_axis_of_a_file_counts_from_the_end() -> None:
    tensors = [tflite_tensor(quant8(1, 2, 3))] * 2
    operator = tflite_operator("CONCATENATION", tensors, axis=-1, fused_activation_function="NONE")
    assert concatenation_from_tflite(operator)[-1] == ScalarInput(OperandCode.INT32, 2)


def test_a_fused_activation_of_a_file_is_refused() -> None:
    tensors = [tflite_tensor(quant8(1, 2, 3))]
    operator = tflite_operator("CONCATENATION", tensors, axis=1, fused_activation_function="RELU")
    with pytest.raises(GraphError, match="fused activation RELU in the file, must be NONE"):
        concatenation_from_tflite(operator)
