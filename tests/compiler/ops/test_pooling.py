from typing import Any

import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import OperationCode, ResultCode
from compiler.operation import OperationView, ScalarInput
from compiler.ops.pooling import from_tflite, parse
from tests.support.one_operation import float32, one_operation, quant8
from tests.support.operations import inferred, npu_refusal, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor

POOLS = [OperationCode.AVERAGE_POOL_2D, OperationCode.MAX_POOL_2D]
KIND = quant8(1, 6, 9, 2, scale=0.5, zero_point=3)
UNSHAPED = quant8(scale=0.5, zero_point=3)


def pool(
    *scalars: Any,
    code: OperationCode = OperationCode.MAX_POOL_2D,
    output: OperandType = UNSHAPED,
) -> Graph:
    return one_operation(code, [(KIND, None)], scalars, output)


@pytest.mark.parametrize("code", POOLS)
def test_filter_and_strides_are_width_first(code: OperationCode) -> None:
    graph = pool(2, 3, 1, 4, 2, 0, code=code)
    window = parse(OperationView(graph, graph.operations[0])).window
    assert (window.width.size, window.height.size) == (4, 2)
    assert inferred(graph).dimensions == (1, 5, 2, 2)


def test_explicit_padding_counts_into_the_size() -> None:
    assert inferred(pool(1, 0, 1, 1, 1, 1, 2, 2, 0)).dimensions == (1, 7, 9, 2)


def test_a_data_layout_may_follow() -> None:
    assert inferred(pool(1, 1, 1, 2, 2, 0, False)).dimensions == (1, 6, 9, 2)


def test_pools_have_no_dilations() -> None:
    graph = pool(1, 1, 1, 2, 2, 0, False, 1, 1)
    refused(graph, "has 10 inputs", ResultCode.BAD_DATA)


@pytest.mark.parametrize("code", POOLS)
def test_an_output_of_other_quantisation_is_refused_because_pools_do_not_rescale(code: OperationCode) -> None:
    graph = pool(1, 1, 1, 2, 2, 0, code=code, output=quant8(scale=0.5, zero_point=4))
    refused(graph, "must have the input's (scale 0.5, zero point 3)", ResultCode.OP_FAILED)


@pytest.mark.parametrize(
    ("scalars", "fragment"),
    [
        ((1, 1, 1, 0, 2, 0), "filter width (input 4) is 0, must be at least 1"),
        ((1, 1, 1, 2, -2, 0), "filter height (input 5) is -2, must be at least 1"),
        ((2, 0, 0, 0, 1, 1, 2, 2, 0), "padding left (input 1) is 2, must be at least 0 and less than"),
        ((2, 1, 1, 2, 7, 0), "output would have shape [1, 0, 8, 2]"),
    ],
)
def test_values_that_no_pool_can_have_fail(scalars: tuple[int, ...], fragment: str) -> None:
    refused(pool(*scalars), fragment, ResultCode.OP_FAILED)


@pytest.mark.parametrize(
    ("scalars", "fragment"),
    [
        ((1, 65536, 1, 2, 2, 0), "window width has stride 65536; the NPU takes at most 65535"),
        ((1, 1, 1, 2, 70000, 0), "window height has size 70000; the NPU takes at most 65535"),
    ],
)
def test_windows_that_no_instruction_can_hold_are_legal_but_not_on_the_npu(
    scalars: tuple[int, ...], fragment: str
) -> None:
    assert npu_refusal(pool(*scalars)) == fragment


@pytest.mark.parametrize("code", [*POOLS, OperationCode.L2_POOL_2D])
def test_floats_pool_too(code: OperationCode) -> None:
    graph = one_operation(code, [(float32(1, 6, 9, 2), None)], (2, 3, 1, 4, 2, 0), float32())
    assert inferred(graph) == float32(1, 5, 2, 2)


@pytest.mark.parametrize("code", [*POOLS, OperationCode.L2_POOL_2D])
def test_channels_may_come_first(code: OperationCode) -> None:
    graph = one_operation(code, [(float32(1, 2, 6, 9), None)], (2, 3, 1, 4, 2, 0, True), float32())
    assert inferred(graph).dimensions == (1, 2, 5, 2)


def test_the_l2_pool_is_float_only() -> None:
    graph = pool(1, 1, 1, 2, 2, 0, code=OperationCode.L2_POOL_2D)
    refused(graph, "input (input 0) is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32", ResultCode.BAD_DATA)


def test_a_pool_of_a_file_becomes_an_implicit_list() -> None:
    options = {
        "padding": "VALID",
        "stride_w": 2,
        "stride_h": 3,
        "filter_width": 4,
        "filter_height": 5,
        "fused_activation_function": "RELU_N1_TO_1",
    }
    inputs = from_tflite(tflite_operator("MAX_POOL_2D", [tflite_tensor(KIND)], **options))
    assert [i.value for i in inputs if isinstance(i, ScalarInput)] == [2, 2, 3, 4, 5, 2]
