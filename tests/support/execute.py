"""The ways to execute a graph, for tests that must hold on all of them."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy.typing as npt
import pytest

from compiler.graph import Graph
from compiler.nnapi import Numerics
from compiler.passes.legalise import legalise
from compiler.reference.interpreter import run_graph
from compiler.specialise import specialise
from npu_sim.config_io import load_machine
from runtime.device import CompilationOptions, RunOptions
from runtime.devices.npu import NpuDevice

Array = npt.NDArray[Any]
Execute = Callable[[Graph, Sequence[Any], Numerics], list[Array]]
"""Outputs of a graph, in its order, for the given inputs; raises CompilerError if it refuses the graph.

Inputs are arrays, or None where the graph takes one as optional.
"""

REFERENCE = "reference"
PRESETS = ("tiny", "phone")


def execute_on_reference(graph: Graph, inputs: Sequence[Any], numerics: Numerics) -> list[Array]:
    """Outputs by the reference functions."""
    values = run_graph(graph, inputs, numerics)
    return [values[number] for number in graph.outputs]


@functools.cache
def npu(preset: str) -> NpuDevice:
    """The simulated machine of a preset."""
    return NpuDevice(load_machine(preset))


def execute_on_npu(preset: str) -> Execute:
    """How to execute on a preset: what its NPU can do there, the rest on its host."""

    def execute(graph: Graph, inputs: Sequence[Any], numerics: Numerics) -> list[Array]:
        shapes = [None if value is None else value.shape for value in inputs]
        legal = legalise(specialise(graph, shapes), numerics)
        prepared = npu(preset).prepare(legal, CompilationOptions(numerics=numerics))
        given = [value for value in inputs if value is not None]
        return list(prepared.execute(given, RunOptions()).outputs)

    return execute


PRESET_MARKS: dict[str, list[Any]] = {
    preset: [] if preset == "tiny" else [pytest.mark.slow] for preset in PRESETS
}
"""For suites with many cases: by default the machine that must tile everything stands for all."""


def on_devices(on_reference: Iterable[Any], on_npu: Iterable[Any]) -> list[Any]:
    """Parameters (device, case): some cases on the reference, those the compiler has on each preset.

    A case is a name or several.
    """
    npu_cases = list(on_npu)
    return [_parameter(REFERENCE, case, []) for case in on_reference] + [
        _parameter(preset, case, PRESET_MARKS[preset]) for preset in PRESETS for case in npu_cases
    ]


def _parameter(device: str, case: Any, marks: list[Any]) -> Any:
    names = (case,) if isinstance(case, str) else case
    return pytest.param(device, case, marks=marks, id="-".join((device, *names)))


EXECUTORS: dict[str, Execute] = {
    REFERENCE: execute_on_reference,
    **{preset: execute_on_npu(preset) for preset in PRESETS},
}
"""Every device, by name."""
