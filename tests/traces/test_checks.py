import pytest
from hypothesis import given, settings

from npu_sim.events import Activity, Retire, Span, Stall, StallReason
from tests.traces.synthetic import EXAMPLE, legal_runs, record
from traces import violations

BROKEN = {
    "open_span": ([Span(9, 5, "dma0", "Load", 0, 0)], "span of dma0 runs from cycle 9 to 5"),
    "negative_time": ([Stall(-1, 5, "dma0", StallReason.DRAM)], "stall of dma0 runs from cycle -1 to 5"),
    "overlapping_spans": (
        [Span(0, 9, "dma0", "Load", 0, 0), Span(8, 12, "dma0", "Load", 1, 0)],
        "spans of dma0 overlap: one ends at cycle 9, another starts at 8",
    ),
    "overlapping_stalls": (
        [Stall(0, 9, "dma0", StallReason.SEMAPHORE), Stall(8, 12, "dma0", StallReason.SEMAPHORE)],
        "stalls of dma0 overlap",
    ),
    "wait_while_working": (
        [Span(0, 9, "dma0", "Load", 0, 0), Stall(8, 12, "dma0", StallReason.SEMAPHORE)],
        "semaphore stall of dma0, cycles 8 to 12, overlaps the span",
    ),
    "wait_around_work": (
        [Span(4, 5, "dma0", "Load", 0, 0), Stall(0, 9, "dma0", StallReason.SEMAPHORE)],
        "semaphore stall of dma0, cycles 0 to 9, overlaps the span",
    ),
    "slowed_across_the_end": (
        [Span(0, 9, "dma0", "Load", 0, 0), Stall(8, 12, "dma0", StallReason.DRAM)],
        "dram stall of dma0, cycles 8 to 12, overlaps the span from 0 to 9",
    ),
    "negative_amount": ([Activity(3, "dma0", "dma_byte", -4, 0)], "amount is -4"),
    "early_retirement": (
        [Span(5, 9, "dma0", "Load", 3, 0), Retire(8, "dma0", 3, 0)],
        "instruction 3 (Load) of dma0 retires at cycle 8, before the end of its span at 9",
    ),
    "no_retirement": (
        [Span(5, 9, "dma0", "Load", 3, 0), Retire(4, "dma0", 2, 0)],
        "instruction 3 (Load) of dma0 has a span but never retires",
    ),
}


def test_the_example_keeps_every_rule():
    assert violations(record(EXAMPLE), dram_bytes=1600 + 1280 + 640) == []


def test_lanes_that_retire_nothing_need_no_retirement():
    assert violations(record([Span(0, 9, "fetch", "Load", 3, 0), Retire(20, "dma0", 3, 0)])) == []


def test_results_may_be_awaited_after_a_span():
    waits = [Stall(9, 12, "dma0", StallReason.DRAM), Stall(9, 12, "matrix0", StallReason.OUTPUT_STAGE)]
    spans = [Span(0, 9, "dma0", "Load", 3, 0), Span(0, 9, "matrix0", "Convolve", 4, 0)]
    assert violations(record([*spans, *waits])) == []


@settings(max_examples=60)
@given(legal_runs())
def test_legal_runs_keep_every_rule(events):
    assert violations(record(events)) == []


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_reported(case):
    events, message = BROKEN[case]
    assert any(message in line for line in violations(record(events)))


def test_lost_bytes_are_reported():
    assert violations(record(EXAMPLE), dram_bytes=4000) == [
        "recorded DRAM traffic is 3520 bytes; the run reports 4000"
    ]
