"""Operations that move elements of any type: tiled on a small machine, they leave the reference's values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import OperandCode, OperationCode
from compiler.reference.interpreter import run_graph
from isa.instruction import Instruction
from isa.instructions.gather import Gather, HashGather
from isa.instructions.matrix import Convolve
from isa.instructions.vector import Copy, Lookup
from tests.support.machines import compile_for, machine
from tests.support.one_operation import OperandList, int32, one_operation, quant8
from tests.support.whole_npu import simulate_whole

TINY = machine("tiny")
TYPES = [OperandCode.TENSOR_QUANT8_ASYMM, OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_INT32]
REAL = TYPES[:2]


def tensor(code: OperandCode, *dimensions: int) -> OperandType:
    is_bytes = code is OperandCode.TENSOR_QUANT8_ASYMM
    return OperandType(code, dimensions, 0.5 if is_bytes else 0.0, 7 if is_bytes else 0)


def values_of(kind: OperandType) -> np.ndarray:
    rng = np.random.default_rng(5)
    if kind.code is OperandCode.TENSOR_FLOAT32:
        return rng.normal(size=kind.dimensions).astype(np.float32)
    return rng.integers(0, 256, kind.dimensions).astype(kind.dtype)


def check(graph: Graph, values: Sequence[np.ndarray]) -> None:
    expected = run_graph(graph, values)
    tensors = simulate_whole(graph, values, TINY).tensors
    for number in graph.outputs:
        np.testing.assert_array_equal(tensors[number], expected[number], strict=True)


def check_one(code: OperationCode, kinds: list[OperandType], scalars: list[Any], output: OperandType) -> None:
    check(
        one_operation(code, [(kind, None) for kind in kinds], scalars, output), [values_of(k) for k in kinds]
    )


def instructions(graph: Graph, kind: type[Instruction]) -> list[Instruction]:
    return [i for i in compile_for(graph, TINY).program.instructions if isinstance(i, kind)]


@pytest.mark.parametrize("code", REAL)
def test_depth_to_space(code: OperandCode) -> None:
    check_one(OperationCode.DEPTH_TO_SPACE, [tensor(code, 2, 20, 30, 18)], [3], tensor(code, 2, 60, 90, 2))


@pytest.mark.parametrize("code", REAL)
def test_space_to_depth(code: OperandCode) -> None:
    check_one(OperationCode.SPACE_TO_DEPTH, [tensor(code, 2, 30, 24, 11)], [3], tensor(code, 2, 10, 8, 99))


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("code", REAL)
def test_concatenation(code: OperandCode, axis: int) -> None:
    shape, joined = [2, 9, 25, 18], [2, 9, 25, 18]
    joined[axis] *= 2
    check_one(OperationCode.CONCATENATION, [tensor(code, *shape)] * 2, [axis], tensor(code, *joined))


@pytest.mark.parametrize("code", TYPES)
def test_reshape(code: OperandCode) -> None:
    kind = tensor(code, 2, 9, 25, 18)
    graph = one_operation(
        OperationCode.RESHAPE, [(kind, None), (int32(2), [18, -1])], [], tensor(code, 18, 450)
    )
    check(graph, [values_of(kind)])


def embedding(table: OperandType, numbers: Sequence[int]) -> Graph:
    count = len(numbers)
    output = OperandType(table.code, (count, *table.dimensions[1:]), table.scale, table.zero_point)
    return one_operation(OperationCode.EMBEDDING_LOOKUP, [(int32(count), numbers), (table, None)], [], output)


@pytest.mark.parametrize("code", TYPES)
def test_embedding_lookup_in_a_table_larger_than_sram(code: OperandCode) -> None:
    table = tensor(code, 600, 7, 33)
    assert table.size_bytes > TINY.sram.total_bytes
    check(embedding(table, [599, 0, 300, 300, 17]), [values_of(table)])


@pytest.mark.parametrize("code", TYPES)
def test_hashtable_lookup_in_a_table_larger_than_sram(code: OperandCode) -> None:
    table, rows = tensor(code, 600, 7, 33), tensor(code, 5, 7, 33)
    operands = OperandList()
    inputs = [operands.operand(kind) for kind in (int32(5), int32(600), table)]
    outputs = [operands.operand(rows), operands.operand(quant8(5))]
    operands.operation(OperationCode.HASHTABLE_LOOKUP, inputs, outputs)
    lookups, keys = np.array([3, -5, 4, 1800, 1797], np.int32), np.arange(0, 1800, 3, dtype=np.int32)
    check(operands.finish(inputs, outputs), [lookups, keys, values_of(table)])


def test_a_small_table_is_gathered_by_one_instruction() -> None:
    assert len(instructions(embedding(tensor(TYPES[0], 20, 30), [1, 2, 3]), Gather)) == 1
    assert not instructions(embedding(tensor(TYPES[0], 20, 30), [1, 2, 3]), HashGather)


def concatenation(scale: float) -> Graph:
    kinds = [quant8(1, 4, 4, 3, scale=0.5), quant8(1, 4, 4, 3, scale=scale)]
    return one_operation(
        OperationCode.CONCATENATION, [(k, None) for k in kinds], [3], quant8(1, 4, 4, 6, scale=0.5)
    )


def test_concatenation_copies_what_it_need_not_rescale() -> None:
    assert len(instructions(concatenation(0.5), Copy)) == 2
    assert len(instructions(concatenation(0.25), Copy)) == 1
    assert len(instructions(concatenation(0.25), Lookup)) == 1


def convolution(kernel: int) -> Graph:
    """32 images of 2 x 2 pixels."""
    weights, bias = np.zeros((4, kernel, kernel, 8), np.uint8), np.zeros(4, np.int32)
    tensors = [
        (quant8(32, 2, 2, 8, scale=0.5), None),
        (quant8(*weights.shape, scale=0.5), weights),
        (int32(4, scale=0.25), bias),
    ]
    return one_operation(OperationCode.CONV_2D, tensors, [1, 1, 1, 0], quant8(32, 2, 2, 4))


def test_tiles_of_a_pointwise_convolution_span_images() -> None:
    assert len(instructions(convolution(1), Convolve)) < 32
    assert len(instructions(convolution(3), Convolve)) >= 32


def test_a_pointwise_convolution_over_a_batch_equals_the_reference() -> None:
    rng = np.random.default_rng(0)
    graph = convolution(1)
    check(graph, [rng.integers(0, 256, (32, 2, 2, 8), np.uint8)])
