"""Logs of real runs agree with what the simulator reports."""

import numpy as np
import pytest

import runtime
from npu_sim.actions import Action
from npu_sim.config_io import load_machine
from npu_sim.power.energy_table import energy_table
from runtime.digits import digits_model, held_out
from tests.traces.trace_event_format import check_document
from traces import (
    EnergyPrices,
    Recorder,
    TraceHeader,
    layer_windows,
    power_w,
    trace_document,
    utilisation,
    violations,
    window_edges,
)
from traces.metrics import DRAM_BYTE_ACTIONS

MACHINES = ["phone", "tiny", "ideal"]


@pytest.fixture(scope="module", params=MACHINES)
def run(request):
    recorder = Recorder()
    images, _ = held_out()
    result = runtime.run(
        digits_model(), [images[:1]], machine=request.param, preference="low_power", hooks=[recorder]
    )
    report = result.to_json_dict()
    return result, report, recorder.log(TraceHeader.from_report(report))


def prices_of(machine):
    config = load_machine(machine)
    table = energy_table(config, config.operating_point(config.preferences["low_power"]))
    return EnergyPrices(table.action_aj, sum(table.static_aj_per_cycle.values()))


def test_the_log_ends_when_the_run_ends(run):
    result, _, log = run
    assert log.cycles == result.cycles


def test_no_invariant_is_broken_and_no_byte_is_lost(run):
    _, report, log = run
    assert violations(log, dram_bytes=report["dram_bytes_read"] + report["dram_bytes_written"]) == []


def test_layer_windows_are_the_reported_cycles(run):
    result, _, log = run
    assert [end - start for _, start, end in layer_windows(log)] == [layer.cycles for layer in result.layers]


def test_utilisation_is_the_reported_busy_time(run):
    _, report, log = run
    edges = window_edges(log, 17)
    worked = {lane: float(share @ np.diff(edges)) for lane, share in utilisation(log, edges).items()}
    for unit, cycles in report["units"].items():
        assert worked.get(unit, 0.0) == pytest.approx(cycles["busy"])


def test_power_over_time_is_the_reported_energy(run):
    result, report, log = run
    edges = window_edges(log)
    power = power_w(log, edges, prices_of(report["machine"]))
    assert float(power @ np.diff(edges)) / report["frequency_hz"] == pytest.approx(result.energy_j, rel=1e-9)


def test_the_exported_document_is_valid(run):
    _, report, log = run
    check_document(trace_document(log, energies=prices_of(report["machine"])))


def test_only_slices_too_short_to_draw_lose_their_arrows(run):
    _, _, log = run
    document = trace_document(log)
    arrows = [event for event in document["traceEvents"] if event["ph"] == "s"]
    too_short = document["otherData"]["slices_below_1_ns"]
    assert len(log.flows.cycle) - too_short <= len(arrows) <= len(log.flows.cycle)
    assert arrows


def test_bandwidth_counts_actions_that_exist():
    assert set(DRAM_BYTE_ACTIONS) <= set(Action)
