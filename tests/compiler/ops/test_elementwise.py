import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import OperationCode, ResultCode
from compiler.ops.quantization import add_rescaling
from tests.support.one_operation import one_operation, quant8
from tests.support.operations import inferred, refused

UNSHAPED = quant8()


def add(first: OperandType, second: OperandType, output: OperandType = UNSHAPED, fuse: int = 0) -> Graph:
    return one_operation(OperationCode.ADD, [(first, None), (second, None)], (fuse,), output)


@pytest.mark.parametrize(
    ("first", "second", "shape"),
    [
        ((2, 3), (2, 3), (2, 3)),
        ((4, 1, 2), (5, 4, 3, 1), (5, 4, 3, 2)),
        ((1,), (7, 1), (7, 1)),
    ],
)
def test_shapes_broadcast_from_the_last_dimension(
    first: tuple[int, ...], second: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    assert inferred(add(quant8(*first), quant8(*second))).dimensions == shape


def test_shapes_that_do_not_broadcast_fail() -> None:
    graph = add(quant8(2, 3), quant8(2, 1, 2))
    refused(graph, "inputs have shapes [2, 3] and [2, 1, 2]; from the last dimension", ResultCode.OP_FAILED)


def test_rank_5_fails() -> None:
    graph = add(quant8(1, 1, 1, 1, 1), quant8(1))
    refused(graph, "first input (input 0) has rank 5", ResultCode.OP_FAILED)


def test_an_output_scale_too_small_for_the_sum_fails() -> None:
    graph = add(quant8(2), quant8(2), quant8(scale=2**-19))
    refused(graph, "output scale 1.90734863e-06 is too small", ResultCode.OP_FAILED)


def test_the_larger_input_scale_is_halved_and_the_other_is_relative_to_it() -> None:
    rescaling = add_rescaling(quant8(1, scale=2.0), quant8(1, scale=0.5), quant8(1, scale=4.0))
    assert rescaling.first == (1 << 30, 0)
    assert rescaling.second == (1 << 30, -2)
    assert rescaling.output == (1 << 30, -19)
