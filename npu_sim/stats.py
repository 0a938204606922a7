"""From what a run left behind to numbers per layer and per unit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from isa.instruction import UnitKind
from isa.program import LayerInfo
from npu_sim.config import MachineConfig
from npu_sim.core.observation import Executed, UnitLog
from npu_sim.result import BoundBy, UnitResult
from npu_sim.units.machine_timing import MachineTiming

_BUSY_SHARE = 0.5
"""A resource that is busy for less of a layer's window than this does not bound the layer."""


class LayerWindow(NamedTuple):
    """When a layer started and completed, what its window costs, and what bound it."""

    start_cycle: int
    end_cycle: int
    cycles: int
    bound_by: BoundBy


def unit_result(log: UnitLog, total_cycles: int) -> UnitResult:
    """Attribute every cycle of a run to the unit's work, a stall reason, or nothing to do."""
    busy = sum(e.end - e.start - e.lost for e in log.executed)
    stalls = dict(log.stalls)
    return UnitResult(busy=busy, stalls=stalls, idle=total_cycles - busy - sum(stalls.values()))


def layer_ends(
    retired: dict[int, int], layer_of: Sequence[int], layer_count: int, total_cycles: int
) -> list[int]:
    """Completion of each layer: its last retirement, never before the one in front; the last ends the run."""
    ends = [0] * layer_count
    for index, cycle in retired.items():
        layer = layer_of[index]
        ends[layer] = max(ends[layer], cycle)
    for layer in range(1, layer_count):
        ends[layer] = max(ends[layer], ends[layer - 1])
    ends[-1] = total_cycles
    return ends


def layer_windows(
    logs: Mapping[UnitKind, Sequence[UnitLog]],
    fetch_log: UnitLog,
    layers: Sequence[LayerInfo],
    layer_of: Sequence[int],
    ends: Sequence[int],
    timing: MachineTiming,
) -> list[LayerWindow]:
    """Find what bound each layer between the completion of the one before and its own.

    Scores are cycles in the window that a resource needs for its work: the busiest unit of each kind
    (for DMA: where the channel, not DRAM, is the limit), DRAM time, and SRAM bytes at full port rate. The
    highest score bounds the layer if it fills half of the window.
    """
    edges = np.array([0, *ends], dtype=np.float64)
    windows = np.diff(edges)
    everything = [*logs[UnitKind.DMA], *logs[UnitKind.MATRIX], *logs[UnitKind.VECTOR]]
    sram_rate = timing.config.sram.bytes_per_cycle
    scores = {
        BoundBy.MATRIX: _busiest(logs[UnitKind.MATRIX], edges, lambda e: e.end - e.start - e.lost),
        BoundBy.VECTOR: _busiest(logs[UnitKind.VECTOR], edges, lambda e: e.end - e.start - e.lost),
        BoundBy.DMA: _busiest(logs[UnitKind.DMA], edges, lambda e: _channel_cycles(e, timing)),
        BoundBy.DRAM: _sum(
            [*logs[UnitKind.DMA], fetch_log], edges, lambda e: e.work.dram_ps / timing.cycle_ps
        ),
        BoundBy.SRAM: _sum(everything, edges, lambda e: e.work.sram_bytes / sram_rate),
    }
    order = list(scores)
    table = np.stack([scores[reason] for reason in order])
    best = table.argmax(axis=0)
    starts = _layer_starts(logs, layers, layer_of)
    found = []
    for layer, window in enumerate(windows):
        if window == 0:
            bound_by = BoundBy.OVERLAPPED
        elif table[best[layer], layer] >= _BUSY_SHARE * window:
            bound_by = order[best[layer]]
        else:
            bound_by = _unbusy_reason(logs, layers[layer], edges[layer], edges[layer + 1])
        start = min(starts.get(layer, ends[layer]), ends[layer])
        found.append(LayerWindow(start, ends[layer], int(window), bound_by))
    return found


def utilization(layer: LayerInfo, window: LayerWindow, config: MachineConfig) -> float:
    """MACs of a layer over what all units of its kind could do from its first instruction to its end."""
    peak = {
        "matrix": config.peak_macs_per_cycle,
        "vector": config.vector.units * config.vector.lanes,
    }.get(layer.unit)
    span = window.end_cycle - window.start_cycle
    return layer.macs / (peak * span) if peak and span else 0.0


def _channel_cycles(executed: Executed, timing: MachineTiming) -> int:
    """Cycles that a channel itself needs: issue, and the data unless DRAM alone sets the pace."""
    work = executed.work
    own = work.cycles if work.cycles > timing.cycles_of(work.dram_ps) else 0
    return work.setup_cycles + own


def _busiest(
    logs: Iterable[UnitLog], edges: npt.NDArray[np.float64], amount: Callable[[Executed], float]
) -> npt.NDArray[np.float64]:
    """Largest amount of one unit in each window."""
    largest: npt.NDArray[np.float64] = np.max([_per_window(log, edges, amount) for log in logs], axis=0)
    return largest


def _sum(
    logs: Iterable[UnitLog], edges: npt.NDArray[np.float64], amount: Callable[[Executed], float]
) -> npt.NDArray[np.float64]:
    """Amount of all units in each window."""
    total: npt.NDArray[np.float64] = np.sum([_per_window(log, edges, amount) for log in logs], axis=0)
    return total


def _per_window(
    log: UnitLog, edges: npt.NDArray[np.float64], amount: Callable[[Executed], float]
) -> npt.NDArray[np.float64]:
    """Amounts of a unit's instructions, spread evenly over their spans, summed per window."""
    if not log.executed:
        return np.zeros(len(edges) - 1)
    amounts = np.array([amount(e) for e in log.executed], dtype=np.float64)
    spans = np.array([(e.start, e.end) for e in log.executed], dtype=np.float64)
    after = np.cumsum(amounts)
    times = spans.ravel()
    totals = np.stack([after - amounts, after], axis=1).ravel()
    return np.diff(np.interp(edges, times, totals, left=0.0))


def _layer_starts(
    logs: Mapping[UnitKind, Sequence[UnitLog]], layers: Sequence[LayerInfo], layer_of: Sequence[int]
) -> dict[int, int]:
    """First cycle of each layer's first instruction on units of its own kind."""
    starts: dict[int, int] = {}
    for kind, kind_logs in logs.items():
        for log in kind_logs:
            for executed in log.executed:
                layer = layer_of[executed.instruction]
                if layers[layer].unit == kind.name.lower():
                    starts[layer] = min(starts.get(layer, executed.start), executed.start)
    return starts


def _unbusy_reason(
    logs: Mapping[UnitKind, Sequence[UnitLog]], layer: LayerInfo, start: float, end: float
) -> BoundBy:
    """DISPATCH if a unit of the layer's kind lacked instructions for half of the window, else LATENCY."""
    for log in logs[UnitKind[layer.unit.upper()]]:
        starved = sum(max(0.0, min(end, stop) - max(start, begin)) for begin, stop in log.starved)
        if starved >= _BUSY_SHARE * (end - start):
            return BoundBy.DISPATCH
    return BoundBy.LATENCY
