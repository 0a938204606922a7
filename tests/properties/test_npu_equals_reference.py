"""Random networks on random machines: the NPU's bytes are the reference's, timed or not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import PlacementError
from compiler.options import CompileOptions, Objective, TileLimits
from compiler.reference.interpreter import run_graph
from npu_sim.npu import simulate
from tests.support.graphs import random_graph, random_inputs
from tests.support.machines import compile_for, random_machine

seeds = st.integers(0, 2**32 - 1)


def _options(rng: np.random.Generator) -> CompileOptions:
    def limit() -> int | None:
        return int(rng.integers(1, 9)) if rng.random() < 0.25 else None

    return CompileOptions(
        objective=rng.choice(list(Objective)),
        keep_tensors=bool(rng.random() < 0.3),
        tile_limits=TileLimits(height=limit(), width=limit(), channels=limit(), reduction=limit()),
    )


def _check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, int(rng.integers(1, 7)))
    values = random_inputs(graph, seed)
    config = random_machine(rng)
    try:
        program = compile_for(graph, config, _options(rng)).program
    except PlacementError:
        return
    named = {s.name: values[graph.inputs.index(s.operand)] for s in program.symbols if s.role == "input"}
    point = config.preferences["fast_single_answer"]
    result = simulate(program, config, point, named)
    expected = run_graph(graph, values)
    for operand, value in result.tensors.items():
        np.testing.assert_array_equal(value.reshape(-1), expected[operand].reshape(-1))
    timing = simulate(program, config, point, {}, functional=False)
    assert (timing.cycles, timing.energy_aj, timing.layers) == (
        result.cycles,
        result.energy_aj,
        result.layers,
    )
    assert sum(layer.cycles for layer in result.layers) == result.cycles
    assert sum(layer.energy_aj for layer in result.layers) == result.energy_aj
    for unit in result.units.values():
        assert unit.busy + sum(unit.stalls.values()) + unit.idle == result.cycles


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_the_npu_computes_the_references_bytes(seed):
    _check(seed)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(seeds)
def test_the_npu_computes_the_references_bytes_on_many_networks(seed):
    _check(seed)
