"""The per-layer plot: cycles of each layer coloured by what bound it, and utilisation beside it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from matplotlib.figure import Figure

from traces.plots.style import GREY, INK, SHADE, UNIT_COLOURS, colours_of, key, new_figure, plain, title

_BOUND_COLOURS = {**UNIT_COLOURS, "latency": GREY, "overlapped": SHADE}


class LayerRecord(Protocol):
    """What the plot reads of a layer's result."""

    @property
    def index(self) -> int:
        """Number of the layer."""

    @property
    def op(self) -> str:
        """Operation."""

    @property
    def name(self) -> str:
        """Name in the model; may be empty."""

    @property
    def cycles(self) -> int:
        """Cycles from the completion of the layer before to its own."""

    @property
    def utilization(self) -> float:
        """Share of the peak arithmetic rate, 0 to 1."""

    @property
    def bound_by(self) -> str:
        """What limited the layer."""


def plot_layers(layers: Sequence[LayerRecord]) -> Figure:
    """Draw cycles (coloured by what bound the layer) and utilisation of every layer, the first on top.

    Raises:
        ValueError: there are no layers.

    """
    if not layers:
        raise ValueError("plot_layers: no layers; at least one is needed")
    figure = new_figure(9, 1.8 + 0.2 * len(layers))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1))
    rows = np.arange(len(layers))
    colours = colours_of((str(layer.bound_by) for layer in layers), _BOUND_COLOURS)

    cycles = [layer.cycles for layer in layers]
    left.barh(rows, cycles, height=0.75, color=[colours[str(layer.bound_by)] for layer in layers])
    left.set_yticks(rows, [_label(layer) for layer in layers])
    left.set_ylim(len(layers) - 0.4, -0.6)
    left.set_xlabel("cycles", fontsize=9, color=INK)
    left.ticklabel_format(axis="x", style="plain")
    left.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    title(left, f"{sum(cycles):,} cycles by layer")

    right.barh(rows, [100 * layer.utilization for layer in layers], height=0.75, color=INK)
    right.set_xlim(0, 100)
    right.set_xlabel("% of peak rate", fontsize=9, color=INK)
    title(right, "utilisation")
    for axes in (left, right):
        plain(axes, grid="x")
        axes.tick_params(axis="y", length=0)
    key(figure, "bound by", colours, "center")
    return figure


def _label(layer: LayerRecord) -> str:
    name = layer.name if len(layer.name) <= 32 else "…" + layer.name[-31:]
    return f"{layer.index}  {layer.op}  {name}".rstrip()
