import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings

from npu_sim.events import Activity, Retire, Span, Stall, StallReason
from tests.traces.synthetic import ENERGIES, EXAMPLE, HEADER, legal_runs, record
from traces import EnergyPrices, dram_bandwidth_gbps, power_w, utilisation, window_edges
from traces.trace_log import slowdowns


def test_windows_cover_the_run_without_a_gap():
    edges = window_edges(record(EXAMPLE), 7)
    assert edges[0] == 0
    assert edges[-1] == 800
    assert set(np.diff(edges)) <= {114, 115}


def test_there_are_never_more_windows_than_cycles():
    log = record([Span(0, 3, "dma0", "Load", 0, 0)])
    assert window_edges(log, 100).tolist() == [0, 1, 2, 3]


def test_no_windows_are_refused():
    with pytest.raises(ValueError, match="count is 0"):
        window_edges(record(EXAMPLE), 0)


def test_utilisation_is_the_working_share_of_each_window():
    log = record([Span(5, 15, "dma0", "Load", 0, 0)])
    assert utilisation(log, np.array([0, 10, 20])) == {"dma0": pytest.approx([0.5, 0.5])}


def test_time_lost_to_dram_is_not_work():
    log = record([Span(0, 10, "dma0", "Load", 0, 0), Stall(6, 10, "dma0", StallReason.DRAM)])
    assert utilisation(log, np.array([0, 10])) == {"dma0": pytest.approx([0.6])}


def test_a_stall_between_spans_takes_nothing_from_work():
    log = record([Stall(0, 5, "dma0", StallReason.SEMAPHORE), Span(5, 10, "dma0", "Load", 0, 0)])
    assert utilisation(log, np.array([0, 10])) == {"dma0": pytest.approx([0.5])}


def test_a_span_without_length_is_no_work():
    log = record([Span(5, 5, "dma0", "Signal", 0, 0), Span(0, 5, "dma0", "Load", 1, 0)])
    assert utilisation(log, np.array([0, 10])) == {"dma0": pytest.approx([0.5])}


def test_bandwidth_is_bytes_over_time_spread_over_the_span():
    # 1,600 bytes in the 100 cycles of the first load: 16 bytes per cycle at 800 MHz are 12.8 GB/s.
    bandwidth = dram_bandwidth_gbps(record(EXAMPLE), np.array([0, 50, 100]))
    assert bandwidth == pytest.approx([12.8, 12.8])


def test_bytes_belong_to_the_transfer_not_to_the_latency_after_it():
    # The bytes of [0, 100) retire with a latency of 60 cycles, while the next transfer runs.
    spans = [Span(0, 100, "dma0", "Load", 0, 0), Span(100, 200, "dma0", "Load", 1, 0)]
    log = record([*spans, Activity(160, "dma0", "dram_read_byte", 1000, 0), Retire(160, "dma0", 0, 0)])
    assert dram_bandwidth_gbps(log, np.array([0, 100, 200])) == pytest.approx([8.0, 0.0])


def test_other_activities_are_no_dram_traffic():
    log = record([Activity(10, "matrix0", "mac_u8", 1000, 0)])
    assert dram_bandwidth_gbps(log, np.array([0, 10])).tolist() == [0.0]


def test_power_of_an_idle_machine_is_its_static_power():
    # 1,000,000 aJ per cycle x 800 MHz = 0.8 mW.
    log = record([Span(0, 10, "dma0", "Load", 0, 0)])
    power = power_w(log, np.array([0, 5, 10]), EnergyPrices({}, 1_000_000))
    assert power == pytest.approx([0.8e-3, 0.8e-3])


def test_power_times_time_is_the_counted_energy():
    log = record(EXAMPLE)
    edges = window_edges(log, 13)
    power = power_w(log, edges, ENERGIES)
    energy_j = float((power * np.diff(edges)).sum()) / log.header.frequency_hz
    # Reads 2,880 x 50,000, writes 640 x 60,000, MACs 90,000 x 100, vector 9,200 x 200, 800 cycles x 7,000.
    assert energy_j == pytest.approx((144_000_000 + 38_400_000 + 9_000_000 + 1_840_000 + 5_600_000) * 1e-18)


def test_an_action_without_an_energy_is_an_error():
    log = record(EXAMPLE)
    with pytest.raises(ValueError, match="no energy for the recorded action 'dram_read_byte'"):
        power_w(log, window_edges(log), EnergyPrices({"mac_u8": 1}, 0))


@settings(max_examples=60)
@given(legal_runs())
def test_windows_lose_no_bytes_and_no_work(events):
    log = record(events)
    edges = window_edges(log, 5)
    hz = log.header.frequency_hz
    moved = float((dram_bandwidth_gbps(log, edges) * np.diff(edges)).sum()) / hz * 1e9
    assert moved == pytest.approx(float(log.activities.amount.sum()))
    lost = int((log.stalls.end - log.stalls.start)[slowdowns(log)].sum())
    worked = sum(float((share * np.diff(edges)).sum()) for share in utilisation(log, edges).values())
    assert worked == pytest.approx(float((log.spans.end - log.spans.start).sum() - lost))


def test_bandwidth_follows_the_frequency():
    fast = record(EXAMPLE, dataclasses.replace(HEADER, frequency_hz=1_600_000_000))
    edges = np.array([0, 100])
    assert dram_bandwidth_gbps(fast, edges) == pytest.approx(2 * dram_bandwidth_gbps(record(EXAMPLE), edges))
