"""Figures of recorded runs and reports: matplotlib figures without global state, ready to save or to show."""

from traces.plots.energy import plot_energy
from traces.plots.layers import plot_layers
from traces.plots.timeline import plot_timeline

__all__ = ["plot_energy", "plot_layers", "plot_timeline"]
