import pytest

from npu_sim.actions import Component
from traces.plots import plot_energy

BREAKDOWNS = {
    "low_power": {"matrix": 2e-6, "dram": 3e-6},
    "fast_single_answer": {"matrix": 4e-6, "dram": 3e-6, "leakage": 1e-6},
}


def test_bars_are_stacked_to_the_total():
    axes = plot_energy(BREAKDOWNS).axes[0]
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    # Two bars per component: matrix, DRAM, leakage.
    assert ends == pytest.approx([2, 4, 5, 7, 5, 8])


def test_the_unit_suits_the_largest_bar():
    assert plot_energy(BREAKDOWNS).axes[0].get_xlabel() == "energy (µJ)"
    assert plot_energy({"run": {"matrix": 0.5}}).axes[0].get_xlabel() == "energy (mJ)"
    assert plot_energy({"run": {"matrix": 5e-15}}).axes[0].get_xlabel() == "energy (pJ)"


def test_totals_are_written_at_the_bars():
    texts = [text.get_text().strip() for text in plot_energy(BREAKDOWNS).axes[0].texts]
    assert texts == ["5 µJ", "8 µJ"]


def test_every_component_is_in_the_legend_once():
    (legend,) = plot_energy(BREAKDOWNS).legends
    assert [text.get_text() for text in legend.get_texts()] == ["matrix", "dram", "leakage"]


def test_components_of_a_machine_have_different_colours():
    axes = plot_energy({"run": dict.fromkeys(Component, 1e-6)}).axes[0]
    assert len({bar.get_facecolor() for bar in axes.patches}) == len(Component)


@pytest.mark.parametrize("empty", [{}, {"run": {}}, {"run": {"matrix": 0.0}}])
def test_nothing_to_draw_is_refused(empty):
    with pytest.raises(ValueError, match="no energy"):
        plot_energy(empty)
