import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import OperationCode, ResultCode
from compiler.ops.quantization import add_rescaling
from tests.support.one_operation import float32, one_operation, quant8
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


@pytest.mark.parametrize("code", [OperationCode.ADD, OperationCode.MUL])
def test_floats_broadcast_too(code: OperationCode) -> None:
    tensors = [(float32(4, 1), None), (float32(3), None)]
    assert inferred(one_operation(code, tensors, (0,), float32())) == float32(4, 3)


def test_inputs_of_different_types_are_bad_data() -> None:
    graph = add(float32(2), quant8(2))
    fragment = "second input (input 1) is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32"
    refused(graph, fragment, ResultCode.BAD_DATA)


def product(output_scale: float) -> Graph:
    tensors = [(quant8(2, 3, scale=0.5), None), (quant8(3, scale=0.5), None)]
    return one_operation(OperationCode.MUL, tensors, (0,), quant8(scale=output_scale))


def test_products_have_a_scale_above_the_product_of_the_scales() -> None:
    assert inferred(product(0.26)).dimensions == (2, 3)


@pytest.mark.parametrize("scale", [0.25, 0.2])
def test_products_of_a_smaller_scale_fail(scale: float) -> None:
    fragment = "must be greater than the product of the input scales 0.5 x 0.5"
    refused(product(scale), fragment, ResultCode.OP_FAILED)


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
