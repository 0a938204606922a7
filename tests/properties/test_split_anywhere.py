"""Whatever part of a graph the host takes over, the values and the sums stay right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.graph import Graph
from compiler.nnapi import Numerics
from compiler.partition import npu_refusals
from compiler.passes.legalise import legalise
from compiler.reference.interpreter import run_graph
from isa.target import Target
from runtime.device import CompilationOptions, RunOptions
from runtime.devices import npu as npu_module
from runtime.devices.npu import NpuDevice
from tests.support.graphs import random_graph, random_inputs
from tests.support.machines import random_machine

seeds = st.integers(0, 2**32 - 1)


def _check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    raw = random_graph(seed, int(rng.integers(2, 8)))
    graph, values = legalise(raw, Numerics.NNAPI), random_inputs(raw, seed)
    taken = rng.random(len(graph.operations)) < rng.uniform(0, 1)

    def refusals(graph: Graph, target: Target, numerics: Numerics) -> dict[int, str]:
        arbitrary = {int(number): "the test says so" for number in np.flatnonzero(taken)}
        return npu_refusals(graph, target, numerics) | arbitrary

    options = CompilationOptions(keep_tensors=bool(rng.random() < 0.3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(npu_module, "npu_refusals", refusals)
        prepared = NpuDevice(random_machine(rng)).prepare(graph, options)
    result = prepared.execute(values, RunOptions())
    expected = run_graph(graph, values)
    for number, output in zip(graph.outputs, result.outputs, strict=True):
        np.testing.assert_array_equal(output, expected[number])
    for number, tensor in result.tensors.items():
        np.testing.assert_array_equal(tensor, expected[number])
    simulation = result.simulation
    assert simulation is not None
    assert sum(layer.cycles for layer in simulation.layers) == simulation.cycles
    assert sum(layer.energy_aj for layer in simulation.layers) == simulation.energy_aj
    assert {fallback.operation for fallback in result.fallbacks} >= set(np.flatnonzero(taken).tolist())
    timed = prepared.execute([], RunOptions(functional=False)).simulation
    assert timed is not None
    assert (timed.cycles, timed.energy_aj) == (simulation.cycles, simulation.energy_aj)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_values_and_sums_hold_wherever_the_graph_is_split(seed: int) -> None:
    _check(seed)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(seeds)
def test_values_and_sums_hold_wherever_the_graph_is_split_at_length(seed: int) -> None:
    _check(seed)
