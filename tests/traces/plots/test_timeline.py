import io

import pytest
from hypothesis import given, settings
from matplotlib.collections import PolyCollection

from npu_sim.events import StallReason
from tests.traces.synthetic import EXAMPLE, HEADER, legal_runs, record
from traces import Recorder
from traces.plots import plot_timeline
from traces.plots.style import UNIT_COLOURS
from traces.plots.timeline import STALL_COLOURS


def render(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def labels_of(figure):
    return {text.get_text() for legend in figure.legends for text in legend.get_texts()}


def test_every_stall_reason_has_a_colour_of_its_own():
    assert list(STALL_COLOURS) == list(StallReason)
    assert len(set(STALL_COLOURS.values())) == len(StallReason)


def test_every_kind_of_work_has_a_colour_of_its_own_among_units_that_compute_or_move():
    assert len({UNIT_COLOURS[kind] for kind in ("fetch", "dma", "matrix", "vector")}) == 4


def test_there_is_one_lane_per_unit():
    axes = plot_timeline(record(EXAMPLE)).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["dma0", "matrix0", "vector0"]


def test_every_span_and_stall_is_drawn():
    axes = plot_timeline(record(EXAMPLE)).axes[0]
    bars = [c for c in axes.collections if isinstance(c, PolyCollection)]
    assert sum(len(c.get_paths()) for c in bars) == 6 + 5


def test_time_is_in_microseconds_and_the_axis_says_so():
    axes = plot_timeline(record(EXAMPLE)).axes[0]
    # 800 cycles at 800 MHz.
    assert axes.get_xlim() == pytest.approx((0.0, 1.0))
    assert axes.get_xlabel() == "simulated time (µs)"


def test_the_legend_explains_what_occurs_and_nothing_else():
    assert labels_of(plot_timeline(record(EXAMPLE))) == {
        "dma",
        "matrix",
        "vector",
        "semaphore",
        "dram",
        "sram",
    }


def test_a_part_of_a_run_can_be_drawn():
    axes = plot_timeline(record(EXAMPLE), start_cycle=400, end_cycle=600).axes[0]
    assert axes.get_xlim() == pytest.approx((0.5, 0.75))


def test_an_empty_part_is_refused():
    with pytest.raises(ValueError, match="cycles 500 to 400"):
        plot_timeline(record(EXAMPLE), start_cycle=500, end_cycle=400)


def test_an_empty_log_is_refused():
    with pytest.raises(ValueError, match="cycles 0 to 0"):
        plot_timeline(Recorder().log(HEADER))


def test_the_figure_is_the_same_every_time():
    assert render(plot_timeline(record(EXAMPLE))) == render(plot_timeline(record(EXAMPLE)))


@settings(max_examples=8, deadline=None)
@given(legal_runs().filter(lambda events: record(events).cycles > 0))
def test_any_legal_run_can_be_drawn(events):
    assert render(plot_timeline(record(events)))
