from typing import Any

import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from tests.compiler.reference.calls import FLOAT, Array, compute
from tests.support.one_operation import quant8

DEPTH_TO_SPACE, SPACE_TO_DEPTH = OperationCode.DEPTH_TO_SPACE, OperationCode.SPACE_TO_DEPTH
BYTES = quant8(scale=0.5, zero_point=3)


def move(code: OperationCode, values: Any, *scalars: int | bool, kind: OperandType = BYTES) -> Array:
    return compute(code, [(kind, values)], scalars, kind)


@pytest.mark.parametrize("kind", [BYTES, FLOAT])
def test_depth_becomes_blocks_row_by_row(kind: OperandType) -> None:
    output = move(DEPTH_TO_SPACE, np.arange(8).reshape(1, 1, 1, 8), 2, kind=kind)
    assert output.tolist() == [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]
    assert output.dtype == kind.dtype


@pytest.mark.parametrize("kind", [BYTES, FLOAT])
def test_blocks_become_depth_row_by_row(kind: OperandType) -> None:
    # Rows 0 1 2 3 and 4 5 6 7: blocks 0 1 4 5 and 2 3 6 7.
    output = move(SPACE_TO_DEPTH, np.arange(8).reshape(1, 2, 4, 1), 2, kind=kind)
    assert output.tolist() == [[[[0, 1, 4, 5], [2, 3, 6, 7]]]]


@pytest.mark.parametrize("block", [1, 2, 3])
def test_one_undoes_the_other(block: int) -> None:
    values = np.random.default_rng(0).integers(0, 256, (2, 3, 2, 5 * block * block))
    spread = move(DEPTH_TO_SPACE, values, block)
    assert spread.shape == (2, 3 * block, 2 * block, 5)
    assert (move(SPACE_TO_DEPTH, spread, block) == values).all()


@pytest.mark.parametrize("code", [DEPTH_TO_SPACE, SPACE_TO_DEPTH])
def test_channels_first_transposes_input_and_output(code: OperationCode) -> None:
    values = np.arange(2 * 4 * 6 * 8).reshape(2, 4, 6, 8) % 251
    usual = move(code, values, 2, False)
    other = move(code, values.transpose(0, 3, 1, 2), 2, True)
    assert (other == usual.transpose(0, 3, 1, 2)).all()


@pytest.mark.parametrize(
    ("code", "shape", "block", "fragment"),
    [
        (DEPTH_TO_SPACE, (1, 1, 1, 6), 2, "depth 6 is not divisible"),
        (SPACE_TO_DEPTH, (1, 3, 2, 1), 2, "height 3 and width 2"),
        (SPACE_TO_DEPTH, (1, 2, 3, 1), 2, "height 2 and width 3"),
        (SPACE_TO_DEPTH, (1, 2, 2, 1), 0, "block size 0 must be at least 1"),
        (DEPTH_TO_SPACE, (1, 2, 2, 4), -2, "block size -2 must be at least 1"),
        (DEPTH_TO_SPACE, (2, 2, 4), 2, "rank 3"),
    ],
)
def test_blocks_that_do_not_divide_fail(
    code: OperationCode, shape: tuple[int, ...], block: int, fragment: str
) -> None:
    with pytest.raises(GraphError, match=fragment) as caught:
        move(code, np.zeros(shape), block)
    assert caught.value.result_code is ResultCode.OP_FAILED


@pytest.mark.parametrize("code", [DEPTH_TO_SPACE, SPACE_TO_DEPTH])
def test_level_27_refuses_the_layout_flag(code: OperationCode) -> None:
    with pytest.raises(GraphError, match="3 inputs"):
        compute(code, [(BYTES, np.zeros((1, 2, 2, 4)))], [2, False], BYTES, Numerics.NNAPI27)


@pytest.mark.parametrize("code", [DEPTH_TO_SPACE, SPACE_TO_DEPTH])
def test_bytes_are_not_rescaled(code: OperationCode) -> None:
    with pytest.raises(GraphError, match="does not rescale"):
        compute(code, [(BYTES, np.zeros((1, 2, 2, 4)))], [2], quant8(scale=0.25))
