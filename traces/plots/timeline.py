"""The timeline: one lane per unit, work coloured by kind of unit, stalls by reason, layers shaded."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from npu_sim.events import StallReason
from traces.plots.style import (
    INK,
    SHADE,
    UNIT_COLOURS,
    YELLOW,
    colours_of,
    key,
    new_figure,
    plain,
    title,
)
from traces.trace_log import TraceLog, lane_kind, layer_windows

STALL_COLOURS: Mapping[str, str] = {
    StallReason.SEMAPHORE: "#C4C4C4",
    StallReason.INSTRUCTION: UNIT_COLOURS["dispatch"],
    StallReason.OUTPUT_STAGE: YELLOW,
    StallReason.SRAM: UNIT_COLOURS["sram"],
    StallReason.DRAM: UNIT_COLOURS["dram"],
}

_WORK = (-0.36, 0.5)
_STALL = (0.17, 0.2)
"""Vertical place and height of work and of stalls within a lane of height 1 (downwards)."""

_HEADROOM = 0.35
"""Room for the layers' numbers above the first lane, in lanes."""

_LEAST_LABELLED_SHARE = 0.015
"""Layers narrower than this share of the figure stay unlabelled: their numbers would touch."""


def plot_timeline(log: TraceLog, *, start_cycle: int = 0, end_cycle: int | None = None) -> Figure:
    """Draw who worked when, and who waited for what, in a part of a run.

    Each lane has its work as a bar and, below it, a strip with its stalls. The background alternates from
    layer to layer; a layer ends when its last instruction has retired.

    Raises:
        ValueError: the part is empty.

    """
    end_cycle = log.cycles if end_cycle is None else end_cycle
    if not 0 <= start_cycle < end_cycle:
        raise ValueError(
            f"plot_timeline: cycles {start_cycle} to {end_cycle}; 0 <= start_cycle < end_cycle must hold"
        )
    lanes = log.lanes
    figure = new_figure(11, 1.5 + 0.36 * max(len(lanes), 1))
    axes = figure.add_subplot()
    scale, unit = _time_scale(log.header.frequency_hz, end_cycle - start_cycle)
    view = (start_cycle * scale, end_cycle * scale)

    _shade_layers(axes, log, view, scale)
    kinds = colours_of((lane_kind(log.names[lane]) for lane in lanes), UNIT_COLOURS)
    recorded = {log.names[i] for i in np.unique(log.stalls.reason)}
    reasons = {reason: colour for reason, colour in STALL_COLOURS.items() if reason in recorded}
    for row, lane in enumerate(lanes):
        spans, stalls = log.spans.lane == lane, log.stalls.lane == lane
        colour = kinds[lane_kind(log.names[lane])]
        _bars(axes, row, log.spans.start[spans], log.spans.end[spans], scale, _WORK, colour)
        for index in np.unique(log.stalls.reason[stalls]):
            chosen = stalls & (log.stalls.reason == index)
            colour = reasons[log.names[index]]
            _bars(axes, row, log.stalls.start[chosen], log.stalls.end[chosen], scale, _STALL, colour)

    axes.set_xlim(*view)
    axes.set_ylim(len(lanes) - 0.5, -0.5 - _HEADROOM)
    axes.set_yticks(range(len(lanes)), [log.names[lane] for lane in lanes])
    axes.set_xlabel(f"simulated time ({unit})", fontsize=9, color=INK)
    plain(axes, grid="x")
    axes.tick_params(axis="y", length=0)
    title(axes, f"{log.header.program} on {log.header.machine}")
    key(figure, "work of", kinds, "left")
    key(figure, "stalled by", reasons, "right")
    return figure


def _time_scale(frequency_hz: int, cycles: int) -> tuple[float, str]:
    """Choose the unit of time for a length: how many of it are in a cycle, and its symbol."""
    seconds = cycles / frequency_hz
    factor, unit = (1e3, "ms") if seconds >= 1e-2 else (1e6, "µs")
    return factor / frequency_hz, unit


def _shade_layers(axes: Axes, log: TraceLog, view: tuple[float, float], scale: float) -> None:
    drawn = (window for window in layer_windows(log) if window[1] < window[2])
    for place, (layer, start, end) in enumerate(drawn):
        left, right = max(start * scale, view[0]), min(end * scale, view[1])
        if left >= right:
            continue
        if place % 2:
            axes.axvspan(left, right, color=SHADE, linewidth=0, zorder=0)
        if right - left >= _LEAST_LABELLED_SHARE * (view[1] - view[0]):
            middle = (left + right) / 2
            axes.annotate(
                str(layer),
                (middle, 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, -1),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=6.5,
                color="#777777",
            )


def _bars(
    axes: Axes,
    row: int,
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    scale: float,
    place: tuple[float, float],
    colour: str,
) -> None:
    pieces = np.column_stack([start * scale, (end - start) * scale])
    axes.broken_barh(pieces.tolist(), (row + place[0], place[1]), facecolors=colour, linewidth=0, zorder=2)
