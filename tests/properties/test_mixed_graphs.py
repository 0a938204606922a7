"""Random branching graphs of both types, split between random NPUs and their hosts, agree with the reference.

Bytes and integers are the reference's. A float operation's result is compared with the reference's on the
inputs that the run itself gave the operation: AOSP's tolerance is for one operation, and the errors of
several add up.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import PlacementError
from compiler.graph import Graph, Operation
from compiler.nnapi import Numerics, OperandCode, OperationCode, PreferenceCode
from compiler.operation import REGISTRY, OperationView
from compiler.passes.legalise import legalise
from compiler.reference.interpreter import run_graph
from isa.target import Target
from npu_sim.config import MachineConfig
from npu_sim.config_io import override
from npu_sim.result import SimResult
from runtime.device import CompilationOptions, DeviceResult, RunOptions
from runtime.devices import npu as npu_module
from runtime.devices.npu import NpuDevice
from tests.support.machines import random_machine
from tests.support.mixed_graphs import random_mixed_graph, random_mixed_inputs
from tests.support.vts import assert_agrees

Array = npt.NDArray[Any]
Values = dict[int, Array]
seeds = st.integers(0, 2**32 - 1)


def _machine(rng: np.random.Generator) -> MachineConfig:
    """A random machine, sometimes without float lanes: then the host computes all float operations."""
    config = random_machine(rng)
    return override(config, ["vector.float_lanes=0"]) if rng.random() < 0.15 else config


def _impossible(graph: Graph, target: Target, numerics: Numerics) -> dict[int, str]:
    """Only what the NPU cannot run, so that the graph is split at more places than pay."""
    reasons = {
        number: REGISTRY[operation.code].npu_refusal(OperationView(graph, operation, numerics), target)
        for number, operation in enumerate(graph.operations)
    }
    return {number: reason for number, reason in reasons.items() if reason is not None}


def _run(
    graph: Graph, values: Sequence[Array], config: MachineConfig, options: CompilationOptions
) -> DeviceResult:
    """Run on the machine; with more SRAM if no tile of some operation fits. Sums and timed runs are right."""
    try:
        prepared = NpuDevice(config).prepare(graph, options)
    except PlacementError:
        prepared = NpuDevice(override(config, ["sram.kib=512"])).prepare(graph, options)
    result = prepared.execute(values, RunOptions())
    timed = prepared.execute([], RunOptions(functional=False))
    assert result.simulation is not None
    assert timed.simulation is not None
    _check_sums(result.simulation, timed.simulation)
    return result


def _check_sums(simulation: SimResult, timed: SimResult) -> None:
    facts = (simulation.cycles, simulation.energy_aj, simulation.layers)
    assert facts == (timed.cycles, timed.energy_aj, timed.layers)
    assert sum(layer.cycles for layer in simulation.layers) == simulation.cycles
    assert sum(layer.energy_aj for layer in simulation.layers) == simulation.energy_aj
    assert sum(simulation.energy_breakdown_aj.values()) == simulation.energy_aj


def _reference_of(graph: Graph, operation: Operation, values: Values) -> list[Array]:
    """The operation's results by the reference, on the run's own inputs."""
    inputs = tuple(dict.fromkeys(number for number in operation.inputs if number in values))
    alone = dataclasses.replace(graph, operations=(operation,), inputs=inputs, outputs=operation.outputs)
    known = run_graph(alone, [values[number] for number in inputs])
    return [known[number] for number in operation.outputs]


def _check_operation(graph: Graph, operation: Operation, values: Values) -> None:
    expected = _reference_of(graph, operation, values)
    for position, (number, result) in enumerate(zip(operation.outputs, expected, strict=True)):
        if operation.code is OperationCode.LSTM and position == 0:
            continue  # the scratch's contents mean nothing
        assert_agrees(values[number], result)


def _check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        if rng.random() < 0.6:
            patch.setattr(npu_module, "npu_refusals", _impossible)
        _check_graph(seed, rng)


def _check_graph(seed: int, rng: np.random.Generator) -> None:
    raw = random_mixed_graph(seed)
    graph, given_values = legalise(raw, Numerics.NNAPI), random_mixed_inputs(raw, seed)
    config, preference = _machine(rng), PreferenceCode(int(rng.integers(0, 3)))
    options = CompilationOptions(preference=preference, keep_tensors=True)
    kept = _run(graph, given_values, config, options)
    values = dict(zip(graph.inputs, given_values, strict=True)) | kept.tensors
    for operation in graph.operations:
        _check_operation(graph, operation, values)
    expected = run_graph(graph, given_values)
    for number, value in values.items():
        if graph.operands[number].type.code is OperandCode.TENSOR_QUANT8_ASYMM:
            np.testing.assert_array_equal(value, expected[number])
    plain = _run(graph, given_values, config, dataclasses.replace(options, keep_tensors=False))
    for number, output in zip(graph.outputs, plain.outputs, strict=True):
        np.testing.assert_array_equal(output, values[number])


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_branching_graphs_of_both_types_agree_with_the_reference(seed: int) -> None:
    _check(seed)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(seeds)
def test_many_branching_graphs_of_both_types_agree_with_the_reference(seed: int) -> None:
    _check(seed)
