import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from compiler.operation import OperationView
from compiler.ops.activation import clamp_range
from tests.support.one_operation import float32, one_operation, quant8
from tests.support.operations import inferred, refused

FAMILY = [OperationCode.RELU, OperationCode.RELU1, OperationCode.RELU6]
PROBABILITY = quant8(scale=1 / 256)


def unary(code: OperationCode, source: OperandType, output: OperandType) -> Graph:
    return one_operation(code, [(source, None)], (), output)


@pytest.mark.parametrize("code", FAMILY)
def test_the_relu_family_keeps_shape_and_quantisation(code: OperationCode) -> None:
    kind = quant8(2, 3, scale=0.1, zero_point=9)
    assert inferred(unary(code, kind, quant8(scale=0.1, zero_point=9))) == kind


@pytest.mark.parametrize("code", FAMILY)
@pytest.mark.parametrize("output", [quant8(scale=0.2, zero_point=9), quant8(scale=0.1, zero_point=8)])
def test_the_relu_family_refuses_to_rescale(code: OperationCode, output: OperandType) -> None:
    graph = unary(code, quant8(2, 3, scale=0.1, zero_point=9), output)
    refused(graph, "the operation does not rescale", ResultCode.OP_FAILED)


@pytest.mark.parametrize(
    ("code", "limits"),
    [(OperationCode.RELU, (100, 255)), (OperationCode.RELU1, (90, 110)), (OperationCode.RELU6, (100, 160))],
)
def test_the_clamp_range_is_in_raw_values(code: OperationCode, limits: tuple[int, int]) -> None:
    kind = quant8(4, scale=0.1, zero_point=100)
    graph = unary(code, kind, kind)
    assert clamp_range(OperationView(graph, graph.operations[0])) == limits


def test_logistic_wants_scale_1_256_and_zero_point_0() -> None:
    assert inferred(unary(OperationCode.LOGISTIC, quant8(3), PROBABILITY)).dimensions == (3,)


@pytest.mark.parametrize("output", [quant8(scale=1 / 255), quant8(scale=1 / 256, zero_point=1)])
def test_logistic_refuses_another_output_quantisation(output: OperandType) -> None:
    graph = unary(OperationCode.LOGISTIC, quant8(3), output)
    refused(graph, "must have scale 0.00390625 and zero point 0", ResultCode.OP_FAILED)


def test_logistic_refuses_a_scale_that_does_not_fit_its_format() -> None:
    graph = unary(OperationCode.LOGISTIC, quant8(3, scale=2.0**-27), PROBABILITY)
    refused(graph, "must be greater than 2^-27", ResultCode.OP_FAILED)


@pytest.mark.parametrize("code", [*FAMILY, OperationCode.LOGISTIC, OperationCode.TANH, OperationCode.FLOOR])
@pytest.mark.parametrize("numerics", list(Numerics))
def test_floats_keep_their_shape(code: OperationCode, numerics: Numerics) -> None:
    assert inferred(unary(code, float32(2, 3), float32()), numerics) == float32(2, 3)


def test_floor_is_for_floats_only() -> None:
    graph = unary(OperationCode.FLOOR, quant8(3), quant8())
    refused(graph, "input (input 0) is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32", ResultCode.BAD_DATA)


UNIT = quant8(scale=1 / 128, zero_point=128)


def test_tanh_of_bytes_came_with_level_29() -> None:
    graph = unary(OperationCode.TANH, quant8(3), UNIT)
    assert inferred(graph).dimensions == (3,)
    refused(graph, "must be TENSOR_FLOAT32", ResultCode.BAD_DATA, Numerics.NNAPI27)


@pytest.mark.parametrize("output", [quant8(scale=1 / 128), quant8(scale=1 / 127, zero_point=128)])
def test_tanh_refuses_another_output_quantisation(output: OperandType) -> None:
    graph = unary(OperationCode.TANH, quant8(3), output)
    refused(graph, "must have scale 0.0078125 and zero point 128", ResultCode.OP_FAILED)


def test_tanh_refuses_a_scale_that_does_not_fit_its_format() -> None:
    graph = unary(OperationCode.TANH, quant8(3, scale=2.0**-27), UNIT)
    refused(graph, "must be greater than 2^-27", ResultCode.OP_FAILED)


@pytest.mark.parametrize("code", [*FAMILY, OperationCode.LOGISTIC])
def test_a_second_input_is_bad_data(code: OperationCode) -> None:
    graph = one_operation(code, [(quant8(3), None)], (1,), quant8())
    refused(graph, "has 2 inputs, must have 1", ResultCode.BAD_DATA)
