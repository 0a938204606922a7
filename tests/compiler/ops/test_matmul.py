from typing import Any

import numpy as np
import pytest

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import ConstantInput, OperationView
from compiler.ops.matmul import from_tflite, parse
from tests.support.one_operation import float32, int32, one_operation, quant8
from tests.support.operations import inferred, npu_refusal, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor


def fully_connected(image: OperandType, *scalars: Any) -> Graph:
    tensors = [(image, None), (quant8(5, 6, scale=0.5), None), (int32(5, scale=0.5), None)]
    return one_operation(OperationCode.FULLY_CONNECTED, tensors, scalars, quant8(scale=2.0))


def test_an_input_of_higher_rank_is_flattened_to_rows_of_the_weights_size() -> None:
    graph = fully_connected(quant8(2, 3, 2, 1), 1)
    attributes = parse(OperationView(graph, graph.operations[0]))
    assert (attributes.batches, attributes.depth, attributes.units, attributes.activation) == (2, 6, 5, 1)
    assert inferred(graph).dimensions == (2, 5)


def test_rows_may_cut_across_the_first_dimension() -> None:
    assert inferred(fully_connected(quant8(3, 4), 0)).dimensions == (2, 5)


def test_an_input_that_does_not_divide_into_rows_fails() -> None:
    fragment = "has 8 elements, must have a multiple of the weights' input size 6"
    refused(fully_connected(quant8(2, 4), 0), fragment, ResultCode.OP_FAILED)


def test_rank_1_inputs_are_for_level_27_only() -> None:
    graph = fully_connected(quant8(6), 0)
    assert inferred(graph, Numerics.NNAPI27).dimensions == (1, 5)
    refused(graph, "has rank 1 [6], must have rank 2 or 3 or 4", ResultCode.OP_FAILED)


def test_floats_multiply_with_a_float_bias_and_not_on_the_npu() -> None:
    tensors = [(float32(2, 6), None), (float32(5, 6), None), (float32(5), None)]
    graph = one_operation(OperationCode.FULLY_CONNECTED, tensors, (0,), float32())
    assert inferred(graph) == float32(2, 5)
    assert npu_refusal(graph) is not None


def test_a_missing_activation_is_bad_data() -> None:
    refused(fully_connected(quant8(2, 6)), "has 3 inputs, must have 4", ResultCode.BAD_DATA)


OPTIONS = {"fused_activation_function": "NONE", "weights_format": "DEFAULT", "keep_num_dims": False}
WEIGHTS = [tflite_tensor(quant8(2, 6, scale=0.5)), tflite_tensor(quant8(5, 6, scale=0.25))]


@pytest.mark.parametrize("inputs", [WEIGHTS, [*WEIGHTS, None]], ids=["absent", "omitted"])
def test_a_missing_bias_becomes_zeros_of_the_right_scale(inputs: list[Any]) -> None:
    _, _, bias, _ = from_tflite(tflite_operator("FULLY_CONNECTED", inputs, **OPTIONS))
    assert isinstance(bias, ConstantInput)
    assert bias.type == OperandType(OperandCode.TENSOR_INT32, (5,), 0.125)
    np.testing.assert_array_equal(bias.value, np.zeros(5, np.int32))


def test_a_missing_float_bias_becomes_zeros() -> None:
    inputs = [tflite_tensor(float32(2, 6)), tflite_tensor(float32(5, 6))]
    _, _, bias, _ = from_tflite(tflite_operator("FULLY_CONNECTED", inputs, **OPTIONS))
    assert isinstance(bias, ConstantInput)
    assert (bias.type, bias.value.dtype) == (float32(5), np.float32)


def test_a_shuffled_weights_format_is_unsupported() -> None:
    options = OPTIONS | {"weights_format": "SHUFFLED4x16INT8"}
    with pytest.raises(UnsupportedError, match="weights format SHUFFLED4x16INT8 is not implemented"):
        from_tflite(tflite_operator("FULLY_CONNECTED", WEIGHTS, **options))


def test_an_output_that_keeps_more_than_two_dimensions_is_unsupported() -> None:
    options = OPTIONS | {"keep_num_dims": True}
    with pytest.raises(UnsupportedError, match="keep_num_dims with an output of rank 3 is not in NNAPI"):
        from_tflite(tflite_operator("FULLY_CONNECTED", WEIGHTS, quant8(1, 2, 5), **options))


def test_keeping_two_dimensions_changes_nothing() -> None:
    options = OPTIONS | {"keep_num_dims": True}
    assert len(from_tflite(tflite_operator("FULLY_CONNECTED", WEIGHTS, quant8(2, 5), **options))) == 4


@pytest.mark.parametrize("name", ["TANH", "SIGN_BIT", "RELU_0_TO_1"])
def test_fused_activations_that_nnapi_has_not_are_unsupported_by_name(name: str) -> None:
    options = OPTIONS | {"fused_activation_function": name}
    with pytest.raises(UnsupportedError, match=f"writing “y”: fused activation {name} is not in NNAPI"):
        from_tflite(tflite_operator("FULLY_CONNECTED", WEIGHTS, **options))


def test_missing_options_are_named() -> None:
    with pytest.raises(GraphError, match="its option weights_format is missing in the file"):
        from_tflite(tflite_operator("FULLY_CONNECTED", WEIGHTS))


def test_missing_weights_are_named() -> None:
    with pytest.raises(GraphError, match=r"weights \(input 1\) is missing in the file"):
        from_tflite(tflite_operator("FULLY_CONNECTED", WEIGHTS[:1], **OPTIONS))
