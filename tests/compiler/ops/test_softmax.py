from typing import Any

import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from compiler.operation import OperationView
from compiler.ops.softmax import parse
from tests.support.one_operation import float32, one_operation, quant8
from tests.support.operations import inferred, npu_refusal, refused

PROBABILITY = quant8(scale=1 / 256)


def softmax(kind: OperandType, *scalars: Any, output: OperandType = PROBABILITY) -> Graph:
    return one_operation(OperationCode.SOFTMAX, [(kind, None)], scalars, output)


def test_the_last_dimension_is_the_axis_without_one() -> None:
    graph = softmax(quant8(2, 3, 4, 5), 0.5)
    attributes = parse(OperationView(graph, graph.operations[0]))
    assert (attributes.axis, attributes.beta) == (3, 0.5)
    assert inferred(graph).dimensions == (2, 3, 4, 5)


def test_floats_have_no_scale_rules() -> None:
    graph = softmax(float32(2, 3), 1e-30, output=float32())
    assert inferred(graph) == float32(2, 3)


def test_an_output_of_another_type_is_bad_data() -> None:
    graph = softmax(float32(2, 3), 1.0)
    refused(graph, "output is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32", ResultCode.BAD_DATA)


@pytest.mark.parametrize("rank", [1, 3])
def test_level_29_takes_ranks_that_level_27_refuses(rank: int) -> None:
    graph = softmax(quant8(*[2] * rank), 1.0)
    assert len(inferred(graph).dimensions) == rank
    refused(graph, "must have rank 2 or 4", ResultCode.OP_FAILED, Numerics.NNAPI27)


@pytest.mark.parametrize("axis", [-1, 1])
def test_the_last_axis_may_be_named(axis: int) -> None:
    assert inferred(softmax(quant8(2, 3), 1.0, axis)).dimensions == (2, 3)


def test_the_npu_takes_the_last_axis_only() -> None:
    assert npu_refusal(softmax(quant8(2, 3), 1.0, 0)) == "axis is 0; the NPU takes the last one (1) only"
    assert npu_refusal(softmax(quant8(2, 3), 1.0, -1)) is None


def test_an_axis_out_of_range_fails() -> None:
    refused(softmax(quant8(2, 3), 1.0, 2), "axis (input 2) is 2, must be -2 to 1", ResultCode.OP_FAILED)


def test_level_27_has_no_axis() -> None:
    graph = softmax(quant8(2, 3), 1.0, 1)
    fragment = "has 3 inputs, must have 2 at NNAPI level 27 (numerics nnapi27): input 2 came with level 29"
    refused(graph, fragment, ResultCode.BAD_DATA, Numerics.NNAPI27)


@pytest.mark.parametrize("beta", [0.0, -1.0, float("inf"), float("nan")])
def test_beta_must_be_positive_and_finite(beta: float) -> None:
    refused(softmax(quant8(2, 3), beta), "beta (input 1) is", ResultCode.BAD_DATA)


def test_beta_is_a_float() -> None:
    refused(softmax(quant8(2, 3), 1), "beta (input 1) is INT32, must be FLOAT32", ResultCode.BAD_DATA)


def test_another_output_quantisation_fails() -> None:
    graph = softmax(quant8(2, 3), 1.0, output=quant8(scale=1 / 128))
    refused(graph, "must have scale 0.00390625 and zero point 0", ResultCode.OP_FAILED)


def test_a_product_of_beta_and_scale_that_does_not_fit_the_format_fails() -> None:
    graph = softmax(quant8(2, 3, scale=2.0**-26), 1.0)
    refused(graph, "must be greater than 2^-26", ResultCode.OP_FAILED)
