"""A validator of trace-event JSON, written from the format's description."""

import itertools
from collections import defaultdict
from typing import Any

REQUIRED = {
    "M": {"ph", "pid", "name", "args"},
    "X": {"ph", "pid", "tid", "ts", "dur", "name", "cat", "args"},
    "s": {"ph", "pid", "tid", "ts", "name", "cat", "id"},
    "f": {"ph", "pid", "tid", "ts", "name", "cat", "id", "bp"},
    "C": {"ph", "pid", "ts", "name", "args"},
}


def check_document(document: dict[str, Any]) -> None:
    """Assert everything that a viewer relies on."""
    events = document["traceEvents"]
    assert document["displayTimeUnit"] in ("ms", "ns")
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    counters: dict[str, list[dict[str, Any]]] = defaultdict(list)
    flows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    named = set()
    for event in events:
        missing = REQUIRED[event["ph"]] - event.keys()
        assert not missing, f"{event} lacks {missing}"
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
        elif event["ph"] == "C":
            counters[event["name"]].append(event)
        elif event["ph"] in "sf":
            flows[event["id"]].append(event)
        elif event["name"] == "thread_name":
            named.add((event["pid"], event["tid"]))
    assert tracks.keys() <= named
    for slices in tracks.values():
        _check_nesting(slices)
    for steps in counters.values():
        _check_counter(steps)
    for ends in flows.values():
        _check_flow(ends, tracks)


def ns(us: float) -> int:
    """Nanoseconds as viewers read them: rounded to the nearest."""
    return round(us * 1000)


def bounds(piece: dict[str, Any]) -> tuple[int, int]:
    start = ns(piece["ts"])
    return start, start + ns(piece["dur"])


def _check_nesting(slices: list[dict[str, Any]]) -> None:
    """Slices of a track stand in order of time, and each lies within or after the one before."""
    open_ends: list[int] = []
    previous = 0
    for piece in slices:
        start, end = bounds(piece)
        assert previous <= start < end, piece
        previous = start
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], f"{piece} crosses the end {open_ends[-1]}"
        open_ends.append(end)


def _check_counter(steps: list[dict[str, Any]]) -> None:
    times = [ns(step["ts"]) for step in steps]
    assert all(a < b for a, b in itertools.pairwise(times)), "counter times must increase"
    for step in steps:
        (value,) = step["args"].values()
        assert value >= 0


def _check_flow(ends: list[dict[str, Any]], tracks: dict[tuple[int, int], list[dict[str, Any]]]) -> None:
    assert [end["ph"] for end in ends] == ["s", "f"]
    start, finish = ends
    assert start["ts"] <= finish["ts"]
    assert (start["name"], start["cat"]) == (finish["name"], finish["cat"])
    assert finish["bp"] == "e"
    for end in ends:
        at = ns(end["ts"])
        enclosing = [bounds(piece) for piece in tracks[end["pid"], end["tid"]]]
        assert any(begin <= at < stop for begin, stop in enclosing), f"{end} binds to no slice"
