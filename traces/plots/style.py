"""What all figures share: colours that colour-blind readers can tell apart, and plain axes.

Colours are those of Okabe and Ito, "Color Universal Design" (2008), and a grey.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

BLUE = "#0072B2"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
ORANGE = "#E69F00"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
BLACK = "#000000"
GREY = "#999999"

INK = "#333333"
"""Text and axes."""
SHADE = "#F1F1F1"
"""Background of every second layer."""

_CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, GREY, BLACK)

_BELOW: dict[str, Literal["outside lower left", "outside lower center", "outside lower right"]] = {
    "left": "outside lower left",
    "center": "outside lower center",
    "right": "outside lower right",
}

UNIT_COLOURS = {
    "fetch": PURPLE,
    "dispatch": PURPLE,
    "frontend": PURPLE,
    "dma": ORANGE,
    "matrix": BLUE,
    "vector": GREEN,
    "sram": SKY,
    "dram": VERMILION,
    "host": BLACK,
}
"""Colour of a kind of unit, of its energy, and of what waits for it or is bound by it, in every figure."""


def colours_of(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Choose a colour per name: its fixed one, else the next that is free (any when none is free)."""
    names = list(dict.fromkeys(names))
    taken = {fixed[name] for name in names if name in fixed}
    free = [colour for colour in _CYCLE if colour not in taken] or list(_CYCLE)
    others = (name for name in names if name not in fixed)
    chosen = {name: free[i % len(free)] for i, name in enumerate(others)}
    return {name: fixed.get(name) or chosen[name] for name in names}


def new_figure(width_in: float, height_in: float) -> Figure:
    """Make an empty figure of this size in inches that arranges its own margins."""
    return Figure(figsize=(width_in, height_in), dpi=120, layout="constrained", facecolor="white")


def plain(axes: Axes, *, grid: str) -> None:
    """Remove the box around the data and draw light grid lines on one axis ("x" or "y") behind them."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)
    axes.tick_params(colors=INK, labelsize=8)
    axes.set_axisbelow(True)
    axes.grid(visible=True, axis="x" if grid == "x" else "y", color="#DDDDDD", linewidth=0.6)


def key(
    figure: Figure, heading: str, colours: Mapping[str, str], side: Literal["left", "center", "right"]
) -> None:
    """Explain colours in one row below the figure; nothing to explain, no row."""
    if not colours:
        return
    figure.legend(
        [Patch(color=colour) for colour in colours.values()],
        [name.replace("_", " ") for name in colours],
        title=heading,
        loc=_BELOW[side],
        ncols=min(len(colours), 10),
        alignment=side,
        frameon=False,
        fontsize=8,
        title_fontsize=8,
        handlelength=1.2,
        columnspacing=1.2,
    )


def title(axes: Axes, text: str) -> None:
    """Set the title at the left edge of the data."""
    axes.set_title(text, loc="left", fontsize=10, fontweight="bold", color=INK)
