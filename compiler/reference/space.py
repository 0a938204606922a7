"""Operations that move blocks of rows and columns: DEPTH_TO_SPACE and SPACE_TO_DEPTH."""

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from compiler.reference.registry import Array, Call, reference
from compiler.reference.windows import from_channels_last, to_channels_last


@reference(OperationCode.DEPTH_TO_SPACE)
def depth_to_space(call: Call) -> list[Array]:
    """out[b, h·B + i, w·B + j, c] = in[b, h, w, (i·B + j)·channels + c]."""
    block, inputs, channels_first = _prepare(call)
    batches, height, width, depth = inputs.shape
    if depth % (block * block):
        raise call.error(f"depth {depth} is not divisible by the square of the block size {block}")
    blocks = inputs.reshape(batches, height, width, block, block, depth // (block * block))
    output = blocks.transpose(0, 1, 3, 2, 4, 5).reshape(batches, height * block, width * block, -1)
    return [from_channels_last(output, channels_first)]


@reference(OperationCode.SPACE_TO_DEPTH)
def space_to_depth(call: Call) -> list[Array]:
    """out[b, h, w, (i·B + j)·channels + c] = in[b, h·B + i, w·B + j, c]."""
    block, inputs, channels_first = _prepare(call)
    batches, height, width, depth = inputs.shape
    if height % block or width % block:
        raise call.error(
            f"height {height} and width {width} are not both divisible by the block size {block}"
        )
    blocks = inputs.reshape(batches, height // block, block, width // block, block, depth)
    output = blocks.transpose(0, 1, 3, 2, 4, 5)
    output = output.reshape(batches, height // block, width // block, depth * block * block)
    return [from_channels_last(output, channels_first)]


def _prepare(call: Call) -> tuple[int, Array, bool]:
    """Block size, the input as NHWC, and whether input and output are NCHW."""
    call.expect_count(*((2,) if call.is_level_27 else (2, 3)))
    values = call.any_tensor(0, OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_QUANT8_ASYMM)
    call.expect_rank(0, 4)
    call.expect_kept_type()
    block, channels_first = call.integer(1), call.flag(2)
    if block < 1:
        raise call.error(f"block size {block} must be at least 1")
    return block, np.asarray(to_channels_last(values, channels_first)), channels_first
