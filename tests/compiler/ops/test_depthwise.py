from typing import Any

import pytest

from compiler.errors import GraphError
from compiler.graph import Graph, OperandType
from compiler.nnapi import OperationCode, ResultCode
from compiler.operation import OperationView, ScalarInput
from compiler.ops.depthwise import from_tflite, parse
from tests.support.one_operation import float32, int32, one_operation, quant8
from tests.support.operations import inferred, npu_refusal, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor

OP_FAILED = ResultCode.OP_FAILED
FILTERS, BIAS = quant8(1, 3, 3, 6), int32(6, scale=1.0)


def depthwise(*scalars: Any, filters: OperandType = FILTERS, bias: OperandType = BIAS) -> Graph:
    tensors = [(quant8(1, 5, 8, 3), None), (filters, None), (bias, None)]
    return one_operation(OperationCode.DEPTHWISE_CONV_2D, tensors, scalars, quant8(scale=2.0))


def test_the_output_has_depth_times_the_multiplier_channels() -> None:
    assert inferred(depthwise(1, 1, 1, 2, 0)).dimensions == (1, 5, 8, 6)


def test_the_multiplier_comes_before_the_activation() -> None:
    graph = depthwise(0, 1, 1, 0, 2, 1, 2, 3)
    attributes = parse(OperationView(graph, graph.operations[0]))
    assert (attributes.depth_multiplier, attributes.activation) == (2, 3)


def test_level_29_takes_dilations() -> None:
    assert inferred(depthwise(2, 1, 1, 2, 0, False, 3, 2)).dimensions == (1, 1, 2, 6)


@pytest.mark.parametrize(
    ("graph", "fragment"),
    [
        (depthwise(1, 1, 1, 1, 0), "has depth 6, must have input depth 3 x depth multiplier 1"),
        (depthwise(1, 1, 1, 0, 0), "depth multiplier (input 6) is 0, must be at least 1"),
        (depthwise(1, 1, 1, 2, 0, filters=quant8(2, 3, 3, 6)), "has first dimension 2, must have 1"),
        (depthwise(1, 1, 1, 2, 0, bias=int32(3, scale=1.0)), "has shape [3], must have [6]"),
    ],
)
def test_shapes_that_do_not_fit_fail(graph: Graph, fragment: str) -> None:
    refused(graph, fragment, OP_FAILED)


def test_floats_and_channels_first_are_legal() -> None:
    tensors = [(float32(1, 3, 5, 8), None), (float32(1, 3, 3, 6), None), (float32(6), None)]
    scalars = (1, 1, 1, 2, 0, True)
    graph = one_operation(OperationCode.DEPTHWISE_CONV_2D, tensors, scalars, float32())
    assert inferred(graph) == float32(1, 6, 5, 8)
    assert npu_refusal(graph) is not None


OPTIONS = {
    "padding": "SAME",
    "stride_w": 2,
    "stride_h": 1,
    "fused_activation_function": "RELU6",
    "dilation_w_factor": 1,
    "dilation_h_factor": 1,
    "depth_multiplier": 7,
}


def test_the_depth_multiplier_follows_from_the_shapes_in_a_file() -> None:
    tensors = [tflite_tensor(quant8(1, 5, 8, 3)), tflite_tensor(quant8(1, 3, 3, 6)), tflite_tensor(int32(6))]
    inputs = from_tflite(tflite_operator("DEPTHWISE_CONV_2D", tensors, **OPTIONS))
    assert [i.value for i in inputs if isinstance(i, ScalarInput)] == [1, 2, 1, 2, 3]


def test_a_filter_depth_that_is_no_multiple_is_refused_in_a_file() -> None:
    tensors = [tflite_tensor(quant8(1, 5, 8, 3)), tflite_tensor(quant8(1, 3, 3, 5)), tflite_tensor(int32(5))]
    with pytest.raises(GraphError, match="filter depth 5 must be a multiple of the input's depth 3"):
        from_tflite(tflite_operator("DEPTHWISE_CONV_2D", tensors, **OPTIONS))
