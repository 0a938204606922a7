"""Graphs that run on the NPU alone: compiled as one program, simulated, all visible tensors read."""

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from compiler.graph import Graph
from compiler.options import CompileOptions
from npu_sim.config import MachineConfig
from npu_sim.npu import simulate
from npu_sim.result import SimResult
from tests.support.machines import compile_for


def simulate_whole(
    graph: Graph,
    values: Sequence[npt.NDArray[Any]],
    config: MachineConfig,
    options: CompileOptions | None = None,
) -> SimResult:
    """Compile, verify and simulate; UnsupportedError if the NPU lacks an operation."""
    program = compile_for(graph, config, options).program
    inputs = [symbol for symbol in program.symbols if symbol.role == "input"]
    named = {symbol.name: values[graph.inputs.index(symbol.operand)] for symbol in inputs}
    return simulate(program, config, config.preferences["fast_single_answer"], named)
