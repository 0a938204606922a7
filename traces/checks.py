"""Invariants of a recorded run, as messages about what breaks them."""

from collections.abc import Iterator

import numpy as np

from npu_sim.events import StallReason
from traces.metrics import DRAM_BYTE_ACTIONS
from traces.trace_log import Int64Array, TraceLog

_SLOWDOWN_REASONS = (StallReason.SRAM, StallReason.DRAM)
"""Reasons for which a unit stalls while it executes."""


def violations(log: TraceLog, *, dram_bytes: int | None = None) -> list[str]:
    """Say what is wrong with a log; an empty list means that every invariant holds.

    Spans and stalls are closed (0 <= start <= end); those of one lane do not overlap among themselves; a
    stall lies outside all spans of its lane or, if it is for SRAM or DRAM, within one; amounts are not
    negative; on lanes that retire instructions, every span's instruction retires, not before the span ends.
    With `dram_bytes` (bytes read and written that the run reports) also: the recorded DRAM traffic is exactly
    that.
    """
    found = [*_open_intervals(log), *_negative_amounts(log), *_retirement(log)]
    for lane in log.lanes:
        found += _overlaps(log, lane)
    if dram_bytes is not None:
        found += _traffic(log, dram_bytes)
    return found


def _open_intervals(log: TraceLog) -> Iterator[str]:
    for kind, columns in (("span", log.spans), ("stall", log.stalls)):
        bad = (columns.start < 0) | (columns.end < columns.start)
        for i in np.flatnonzero(bad):
            name, start, end = log.names[columns.lane[i]], columns.start[i], columns.end[i]
            yield f"{kind} of {name} runs from cycle {start} to {end}; 0 <= start <= end must hold"


def _negative_amounts(log: TraceLog) -> Iterator[str]:
    for i in np.flatnonzero(log.activities.amount < 0):
        name, action = log.names[log.activities.lane[i]], log.names[log.activities.action[i]]
        yield f"activity {action} of {name}: amount is {log.activities.amount[i]}; it must not be negative"


def _retirement(log: TraceLog) -> Iterator[str]:
    retires = log.retires
    keys = zip(retires.lane.tolist(), retires.instruction.tolist(), strict=True)
    retired = dict(zip(keys, retires.cycle.tolist(), strict=True))
    retiring_lanes = set(retires.lane.tolist())
    columns = (log.spans.lane, log.spans.instruction, log.spans.end, log.spans.what)
    for lane, instruction, end, what in zip(*(column.tolist() for column in columns), strict=True):
        who = f"instruction {instruction} ({log.names[what]}) of {log.names[lane]}"
        cycle = retired.get((lane, instruction))
        if cycle is None and lane in retiring_lanes:
            yield f"{who} has a span but never retires"
        elif cycle is not None and cycle < end:
            yield f"{who} retires at cycle {cycle}, before the end of its span at {end}"


def _overlaps(log: TraceLog, lane: int) -> Iterator[str]:
    name = log.names[lane]
    spans = log.spans.lane == lane
    stalls = log.stalls.lane == lane
    starts, ends = _sorted(log.spans.start[spans], log.spans.end[spans])
    for kind, begins, stops in (
        ("spans", starts, ends),
        ("stalls", *_sorted(log.stalls.start[stalls], log.stalls.end[stalls])),
    ):
        for i in np.flatnonzero(begins[1:] < stops[:-1]):
            yield f"{kind} of {name} overlap: one ends at cycle {stops[i]}, another starts at {begins[i + 1]}"
    columns = (log.stalls.start, log.stalls.end, log.stalls.reason)
    for begin, end, reason in zip(*(column[stalls].tolist() for column in columns), strict=True):
        place = int(np.searchsorted(ends, begin, side="right"))
        if begin == end or place == len(starts) or end <= starts[place]:
            continue
        within = starts[place] <= begin and end <= ends[place]
        if not within or log.names[reason] not in _SLOWDOWN_REASONS:
            yield (
                f"{log.names[reason]} stall of {name}, cycles {begin} to {end}, overlaps the span "
                f"from {starts[place]} to {ends[place]}"
            )


def _sorted(start: Int64Array, end: Int64Array) -> tuple[Int64Array, Int64Array]:
    order = np.lexsort((end, start))
    return start[order], end[order]


def _traffic(log: TraceLog, dram_bytes: int) -> Iterator[str]:
    actions = [index for name in DRAM_BYTE_ACTIONS if (index := log.index_of(name)) is not None]
    recorded = int(log.activities.amount[np.isin(log.activities.action, actions)].sum())
    if recorded != dram_bytes:
        yield f"recorded DRAM traffic is {recorded} bytes; the run reports {dram_bytes}"
