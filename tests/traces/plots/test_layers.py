import dataclasses

import pytest
from matplotlib.colors import to_hex

from npu_sim.result import BoundBy
from traces.plots import plot_layers
from traces.plots.style import UNIT_COLOURS


@dataclasses.dataclass(frozen=True)
class Layer:
    index: int
    op: str
    name: str
    cycles: int
    utilization: float
    bound_by: str


LAYERS = [
    Layer(0, "CONV_2D", "stem", 4000, 0.5, "matrix"),
    Layer(1, "DEPTHWISE_CONV_2D", "", 2500, 0.25, "dma"),
    Layer(2, "SOFTMAX", "prob", 300, 0.0, "something_new"),
]


def test_bars_are_the_layers_cycles_and_utilisations():
    cycles, utilisation = plot_layers(LAYERS).axes
    assert [bar.get_width() for bar in cycles.patches] == [4000, 2500, 300]
    assert [bar.get_width() for bar in utilisation.patches] == [50.0, 25.0, 0.0]


def test_the_title_gives_the_total():
    assert plot_layers(LAYERS).axes[0].get_title(loc="left") == "6,800 cycles by layer"


def test_the_first_layer_is_on_top():
    low, high = plot_layers(LAYERS).axes[0].get_ylim()
    assert low > high


def test_colour_says_what_bound_a_layer():
    bars = plot_layers(LAYERS).axes[0].patches
    colours = [to_hex(bar.get_facecolor()).upper() for bar in bars]
    assert colours[:2] == [UNIT_COLOURS["matrix"], UNIT_COLOURS["dma"]]
    assert colours[2] not in colours[:2]


def test_bounds_of_a_machine_have_different_colours():
    layers = [dataclasses.replace(LAYERS[0], bound_by=bound) for bound in BoundBy]
    bars = plot_layers(layers).axes[0].patches
    assert len({bar.get_facecolor() for bar in bars}) == len(BoundBy)


def test_the_legend_names_every_bound():
    (legend,) = plot_layers(LAYERS).legends
    assert [text.get_text() for text in legend.get_texts()] == ["matrix", "dma", "something new"]


def test_long_names_keep_their_end():
    layer = dataclasses.replace(LAYERS[0], name="Network/" * 10 + "Relu6")
    label = plot_layers([layer]).axes[0].get_yticklabels()[0].get_text()
    assert label.endswith("Network/Relu6")
    assert len(label) < 50


def test_no_layers_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        plot_layers([])
