import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import OperationView, ScalarInput
from compiler.ops.normalization import (
    LocalResponseAttributes,
    l2_from_tflite,
    local_response_from_tflite,
    parse_l2_axis,
    parse_local_response,
)
from tests.support.one_operation import Number, float32, one_operation, quant8
from tests.support.operations import inferred, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor

OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
UNIT = quant8(scale=1 / 128, zero_point=128)
UNSHAPED = float32()


def l2(kind: OperandType, *axis: Number, output: OperandType = UNSHAPED) -> Graph:
    return one_operation(OperationCode.L2_NORMALIZATION, [(kind, None)], axis, output)


def local_response(kind: OperandType, *scalars: Number) -> Graph:
    return one_operation(OperationCode.LOCAL_RESPONSE_NORMALIZATION, [(kind, None)], scalars, UNSHAPED)


def view(graph: Graph) -> OperationView:
    return OperationView(graph, graph.operations[0])


def test_l2_normalisation_keeps_the_shape() -> None:
    assert inferred(l2(float32(1, 2, 3, 4)), Numerics.NNAPI27) == float32(1, 2, 3, 4)


def test_l2_normalisation_takes_any_axis_from_level_29_on() -> None:
    graph = l2(float32(2, 3), -2)
    assert parse_l2_axis(view(graph)) == 0
    assert inferred(graph) == float32(2, 3)
    refused(graph, "has 2 inputs, must have 1 at NNAPI level 27", BAD_DATA, Numerics.NNAPI27)


def test_l2_normalisation_of_other_ranks_than_4_came_with_level_29() -> None:
    graph = l2(float32(2, 3))
    assert inferred(graph) == float32(2, 3)
    refused(graph, "has rank 2 [2, 3], must have rank 4", OP_FAILED, Numerics.NNAPI27)


def test_l2_normalisation_of_bytes_came_with_level_29() -> None:
    graph = l2(quant8(1, 1, 1, 4), output=UNIT)
    assert inferred(graph).dimensions == (1, 1, 1, 4)
    refused(graph, "must be TENSOR_FLOAT32", BAD_DATA, Numerics.NNAPI27)


def test_l2_normalisation_of_bytes_has_a_fixed_output_quantisation() -> None:
    graph = l2(quant8(4), output=quant8(scale=1 / 128))
    refused(graph, "must have scale 0.0078125 and zero point 128", OP_FAILED)


def test_an_l2_axis_out_of_range_fails() -> None:
    refused(l2(float32(2, 3), 2), "axis (input 1) is 2, must be -2 to 1", OP_FAILED)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_local_response_has_radius_bias_alpha_and_beta(numerics: Numerics) -> None:
    graph = local_response(float32(1, 1, 1, 6), 2, 9.0, 4.0, 0.5)
    assert parse_local_response(view(graph)) == LocalResponseAttributes(2, 9.0, 4.0, 0.5, 3)
    assert inferred(graph, numerics) == float32(1, 1, 1, 6)


def test_local_response_takes_any_axis_from_level_29_on() -> None:
    graph = local_response(float32(2, 3), 2, 9.0, 4.0, 0.5, 0)
    assert parse_local_response(view(graph)).axis == 0
    refused(graph, "has 6 inputs, must have 5 at NNAPI level 27", BAD_DATA, Numerics.NNAPI27)


@pytest.mark.parametrize(
    ("scalars", "fragment"),
    [
        ((-1, 1.0, 1.0, 1.0), "radius (input 1) is -1, must be at least 0"),
        ((1, 0.0, 1.0, 1.0), "bias (input 2) is 0, must not be zero"),
        ((1, 1.0, 1.0, 1.0, 4), "axis (input 5) is 4, must be -4 to 3"),
    ],
)
def test_values_that_no_local_response_can_have_fail(scalars: tuple[Number, ...], fragment: str) -> None:
    refused(local_response(float32(1, 1, 1, 6), *scalars), fragment, OP_FAILED)


def test_local_response_is_float_only() -> None:
    graph = local_response(quant8(1, 1, 1, 6), 2, 9.0, 4.0, 0.5)
    refused(graph, "input (input 0) is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32", BAD_DATA)


def test_an_integer_in_the_place_of_the_bias_is_bad_data() -> None:
    graph = local_response(float32(1, 1, 1, 6), 2, 9, 4.0, 0.5)
    refused(graph, "bias (input 2) is INT32, must be FLOAT32", BAD_DATA)


def test_the_numbers_of_a_file_become_scalars_in_nnapis_order() -> None:
    options = {"radius": 3, "bias": 1.5, "alpha": 0.25, "beta": 0.75}
    operator = tflite_operator("LOCAL_RESPONSE_NORMALIZATION", [tflite_tensor(UNSHAPED)], **options)
    _, *scalars = local_response_from_tflite(operator)
    assert scalars == [
        ScalarInput(OperandCode.INT32, 3),
        *(ScalarInput(OperandCode.FLOAT32, value) for value in (1.5, 0.25, 0.75)),
    ]


def test_a_fused_activation_of_a_file_is_unsupported() -> None:
    options = {"fused_activation_function": "RELU"}
    operator = tflite_operator("L2_NORMALIZATION", [tflite_tensor(UNSHAPED)], **options)
    with pytest.raises(UnsupportedError, match="fused activation RELU is not in NNAPI"):
        l2_from_tflite(operator)
