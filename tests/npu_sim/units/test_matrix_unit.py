import itertools

from isa.instructions.control import Halt
from npu_sim.config_io import load_machine, override
from npu_sim.core.hooks import Hook
from npu_sim.events import Retire, Span, StallReason
from npu_sim.npu import simulate
from tests.npu_sim.pipelines import convolve_tile
from tests.support.programs import make_program

# A tile of convolve_tile is 64 pixels x 32 products x 32 channels: one fold of a 32 x 32 array. Its weights
# load in 32 cycles, 64 pixels stream, and the skew is 32 + 32 - 2: 158 cycles. It has 2048 sums.
ARRAY_CYCLES = 158
SUMS = 2048


class Log(Hook):
    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.retires: list[Retire] = []

    def on_span(self, span: Span) -> None:
        if span.source == "matrix0":
            self.spans.append(span)

    def on_retire(self, retire: Retire) -> None:
        self.retires.append(retire)


def run(tiles: int, rate: int, *changes: str):
    """Tiles back to back on one unit, without any dependence between them."""
    machine = override(load_machine("ideal"), [f"matrix.output_elements_per_cycle={rate}", *changes])
    body = [convolve_tile(0, 4096 + 2048 * i, 2048) for i in range(tiles)]
    program = make_program([*body, Halt()], target=machine.target)
    log = Log()
    result = simulate(program, machine, "NOM", {}, functional=False, verify=False, hooks=[log])
    return result, log


def test_a_fast_output_stage_never_delays_the_array():
    _, log = run(3, rate=32)
    starts = [span.start for span in log.spans]
    assert starts == [starts[0] + i * ARRAY_CYCLES for i in range(3)]


def test_the_drain_of_an_output_stationary_tile_hides_under_the_next_one():
    _, log = run(3, 32, "matrix.dataflow=output_stationary", "matrix.stationary_load=serial")
    # Two folds of 32 pixels, each 32 products and a skew of 62 cycles.
    starts = [span.start for span in log.spans]
    assert starts == [starts[0] + i * 2 * (32 + 62) for i in range(3)]


def test_a_fast_output_stage_retires_with_the_array():
    _, log = run(3, rate=32)
    assert [retire.cycle for retire in log.retires] == [span.end for span in log.spans]


def test_a_slow_output_stage_sets_the_pace():
    _, log = run(6, rate=1)
    retired = [retire.cycle for retire in log.retires]
    assert [b - a for a, b in itertools.pairwise(retired)] == [SUMS] * 5


def test_the_array_starts_while_the_tile_before_drains():
    _, log = run(2, rate=1)
    assert log.spans[1].start == log.spans[0].end < log.retires[0].cycle


def test_the_array_waits_for_a_free_half_of_the_accumulators():
    result, log = run(3, rate=1)
    # The third tile needs the half that the first one leaves when it retires.
    assert log.spans[2].start == log.retires[0].cycle
    stalled = result.units["matrix0"].stalls[StallReason.OUTPUT_STAGE]
    # and after its last tile the unit waits for the drain of the second and the third
    tail = log.retires[2].cycle - log.spans[2].end
    assert stalled == log.spans[2].start - log.spans[1].end + tail


def test_a_retired_tile_has_passed_the_output_stage():
    _, log = run(1, rate=1)
    # The first sum leaves the array 32 + 31 cycles after the start, the stage then needs one cycle for each.
    assert log.retires[0].cycle - log.spans[0].start >= 63 + SUMS


def test_matrix_cycles_count_the_array_alone():
    result, _ = run(4, rate=1)
    assert result.matrix_cycles == 4 * ARRAY_CYCLES
