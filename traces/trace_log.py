"""The immutable record of one run: a header and one table of NumPy columns per kind of event.

Times are integer NPU cycles since the start of the run. Text (lanes, mnemonics, reasons, actions) is stored
once in `TraceLog.names`; columns hold indices into it. All arrays are one-dimensional and read-only.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TraceHeader:
    """What was run, on what, by which version."""

    machine: str
    machine_hash: str
    program: str
    frequency_hz: int
    tool_version: str
    layer_names: tuple[str, ...]
    layer_reasons: tuple[str | None, ...] = ()
    """Why a layer does not run on the machine but on its host; None for those that run on the machine."""

    def __post_init__(self) -> None:
        if self.frequency_hz <= 0:
            raise ValueError(f"trace header: frequency_hz is {self.frequency_hz}; it must be positive")

    @classmethod
    def from_report(cls, report: Mapping[str, Any]) -> Self:
        """Read the header from a run's JSON report (the fields that `npu-sim run --json` documents).

        Raises:
            KeyError: a field is missing.
            ValueError: the frequency is not positive.

        """
        layers = sorted(report["layers"], key=lambda layer: int(layer["index"]))
        return cls(
            machine=str(report["machine"]),
            machine_hash=str(report["machine_hash"]),
            program=str(report["model"]),
            frequency_hz=int(report["frequency_hz"]),
            tool_version=str(report["tool_version"]),
            layer_names=tuple(f"{layer['op']} {layer['name']}".strip() for layer in layers),
            layer_reasons=tuple(layer.get("fallback_reason") for layer in layers),
        )


class SpanColumns(NamedTuple):
    """Columns of `npu_sim.events.Span`; `lane` and `what` index the names."""

    start: Int64Array
    end: Int64Array
    lane: Int32Array
    what: Int32Array
    instruction: Int32Array
    layer: Int32Array


class StallColumns(NamedTuple):
    """Columns of `npu_sim.events.Stall`; `lane` and `reason` index the names."""

    start: Int64Array
    end: Int64Array
    lane: Int32Array
    reason: Int32Array


class ActivityColumns(NamedTuple):
    """Columns of `npu_sim.events.Activity`; `lane` and `action` index the names."""

    cycle: Int64Array
    lane: Int32Array
    action: Int32Array
    amount: Int64Array
    layer: Int32Array


class RetireColumns(NamedTuple):
    """Columns of `npu_sim.events.Retire`; `lane` indexes the names."""

    cycle: Int64Array
    lane: Int32Array
    instruction: Int32Array
    layer: Int32Array


class FlowColumns(NamedTuple):
    """Columns of `npu_sim.events.Flow`; `lane` signalled, `target` waited for `signals`."""

    cycle: Int64Array
    lane: Int32Array
    target: Int32Array
    semaphore: Int32Array
    signals: Int64Array


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TraceLog:
    """Everything that was recorded of one run, in order of arrival."""

    header: TraceHeader
    names: tuple[str, ...]
    spans: SpanColumns
    stalls: StallColumns
    activities: ActivityColumns
    retires: RetireColumns
    flows: FlowColumns

    def __post_init__(self) -> None:
        for columns in (self.spans, self.stalls, self.activities, self.retires, self.flows):
            for column in columns:
                column.flags.writeable = False

    @property
    def cycles(self) -> int:
        """Cycle at which the last recorded thing ended; 0 when nothing was recorded."""
        ends = (self.spans.end, self.stalls.end, self.activities.cycle, self.retires.cycle, self.flows.cycle)
        return max((int(column.max()) for column in ends if column.size), default=0)

    @property
    def lanes(self) -> tuple[int, ...]:
        """Name indices of the lanes with spans or stalls, in the order in which they are shown."""
        used = np.union1d(self.spans.lane, self.stalls.lane)
        return tuple(sorted((int(index) for index in used), key=lambda index: lane_order(self.names[index])))

    def index_of(self, name: str) -> int | None:
        """Index of a name, or None when nothing recorded bears it."""
        return self.names.index(name) if name in self.names else None

    def layer_name(self, index: int) -> str:
        """Name of a layer for people; layers that the header does not know are numbered."""
        known = self.header.layer_names
        return known[index] if 0 <= index < len(known) else f"layer {index}"

    def layer_reason(self, index: int) -> str | None:
        """Why a layer ran on the host; None for one that did not, or that the header does not know."""
        known = self.header.layer_reasons
        return known[index] if 0 <= index < len(known) else None


# From who drives the machine and where data come, through the units that work on it, to what serves them.
_KINDS_IN_ORDER = ("host", "fetch", "dispatch", "dma", "matrix", "output", "vector", "sram", "dram")


def lane_kind(name: str) -> str:
    """Kind of a lane: its name without number and path, so "matrix" for "matrix1" and "matrix1.drain"."""
    return name.split(".")[0].rstrip("0123456789")


def lane_order(name: str) -> tuple[int, int, str]:
    """Sort key of lanes: kind, then unit number, then name; unknown kinds come last."""
    kind = lane_kind(name)
    place = _KINDS_IN_ORDER.index(kind) if kind in _KINDS_IN_ORDER else len(_KINDS_IN_ORDER)
    number = name.split(".")[0][len(kind) :]
    return (place, int(number) if number else 0, name)


def layer_windows(log: TraceLog) -> list[tuple[int, int, int]]:
    """Windows (layer, start, end) in cycles that follow each other without a gap.

    A layer's window ends when its last instruction has retired (never before the previous layer's; the last
    one's when the run ends), and starts where the one before ended: the same rule by which reports charge
    cycles to layers, so the windows' lengths add up to the whole run.
    """
    completion: dict[int, int] = {}
    for layer, cycle in zip(log.retires.layer.tolist(), log.retires.cycle.tolist(), strict=True):
        completion[layer] = max(cycle, completion.get(layer, 0))
    if completion:
        completion[max(completion)] = log.cycles
    windows = []
    start = 0
    for layer in sorted(completion):
        end = max(start, completion[layer])
        windows.append((layer, start, end))
        start = end
    return windows


def slowdowns(log: TraceLog) -> npt.NDArray[np.bool_]:
    """Tell of each stall whether it lies within a span of its lane: it slowed that work."""
    inside = np.zeros(log.stalls.start.shape, dtype=np.bool_)
    for lane in log.lanes:
        spans, stalls = log.spans.lane == lane, log.stalls.lane == lane
        if not spans.any():
            continue
        ends = np.sort(log.spans.end[spans])
        starts = np.sort(log.spans.start[spans])
        place = np.searchsorted(ends, log.stalls.start[stalls], side="right")
        candidate = np.minimum(place, len(ends) - 1)
        begins_within = starts[candidate] <= log.stalls.start[stalls]
        ends_within = log.stalls.end[stalls] <= ends[candidate]
        inside[stalls] = (place < len(ends)) & begins_within & ends_within
    return inside


def retired_spans(log: TraceLog) -> Iterator[tuple[int, int, int, int]]:
    """Yield (lane, cycle of retirement, start, end) of every span whose instruction retired on its lane."""
    keys = zip(log.spans.lane.tolist(), log.spans.instruction.tolist(), strict=True)
    bounds = zip(log.spans.start.tolist(), log.spans.end.tolist(), strict=True)
    span_of = dict(zip(keys, bounds, strict=True))
    columns = (log.retires.lane, log.retires.instruction, log.retires.cycle)
    for lane, instruction, cycle in zip(*(column.tolist() for column in columns), strict=True):
        if (lane, instruction) in span_of:
            yield (lane, cycle, *span_of[lane, instruction])
