"""The ways to execute a graph, for tests that must hold on all of them."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt
import pytest

from compiler.graph import Graph
from compiler.nnapi import Numerics
from compiler.reference.interpreter import run_graph
from npu_sim.config_io import load_machine
from runtime.device import CompilationOptions, RunOptions
from runtime.devices.npu import NpuDevice

Array = npt.NDArray[Any]
Execute = Callable[[Graph, Sequence[Array], Numerics], list[Array]]
"""Outputs of a graph, in its order, for the given inputs; raises CompilerError if it refuses the graph."""

REFERENCE = "reference"
PRESETS = ("tiny", "phone")


def execute_on_reference(graph: Graph, inputs: Sequence[Array], numerics: Numerics) -> list[Array]:
    """Outputs by the reference functions."""
    values = run_graph(graph, inputs, numerics)
    return [values[number] for number in graph.outputs]


@functools.cache
def npu(preset: str) -> NpuDevice:
    """The simulated machine of a preset."""
    return NpuDevice(load_machine(preset))


def execute_on_npu(preset: str) -> Execute:
    """How to execute on a preset: compile, simulate, read the outputs from simulated DRAM."""

    def execute(graph: Graph, inputs: Sequence[Array], numerics: Numerics) -> list[Array]:
        prepared = npu(preset).prepare(graph, CompilationOptions(numerics=numerics))
        return list(prepared.execute(inputs, RunOptions()).outputs)

    return execute


DEVICES = (
    pytest.param(REFERENCE),
    *(pytest.param(preset, marks=[] if preset == "tiny" else pytest.mark.slow) for preset in PRESETS),
)
"""Parameters for suites with many cases: by default the machine that must tile everything stands for all."""

EXECUTORS: dict[str, Execute] = {
    REFERENCE: execute_on_reference,
    **{preset: execute_on_npu(preset) for preset in PRESETS},
}
"""Every device, by name."""
