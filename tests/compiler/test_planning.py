"""Plans for the least traffic: sizes of SRAM that are tried and do not work are no obstacle."""

import pytest

from compiler.errors import TileCountError
from compiler.graph import Graph
from compiler.nnapi import OperationCode
from compiler.options import CompileOptions, Objective
from compiler.schedule import builder
from isa.instructions.vector import Add
from tests.support.graphs import GraphBuilder
from tests.support.machines import compile_for, machine


def sum_of_two_inputs(elements: int) -> Graph:
    b = GraphBuilder()
    first, second = b.input((1, elements)), b.input((1, elements))
    total = b.operation(OperationCode.ADD, [first, second, b.scalar(0)], b.tensor((1, elements), 0.2, 9))
    return b.graph(total)


def tiles_of(graph: Graph, kib: int) -> int:
    program = compile_for(graph, machine("tiny", f"sram.kib={kib}")).program
    return sum(isinstance(instruction, Add) for instruction in program.instructions)


def test_a_smaller_size_that_takes_too_many_tiles_does_not_stop_a_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = sum_of_two_inputs(100_000)
    whole, smallest = tiles_of(graph, 64), tiles_of(graph, 16)
    assert whole < smallest
    monkeypatch.setattr(builder, "MAX_TILES", (whole + smallest) // 2)
    with pytest.raises(TileCountError, match="at most"):
        compile_for(graph, machine("tiny", "sram.kib=16"))
    options = CompileOptions(objective=Objective.BYTES)
    assert compile_for(graph, machine("tiny", "sram.kib=64"), options).dram_bytes >= 3 * 100_000
