import dataclasses
import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npu_sim.memory import dram
from npu_sim.memory.dram import DramTiming, dram_access, sustained_bytes_per_second

LPDDR4X = DramTiming(
    peak_bytes_per_second=17_064_000_000,
    burst_bytes=64,
    page_bytes=4096,
    row_change_ps=18_300,
    latency_ps=150_000,
    refresh_interval_ps=3_912_000,
    refresh_ps=381_000,
)
SMALL = dataclasses.replace(LPDDR4X, burst_bytes=4, page_bytes=16)


RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def touched_in_order(unit_bytes, offset, run, counts, strides):
    """Units touched byte by byte, each counted when it differs from the one before; runs joined first."""
    total, previous = 0, None
    for position in itertools.product(*(range(n) for n in reversed(counts))):
        start = offset + sum(i * s for i, s in zip(reversed(position), strides, strict=True))
        for byte in range(start, start + run):
            total += byte // unit_bytes != previous
            previous = byte // unit_bytes
    return total


offsets = st.integers(0, 100)
runs = st.integers(1, 40)
counts3 = st.tuples(*[st.integers(1, 4)] * 3)
strides3 = st.tuples(*[st.integers(0, 70)] * 3)


@settings(RELAXED, max_examples=300)
@given(offsets, runs, counts3, strides3)
def test_bursts_and_pages_equal_a_walk_over_every_byte(offset, run, counts, strides):
    access = dram_access(SMALL, offset, run, counts, strides)
    assert access.touched_bytes == 4 * touched_in_order(4, offset, run, counts, strides)
    assert access.row_segments == touched_in_order(16, offset, run, counts, strides)


@RELAXED
@given(offsets, runs, counts3, strides3)
def test_an_access_in_pieces_equals_the_access_at_once(offset, run, counts, strides):
    whole = dram_access(SMALL, offset, run, counts, strides)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dram, "_MAX_RUNS_AT_ONCE", 3)
        dram._access.cache_clear()
        pieces = dram_access(SMALL, offset, run, counts, strides)
    dram._access.cache_clear()
    assert pieces == whole


def test_time_of_one_page_by_hand():
    assert dram_access(LPDDR4X, 0, 4096) == (
        -(-(4096 * 10**12 + 18_300 * 17_064_000_000) * 3912 // (17_064_000_000 * (3912 - 381))),
        4096,
        1,
    )


def test_long_sequential_access_reaches_four_fifths_of_the_peak():
    size = 1 << 22
    rate = size * 10**12 / dram_access(LPDDR4X, 0, size).time_ps
    assert 0.80 <= rate / LPDDR4X.peak_bytes_per_second <= 0.85


def test_sustained_rate_is_that_of_a_long_sequential_access():
    size = 1 << 30
    rate = size * 10**12 / dram_access(LPDDR4X, 0, size).time_ps
    assert sustained_bytes_per_second(LPDDR4X) == pytest.approx(rate, rel=1e-6)


def test_no_access_is_faster_than_the_sustained_rate_per_page():
    time = dram_access(LPDDR4X, 0, 4096).time_ps
    assert time * (sustained_bytes_per_second(LPDDR4X) + 1) >= 4096 * 10**12


def test_scattered_runs_take_longer_than_the_same_bytes_in_sequence():
    scattered = dram_access(LPDDR4X, 0, 64, (64,), (8192,))
    assert scattered.time_ps > 2 * dram_access(LPDDR4X, 0, 64 * 64).time_ps


def test_runs_that_join_are_one_run():
    assert dram_access(LPDDR4X, 24, 96, (8, 3), (96, 768)) == dram_access(LPDDR4X, 24, 96 * 24)


@RELAXED
@given(offsets, runs, counts3, strides3, st.integers(0, 3))
def test_more_bytes_never_take_less_time(offset, run, counts, strides, axis):
    more_counts = tuple(n + (i == axis) for i, n in enumerate(counts))
    before = dram_access(SMALL, offset, run, counts, strides)
    after = dram_access(SMALL, offset, run + (axis == 3), more_counts, strides)
    assert after.time_ps >= before.time_ps


@RELAXED
@given(st.integers(0, 10**6), st.integers(1, 10**7))
def test_longer_sequential_accesses_never_take_less_time(offset, run):
    assert dram_access(LPDDR4X, offset, run + 1).time_ps >= dram_access(LPDDR4X, offset, run).time_ps


@RELAXED
@given(st.integers(0, 10**6), st.integers(1, 5000))
def test_touched_bytes_cover_the_bytes(offset, run):
    assert dram_access(LPDDR4X, offset, run).touched_bytes >= run


@pytest.mark.parametrize(
    ("arguments", "where"),
    [((0, 0), "runs of 0"), ((-1, 4), "at -1"), ((0, 4, (0,), (8,)), "counts"), ((0, 4, (2,), ()), "stride")],
)
def test_an_impossible_access_is_refused(arguments, where):
    with pytest.raises(ValueError, match=where):
        dram_access(LPDDR4X, *arguments)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("peak_bytes_per_second", 0),
        ("page_bytes", 100),
        ("row_change_ps", -1),
        ("refresh_ps", 3_912_000),
    ],
)
def test_an_impossible_timing_is_refused(field, value):
    with pytest.raises(ValueError, match=f"dram: {field} is {value}"):
        dataclasses.replace(LPDDR4X, **{field: value})
