"""Numbers over windows of time: utilisation, DRAM bandwidth, power.

Windows are given by their edges, increasing cycles; window k is [edges[k], edges[k + 1]). A recorded activity
carries the cycle by which it had happened, not when it began. It is spread evenly over the span of the
instruction that retired on its lane in that cycle. Where none did, over the last span of its lane begun
before that cycle, up to that cycle; on a lane without spans it counts in the cycle before.
"""

import bisect
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from traces.trace_log import Int64Array, TraceLog, retired_spans, slowdowns

FloatArray = npt.NDArray[np.float64]
_AnyIntArray = npt.NDArray[np.signedinteger]

DRAM_BYTE_ACTIONS = ("dram_read_byte", "dram_write_byte")
"""Actions whose amounts are bytes that crossed the DRAM interface."""


class EnergyPrices(NamedTuple):
    """What events cost at one operating point."""

    action_aj: Mapping[str, int]
    """Energy of one event of each action, attojoules."""
    static_aj_per_cycle: int
    """Energy of a cycle in which nothing is counted, attojoules."""


_WATTS_PER_AJ_HZ = 1e-18
_GB_PER_BYTE = 1e-9


def window_edges(log: TraceLog, count: int = 256) -> Int64Array:
    """Edges of at most `count` windows of equal length (to a cycle) that cover the run; no window is empty.

    Raises:
        ValueError: `count` is not positive.

    """
    if count < 1:
        raise ValueError(f"window_edges: count is {count}; at least one window is needed")
    last = max(log.cycles, 1)
    count = min(count, last)
    return np.arange(count + 1, dtype=np.int64) * last // count


def utilisation(log: TraceLog, edges: Int64Array) -> dict[str, FloatArray]:
    """Share of each window (0 to 1) in which each lane worked; time lost to slow memories is not work."""
    slowdown = slowdowns(log)
    width = np.diff(edges)
    shares = {}
    for lane in log.lanes:
        spans = (log.spans.lane == lane) & (log.spans.end > log.spans.start)
        stalls = (log.stalls.lane == lane) & slowdown
        busy = _accumulated(log.spans.start[spans], log.spans.end[spans], None, edges)
        lost = _accumulated(log.stalls.start[stalls], log.stalls.end[stalls], None, edges)
        shares[log.names[lane]] = (np.diff(busy) - np.diff(lost)) / width
    return shares


def dram_bandwidth_gbps(log: TraceLog, edges: Int64Array) -> FloatArray:
    """Mean DRAM traffic of each window, reads and writes together, in gigabytes (1e9 bytes) per second."""
    weights = np.array([name in DRAM_BYTE_ACTIONS for name in log.names], dtype=np.float64)
    return _rate(log, edges, weights) * log.header.frequency_hz * _GB_PER_BYTE


def power_w(log: TraceLog, edges: Int64Array, energies: EnergyPrices) -> FloatArray:
    """Mean power of each window in watts: counted activities times their energies, plus the static energy.

    Raises:
        ValueError: an action was recorded that the table does not list.

    """
    recorded = {log.names[index] for index in np.unique(log.activities.action)}
    missing = sorted(recorded - energies.action_aj.keys())
    if missing:
        known = ", ".join(sorted(energies.action_aj))
        raise ValueError(
            f"power_w: no energy for the recorded action {missing[0]!r}; the table lists {known}"
        )
    weights = np.array([float(energies.action_aj.get(name, 0)) for name in log.names], dtype=np.float64)
    aj_per_cycle = _rate(log, edges, weights) + energies.static_aj_per_cycle
    return aj_per_cycle * log.header.frequency_hz * _WATTS_PER_AJ_HZ


def _rate(log: TraceLog, edges: Int64Array, weight_of_name: FloatArray) -> FloatArray:
    """Weighted activities per cycle in each window."""
    if not log.activities.cycle.size:
        return np.zeros(len(edges) - 1)
    amount = log.activities.amount * weight_of_name[log.activities.action]
    counted = amount != 0
    intervals = _activity_intervals(log)[counted]
    accumulated = _accumulated(intervals[:, 0], intervals[:, 1], amount[counted], edges)
    return np.diff(accumulated) / np.diff(edges)


def _activity_intervals(log: TraceLog) -> npt.NDArray[np.int64]:
    """Find over which cycles each activity is spread; rows (start, end), see the module's docstring."""
    retiring = _retiring_spans(log)
    starts = {lane: sorted(log.spans.start[log.spans.lane == lane].tolist()) for lane in log.lanes}
    rows = []
    for lane, cycle in zip(log.activities.lane.tolist(), log.activities.cycle.tolist(), strict=True):
        interval = retiring.get((lane, cycle))
        if interval is None:
            begun = bisect.bisect_left(starts.get(lane, []), cycle)
            interval = (starts[lane][begun - 1], cycle) if begun else (cycle - 1, cycle)
        rows.append(interval)
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _retiring_spans(log: TraceLog) -> dict[tuple[int, int], tuple[int, int]]:
    """Map (lane, cycle) to the span, or the hull of the spans, of what retired there then."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for lane, cycle, start, end in retired_spans(log):
        first, last = found.get((lane, cycle), (start, end))
        found[lane, cycle] = (min(start, first), max(end, last))
    return found


def _accumulated(
    start: _AnyIntArray, end: _AnyIntArray, amount: FloatArray | None, edges: Int64Array
) -> FloatArray:
    """Integrate up to each edge, where amount[i] comes evenly during [start[i], end[i]).

    `amount` None means one per cycle. Intervals shorter than a cycle are taken as the cycle before their end.
    """
    if not start.size:
        return np.zeros(len(edges))
    end = np.maximum(end, 1)
    start = np.clip(start, 0, end - 1)
    density = np.ones(start.shape) if amount is None else amount / (end - start)
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    times = times[order]
    slopes = np.cumsum(np.concatenate([density, -density])[order])
    values = np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(times))])
    # What comes together never shrinks; rounding of the slopes may say so in the last digit.
    integral: FloatArray = np.interp(edges, times, np.maximum.accumulate(values))
    return integral
