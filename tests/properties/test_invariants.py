"""What must hold for every run, whatever the network and the machine."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import PlacementError
from compiler.options import CompileOptions, Objective
from npu_sim.config import MachineConfig
from npu_sim.events import StallReason
from npu_sim.npu import simulate
from npu_sim.result import SimResult
from tests.support.graphs import random_graph
from tests.support.machines import compile_for, machine, random_machine

seeds = st.integers(0, 2**32 - 1)


def _timed(seed: int, config: MachineConfig, objective: Objective = Objective.CYCLES, size: int = 12):
    graph = random_graph(seed, 1 + seed % 6, size=size, channels=24)
    executable = compile_for(graph, config, CompileOptions(objective=objective))
    point = config.preferences["fast_single_answer"]
    return executable, simulate(executable.program, config, point, {}, functional=False)


def _dram_bytes(result: SimResult) -> int:
    return result.dram_bytes_read + result.dram_bytes_written - result.dram_bytes_fetched


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_no_run_beats_its_bounds(seed):
    config = random_machine(np.random.default_rng(seed))
    try:
        executable, result = _timed(seed, config)
    except PlacementError:
        return
    assert executable.lb_peak_cycles <= executable.lb_mapped_cycles <= result.cycles
    assert executable.bounds.compulsory_bytes <= _dram_bytes(result)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_memories_that_cost_no_time_stall_nobody(seed):
    _, result = _timed(seed, machine("ideal"))
    memory = (StallReason.SRAM, StallReason.DRAM)
    assert sum(unit.stalls.get(reason, 0) for unit in result.units.values() for reason in memory) == 0


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_more_sram_never_means_more_traffic_when_bytes_are_minimised(seed):
    traffic = []
    for kib in (16, 24, 32, 48, 64, 128, 256):
        config = machine("tiny", f"sram.kib={kib}")
        try:
            _, result = _timed(seed, config, Objective.BYTES, size=28)
        except PlacementError:
            continue
        traffic.append(_dram_bytes(result))
    assert traffic == sorted(traffic, reverse=True)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(seeds)
def test_no_run_of_many_beats_its_bounds(seed):
    test_no_run_beats_its_bounds.hypothesis.inner_test(seed)
