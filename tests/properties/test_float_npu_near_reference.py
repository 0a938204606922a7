"""Random float networks on random machines: each operation is within AOSP's tolerance of the reference."""

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import PlacementError
from compiler.graph import Graph, Operation
from compiler.options import CompileOptions, Objective, TileLimits
from compiler.reference.interpreter import run_graph
from tests.support.float_graphs import random_float_graph, random_float_inputs
from tests.support.machines import random_machine
from tests.support.vts import assert_agrees
from tests.support.whole_npu import simulate_whole

Values = dict[int, npt.NDArray[Any]]
seeds = st.integers(0, 2**32 - 1)


def _options(rng: np.random.Generator) -> CompileOptions:
    def limit() -> int | None:
        return int(rng.integers(1, 9)) if rng.random() < 0.25 else None

    limits = TileLimits(height=limit(), width=limit(), channels=limit())
    return CompileOptions(objective=rng.choice(list(Objective)), tile_limits=limits)


def _reference_of(graph: Graph, operation: Operation, values: Values) -> npt.NDArray[Any]:
    """The operation's result by the reference, on the NPU's own inputs: differences do not add up."""
    inputs = tuple(dict.fromkeys(n for n in operation.inputs if n in values))
    alone = dataclasses.replace(graph, operations=(operation,), inputs=inputs, outputs=operation.outputs)
    return run_graph(alone, [values[n] for n in inputs])[operation.outputs[0]]


def _check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_float_graph(seed, int(rng.integers(1, 7)))
    given_values = random_float_inputs(graph, seed)
    config = random_machine(rng)
    try:
        kept = simulate_whole(graph, given_values, config, CompileOptions(keep_tensors=True))
        options = _options(rng)
        tiled = simulate_whole(graph, given_values, config, options)
    except PlacementError:
        return
    values = dict(zip(graph.inputs, given_values, strict=True)) | kept.tensors
    for operation in graph.operations:
        with np.errstate(all="ignore"):
            expected = _reference_of(graph, operation, values)
        assert_agrees(values[operation.outputs[0]].reshape(expected.shape), expected)
    for output in graph.outputs:
        np.testing.assert_array_equal(tiled.tensors[output], values[output])
    other = simulate_whole(graph, random_float_inputs(graph, seed + 1), config, options)
    assert (other.cycles, other.energy_aj, other.layers) == (tiled.cycles, tiled.energy_aj, tiled.layers)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_operations_are_near_the_reference_and_neither_tiles_nor_data_matter(seed: int) -> None:
    _check(seed)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(seeds)
def test_many_networks_are_near_the_reference(seed: int) -> None:
    _check(seed)
