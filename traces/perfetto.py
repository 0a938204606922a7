"""Export to the JSON trace-event format that ui.perfetto.dev and chrome://tracing open.

Format: "Trace Event Format" of the Chromium project. Used: metadata (M), complete slices (X), flows (s, f)
and counters (C) with one value each. `ts` and `dur` are microseconds of simulated time. Viewers keep whole
nanoseconds, so every cycle is mapped to floor(cycle x 1e9 / frequency) nanoseconds, computed in integers, and
durations are differences of such numbers: what does not overlap in cycles does not overlap in the file. Exact
cycles are in `args`. A slice shorter than this grid can show is left out, and their number is in the file's
header.
"""

import bisect
import json
import operator
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

from traces.metrics import EnergyPrices, FloatArray, dram_bandwidth_gbps, power_w, window_edges
from traces.trace_log import Int64Array, TraceLog, layer_windows, retired_spans

_NETWORK = 1
"""Process number of the layer track, and thread number: viewers want thread numbers that occur once."""
_MACHINE = 2
"""Process number of the units' tracks and the counters; the units' threads are numbered from the next on."""

_Event = dict[str, Any]


class _Slice(NamedTuple):
    """A drawn piece of a track: cycles, and what it says."""

    start: int
    end: int
    name: str
    category: str
    args: _Event


def write_perfetto(
    log: TraceLog, path: str | os.PathLike[str], *, energies: EnergyPrices | None = None, windows: int = 512
) -> None:
    """Write a log as a file that appears at `path` complete or not at all; see `dump_perfetto`.

    Raises:
        OSError: the file cannot be written.
        ValueError: `energies` lacks an action that was recorded.

    """
    target = pathlib.Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("xb") as stream:
            dump_perfetto(log, stream, energies=energies, windows=windows)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def dump_perfetto(
    log: TraceLog, stream: IO[bytes], *, energies: EnergyPrices | None = None, windows: int = 512
) -> None:
    """Write a log as trace-event JSON; the same log gives the same bytes.

    With `energies` there is a power counter; `windows` is the largest number of steps of a counter. There is
    one event per line, so that files can be compared and searched line by line.

    Raises:
        ValueError: `energies` lacks an action that was recorded.

    """
    document = trace_document(log, energies=energies, windows=windows)
    events = document.pop("traceEvents")
    stream.write(json.dumps(document)[:-1].encode() + b', "traceEvents": [')
    for i, event in enumerate(events):
        line = json.dumps(event, separators=(",", ":"))
        stream.write(b",\n" if i else b"\n")
        stream.write(line.encode())
    stream.write(b"\n]}\n")


def trace_document(log: TraceLog, *, energies: EnergyPrices | None = None, windows: int = 512) -> _Event:
    """Build the trace-event document: `traceEvents`, `displayTimeUnit`, and the header under `otherData`."""
    clock = _Clock(log.header.frequency_hz)
    tracks = {lane: _lane_slices(log, lane) for lane in log.lanes}
    layers = [_layer_slice(log, *window) for window in layer_windows(log)]
    thread_of = {lane: thread for thread, lane in enumerate(tracks, start=_MACHINE + 1)}

    events = [*_metadata(log, thread_of)]
    events += clock.slices(_NETWORK, _NETWORK, layers)
    for lane, slices in tracks.items():
        events += clock.slices(_MACHINE, thread_of[lane], slices)
    events += _flows(log, clock, thread_of)
    visible_windows = min(windows, log.cycles // clock.cycles_per_ns)
    if visible_windows > 0:
        edges = window_edges(log, visible_windows)
        events += clock.counter("DRAM bandwidth", "GB/s", edges, dram_bandwidth_gbps(log, edges))
        if energies is not None:
            events += clock.counter("Power", "W", edges, power_w(log, edges, energies))
    header = log.header
    return {
        "displayTimeUnit": "ns",
        "otherData": {
            "machine": header.machine,
            "machine_hash": header.machine_hash,
            "program": header.program,
            "frequency_hz": header.frequency_hz,
            "tool_version": header.tool_version,
            "cycles": log.cycles,
            "slices_below_1_ns": clock.left_out,
        },
        "traceEvents": events,
    }


class _Clock:
    """Maps cycles to the file's time, and what happens in cycles to events."""

    def __init__(self, frequency_hz: int) -> None:
        self._frequency_hz = frequency_hz
        self.cycles_per_ns = -(-frequency_hz // 10**9)
        """Fewest whole cycles that last a nanosecond: what takes as long has a length in the file."""
        self.left_out = 0

    def ns(self, cycle: int) -> int:
        return cycle * 10**9 // self._frequency_hz

    def slices(self, process: int, thread: int, slices: list[_Slice]) -> Iterator[_Event]:
        """Slices of one track; an enclosing slice stands before those within it."""
        for piece in sorted(slices, key=lambda piece: (piece.start, -piece.end)):
            start_ns, end_ns = self.ns(piece.start), self.ns(piece.end)
            if start_ns == end_ns:
                self.left_out += 1
                continue
            yield {
                "ph": "X",
                "pid": process,
                "tid": thread,
                "ts": _us(start_ns),
                "dur": _us(end_ns - start_ns),
                "name": piece.name,
                "cat": piece.category,
                "args": {**piece.args, "start_cycle": piece.start, "end_cycle": piece.end},
            }

    def counter(self, name: str, unit: str, edges: Int64Array, values: FloatArray) -> Iterator[_Event]:
        """One step per window, and zero from the end on; six significant digits."""
        for cycle, value in zip(edges.tolist(), [*values.tolist(), 0.0], strict=True):
            yield {
                "ph": "C",
                "pid": _MACHINE,
                "ts": _us(self.ns(cycle)),
                "name": name,
                "args": {unit: float(f"{value:.6g}")},
            }


def _us(ns: int) -> float:
    """Nanoseconds as microseconds; the shortest decimal form of a float keeps each one for 104 days."""
    return ns / 1000


def _lane_slices(log: TraceLog, lane: int) -> list[_Slice]:
    spans, stalls, names = log.spans, log.stalls, log.names
    slices = [
        _Slice(
            int(spans.start[i]),
            int(spans.end[i]),
            names[spans.what[i]],
            "instruction",
            {"instruction": int(spans.instruction[i]), "layer": log.layer_name(int(spans.layer[i]))},
        )
        for i in (spans.lane == lane).nonzero()[0]
    ]
    for i in (stalls.lane == lane).nonzero()[0]:
        reason = names[stalls.reason[i]]
        slices.append(_Slice(int(stalls.start[i]), int(stalls.end[i]), f"stall: {reason}", "stall", {}))
    return slices


def _layer_slice(log: TraceLog, layer: int, start: int, end: int) -> _Slice:
    args: _Event = {"layer": layer}
    reason = log.layer_reason(layer)
    if reason is not None:
        args["runs_on_host_because"] = reason
    return _Slice(start, end, f"{layer}: {log.layer_name(layer)}", "layer", args)


def _metadata(log: TraceLog, thread_of: Mapping[int, int]) -> Iterator[_Event]:
    header = log.header
    processes = ((_NETWORK, f"network {header.program}", 0), (_MACHINE, f"machine {header.machine}", 1))
    for process, name, place in processes:
        yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}
        yield {"ph": "M", "pid": process, "name": "process_sort_index", "args": {"sort_index": place}}
    threads = [(_NETWORK, _NETWORK, "layers")]
    threads += [(_MACHINE, thread, log.names[lane]) for lane, thread in thread_of.items()]
    for process, thread, name in threads:
        track = {"ph": "M", "pid": process, "tid": thread}
        yield {**track, "name": "thread_name", "args": {"name": name}}
        yield {**track, "name": "thread_sort_index", "args": {"sort_index": thread}}


def _flows(log: TraceLog, clock: _Clock, thread_of: Mapping[int, int]) -> Iterator[_Event]:
    """Arrows from the work whose retirement let a signal go to the work after the wait that it ended.

    An arrow's ends bind to the slices that enclose them, so it leaves in the last nanosecond of the
    signaller's last work retired by the release and arrives with the waiter's first work begun at or after
    it. A release without such work, long enough to be drawn, on both sides has no arrow.
    """
    retired: dict[int, list[tuple[int, int]]] = {lane: [] for lane in log.lanes}
    begun: dict[int, list[int]] = {lane: [] for lane in log.lanes}
    for lane, cycle, start, end in sorted(retired_spans(log)):
        start_ns, end_ns = clock.ns(start), clock.ns(end)
        if start_ns < end_ns:
            retired[lane].append((cycle, end_ns))
            bisect.insort(begun[lane], start_ns)
    columns = (log.flows.cycle, log.flows.lane, log.flows.target, log.flows.semaphore, log.flows.signals)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, (cycle, source, target, semaphore, count) in enumerate(rows, start=1):
        causes, effects = retired.get(source, []), begun.get(target, [])
        cause = bisect.bisect_right(causes, cycle, key=operator.itemgetter(0)) - 1
        effect = bisect.bisect_left(effects, clock.ns(cycle))
        if cause < 0 or effect == len(effects):
            continue
        arrow = {
            "pid": _MACHINE,
            "name": "signal",
            "cat": "semaphore",
            "id": number,
            "args": {"semaphore": semaphore, "count": count, "cycle": cycle},
        }
        yield {"ph": "s", "tid": thread_of[source], "ts": _us(causes[cause][1] - 1), **arrow}
        yield {"ph": "f", "bp": "e", "tid": thread_of[target], "ts": _us(effects[effect]), **arrow}
