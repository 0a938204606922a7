import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import ScalarInput
from compiler.ops.rearrange import from_tflite
from tests.support.one_operation import Number, float32, one_operation, quant8
from tests.support.operations import inferred, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor

TO_SPACE, TO_DEPTH = OperationCode.DEPTH_TO_SPACE, OperationCode.SPACE_TO_DEPTH
OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
UNSHAPED = float32()


def rearrange(
    code: OperationCode, kind: OperandType, *scalars: Number, output: OperandType = UNSHAPED
) -> Graph:
    return one_operation(code, [(kind, None)], scalars, output)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_depth_becomes_blocks_of_pixels(numerics: Numerics) -> None:
    assert inferred(rearrange(TO_SPACE, float32(1, 2, 3, 8), 2), numerics) == float32(1, 4, 6, 2)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_blocks_of_pixels_become_depth(numerics: Numerics) -> None:
    assert inferred(rearrange(TO_DEPTH, float32(1, 4, 6, 2), 2), numerics) == float32(1, 2, 3, 8)


@pytest.mark.parametrize(("code", "shape"), [(TO_SPACE, (1, 2, 4, 6)), (TO_DEPTH, (1, 32, 1, 1))])
def test_channels_may_come_first_from_level_29_on(code: OperationCode, shape: tuple[int, ...]) -> None:
    graph = rearrange(code, float32(1, 8, 2, 3) if code is TO_SPACE else float32(1, 8, 2, 2), 2, True)
    assert inferred(graph).dimensions == shape
    refused(graph, "has 3 inputs, must have 2 at NNAPI level 27", BAD_DATA, Numerics.NNAPI27)


def test_a_square_that_does_not_divide_the_depth_fails() -> None:
    graph = rearrange(TO_SPACE, float32(1, 2, 2, 6), 2)
    refused(graph, "block size (input 1) is 2; its square 4 must divide the input's depth 6", OP_FAILED)


@pytest.mark.parametrize("size", [(3, 4), (4, 3)])
def test_a_block_that_does_not_divide_the_image_fails(size: tuple[int, int]) -> None:
    graph = rearrange(TO_DEPTH, float32(1, *size, 1), 2)
    fragment = f"must divide the input's height {size[0]} and width {size[1]}"
    refused(graph, fragment, OP_FAILED)


@pytest.mark.parametrize("code", [TO_SPACE, TO_DEPTH])
@pytest.mark.parametrize("block", [0, -1])
def test_blocks_have_at_least_one_pixel(code: OperationCode, block: int) -> None:
    graph = rearrange(code, float32(1, 2, 2, 4), block)
    refused(graph, f"block size (input 1) is {block}, must be at least 1", OP_FAILED)


@pytest.mark.parametrize("code", [TO_SPACE, TO_DEPTH])
def test_bytes_are_not_rescaled(code: OperationCode) -> None:
    graph = rearrange(code, quant8(1, 2, 2, 4), 2, output=quant8(scale=2.0))
    refused(graph, "the operation does not rescale", OP_FAILED)


@pytest.mark.parametrize("code", [TO_SPACE, TO_DEPTH])
def test_images_have_rank_4(code: OperationCode) -> None:
    refused(rearrange(code, float32(2, 2, 4), 2), "has rank 3 [2, 2, 4], must have rank 4", OP_FAILED)


def test_the_block_size_of_a_file_becomes_a_scalar() -> None:
    operator = tflite_operator("SPACE_TO_DEPTH", [tflite_tensor(float32(1, 2, 2, 4))], block_size=2)
    assert from_tflite(operator)[1] == ScalarInput(OperandCode.INT32, 2)
