"""The energy breakdown: one stacked bar per run, for example per preference."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from traces.plots.style import (
    GREY,
    INK,
    UNIT_COLOURS,
    YELLOW,
    colours_of,
    key,
    new_figure,
    plain,
    title,
)

_COMPONENT_COLOURS = {
    **UNIT_COLOURS,
    "clock": INK,
    "leakage": GREY,
    "dram_background": YELLOW,
}

_PREFIXES = ((1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ"), (1e-12, "pJ"))


def plot_energy(breakdowns: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw energy by component, one stacked bar for each entry; values are joules.

    `breakdowns` maps the label of a bar (say, a preference) to joules by component. Components keep the
    order of their first appearance, so that bars can be compared.

    Raises:
        ValueError: there is nothing to draw.

    """
    components = list(dict.fromkeys(name for bar in breakdowns.values() for name in bar))
    totals = [sum(bar.values()) for bar in breakdowns.values()]
    if not components or max(totals) <= 0:
        raise ValueError("plot_energy: no energy in any breakdown; at least one positive value is needed")
    scale, unit = next((size, unit) for size, unit in _PREFIXES if max(totals) >= size or unit == "pJ")

    figure = new_figure(9, 1.7 + 0.55 * len(breakdowns))
    axes = figure.add_subplot()
    rows = np.arange(len(breakdowns))
    left = np.zeros(len(breakdowns))
    colours = colours_of(components, _COMPONENT_COLOURS)
    for component in components:
        width = np.array([bar.get(component, 0.0) for bar in breakdowns.values()]) / scale
        colour = colours[component]
        axes.barh(rows, width, left=left, height=0.6, color=colour, edgecolor="white", linewidth=0.6)
        left += width
    for row, total in enumerate(left):
        axes.text(total, row, f"  {total:.3g} {unit}", va="center", ha="left", fontsize=9, color=INK)
    axes.set_yticks(rows, [label.replace("_", " ") for label in breakdowns])
    axes.set_ylim(len(breakdowns) - 0.5, -0.5)
    axes.set_xlim(0, 1.12 * float(left.max()))
    axes.set_xlabel(f"energy ({unit})", fontsize=9, color=INK)
    plain(axes, grid="x")
    axes.tick_params(axis="y", length=0)
    title(axes, "energy by component")
    key(figure, "component", colours, "center")
    return figure
