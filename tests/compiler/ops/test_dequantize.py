import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from tests.support.one_operation import float32, one_operation, quant8
from tests.support.operations import inferred, refused


def dequantize(source: OperandType, output: OperandType) -> Graph:
    return one_operation(OperationCode.DEQUANTIZE, [(source, None)], (), output)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_bytes_become_floats_of_the_same_shape(numerics: Numerics) -> None:
    assert inferred(dequantize(quant8(2, 3, scale=0.5), float32()), numerics) == float32(2, 3)


@pytest.mark.parametrize(
    ("source", "output", "fragment"),
    [
        (float32(2), float32(), "input (input 0) is TENSOR_FLOAT32, must be TENSOR_QUANT8_ASYMM"),
        (quant8(2), quant8(), "output is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32"),
    ],
)
def test_other_types_are_bad_data(source: OperandType, output: OperandType, fragment: str) -> None:
    refused(dequantize(source, output), fragment, ResultCode.BAD_DATA)


def test_rank_5_fails() -> None:
    refused(dequantize(quant8(1, 1, 1, 1, 1), float32()), "has rank 5", ResultCode.OP_FAILED)
