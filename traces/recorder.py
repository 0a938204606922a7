"""The hook that keeps every event of a run. Start reading here."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_sim.core.hooks import Hook
from npu_sim.events import Activity, Flow, Retire, Span, Stall
from traces.trace_log import (
    ActivityColumns,
    FlowColumns,
    Int32Array,
    Int64Array,
    RetireColumns,
    SpanColumns,
    StallColumns,
    TraceHeader,
    TraceLog,
)


class Recorder(Hook):
    """Keeps every event of one run; `log` turns them into a `TraceLog`.

    Attach a fresh recorder to each run: events of two runs in one recorder would overlap.
    """

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._stalls: list[Stall] = []
        self._activities: list[Activity] = []
        self._retires: list[Retire] = []
        self._flows: list[Flow] = []

    def on_span(self, span: Span) -> None:
        """Keep a span."""
        self._spans.append(span)

    def on_stall(self, stall: Stall) -> None:
        """Keep a stall."""
        self._stalls.append(stall)

    def on_activity(self, activity: Activity) -> None:
        """Keep an activity."""
        self._activities.append(activity)

    def on_retire(self, retire: Retire) -> None:
        """Keep a retirement."""
        self._retires.append(retire)

    def on_flow(self, flow: Flow) -> None:
        """Keep a flow."""
        self._flows.append(flow)

    def log(self, header: TraceHeader) -> TraceLog:
        """Columns of everything recorded so far; the recorder may go on recording."""
        names = _Names()
        spans = SpanColumns(
            start=_int64(self._spans, "start"),
            end=_int64(self._spans, "end"),
            lane=names.column(self._spans, "source"),
            what=names.column(self._spans, "what"),
            instruction=_int32(self._spans, "instruction"),
            layer=_int32(self._spans, "layer"),
        )
        stalls = StallColumns(
            start=_int64(self._stalls, "start"),
            end=_int64(self._stalls, "end"),
            lane=names.column(self._stalls, "source"),
            reason=names.column(self._stalls, "reason"),
        )
        activities = ActivityColumns(
            cycle=_int64(self._activities, "cycle"),
            lane=names.column(self._activities, "source"),
            action=names.column(self._activities, "action"),
            amount=_int64(self._activities, "amount"),
            layer=_int32(self._activities, "layer"),
        )
        retires = RetireColumns(
            cycle=_int64(self._retires, "cycle"),
            lane=names.column(self._retires, "source"),
            instruction=_int32(self._retires, "instruction"),
            layer=_int32(self._retires, "layer"),
        )
        flows = FlowColumns(
            cycle=_int64(self._flows, "cycle"),
            lane=names.column(self._flows, "source"),
            target=names.column(self._flows, "target"),
            semaphore=_int32(self._flows, "semaphore"),
            signals=_int64(self._flows, "count"),
        )
        return TraceLog(
            header=header,
            names=names.in_order(),
            spans=spans,
            stalls=stalls,
            activities=activities,
            retires=retires,
            flows=flows,
        )


class _Names:
    """Numbers texts in order of first appearance."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    def column(self, events: Sequence[Any], field: str) -> Int32Array:
        index = self._index
        texts = map(str, map(operator.attrgetter(field), events))
        return np.array([index.setdefault(text, len(index)) for text in texts], dtype=np.int32)

    def in_order(self) -> tuple[str, ...]:
        return tuple(self._index)


def _int64(events: Sequence[Any], field: str) -> Int64Array:
    return np.fromiter(map(operator.attrgetter(field), events), dtype=np.int64, count=len(events))


def _int32(events: Sequence[Any], field: str) -> Int32Array:
    return np.fromiter(map(operator.attrgetter(field), events), dtype=np.int32, count=len(events))
