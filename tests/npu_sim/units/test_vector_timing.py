import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.instructions.gather import Gather, HashGather, HashHits
from isa.instructions.resize import ResizeBilinear
from isa.instructions.vector import (
    Add,
    Copy,
    DepthwiseConvolve,
    L2Normalize,
    Lookup,
    Multiply,
    Pool,
    PoolMode,
    Softmax,
)
from npu_sim.units.vector_timing import SOFTMAX_ROW, lane_steps, peak_cycles, row_cycles, vector_cycles
from tests.support.programs import convolve

WINDOW = {
    "unit_mask": 1,
    "input_address": 0,
    "input_row_pitch": 80,
    "input_pixel_pitch": 8,
    "input_height": 10,
    "input_width": 10,
    "input_channels": 8,
    "kernel_height": 3,
    "kernel_width": 3,
    "output_address": 2048,
    "output_row_pitch": 64,
    "output_pixel_pitch": 8,
    "output_height": 8,
    "output_width": 8,
    "output_channels": 8,
}
ELEMENTWISE = {"unit_mask": 1, "count0": 500, "input_address": 0, "output_address": 1024}
ADD = {
    "second_address": 512,
    **dict.fromkeys(["input_zero", "second_zero", "output_zero"], 0),
    **dict.fromkeys(["input_multiplier", "second_multiplier", "output_multiplier"], 1 << 30),
    **dict.fromkeys(["input_shift", "second_shift", "output_shift"], 0),
}
MULTIPLY = {"second_address": 512, "input_zero": 0, "second_zero": 0, "output_zero": 0}
MULTIPLY |= {"output_multiplier": 1 << 30, "output_shift": 0}
ROWS = {
    "unit_mask": 1,
    "rows": 2,
    "depth": 100,
    "input_address": 0,
    "input_row_pitch": 100,
    "output_address": 512,
    "output_row_pitch": 100,
}
SOFTMAX = Softmax(**ROWS, multiplier=1 << 30, shift=20, difference_limit=100)
TABLE = {
    "unit_mask": 1,
    "lookups": 3,
    "lookup_address": 0,
    "value_address": 1024,
    "value_rows": 100,
    "value_row_pitch": 64,
    "row_bytes": 64,
    "output_address": 512,
    "output_row_pitch": 64,
}


def resize(height: int, width: int, channels: int) -> ResizeBilinear:
    fields = {field.name: 1 for field in ResizeBilinear.fields}
    return ResizeBilinear(**fields | {"output_height": height, "output_width": width, "channels": channels})


@pytest.mark.parametrize(
    ("instruction", "cycles"),
    [
        # 8*8*8 = 512 elements are 4 groups of 128 lanes
        (DepthwiseConvolve(**WINDOW, weight_address=1024, weight_tap_pitch=8), 4 * (9 + 1)),
        (Pool(**WINDOW, mode=PoolMode.MAX), 4 * 9),
        (Pool(**WINDOW, mode=PoolMode.AVERAGE), 4 * (9 + 1)),
        # 500 elements are 4 groups, the last one not full
        (Copy(**ELEMENTWISE), 4),
        (Lookup(**ELEMENTWISE, table_address=2048), 4),
        (Add(**ELEMENTWISE, **ADD), 4 * 3),
        # 200 elements are 2 groups; a row adds two reductions over 128 = 2**7 lanes and 10 steps
        (SOFTMAX, 2 * 20 + 2 * (2 * 7 + 10)),
        (Multiply(**ELEMENTWISE, **MULTIPLY), 4 * 2),
        # a row adds one reduction and 5 Newton steps of 7, then 4 more steps
        (L2Normalize(**ROWS, input_zero=0), 2 * 4 + 2 * (7 + 39)),
        (resize(5, 10, 8), 4 * 17),
        # 192 bytes are 2 groups; a lookup adds 2 steps, and 2 for each of the 7 probes of 100 keys
        (Gather(**TABLE), 2 + 3 * 2),
        (HashGather(**TABLE, key_address=0), 2 + 3 * (2 + 2 * 7)),
        # 103 keys and lookups are 1 group
        (
            HashHits(unit_mask=1, lookups=3, lookup_address=0, keys=100, key_address=0, output_address=0),
            1 + 3 * (1 + 2 * 7),
        ),
    ],
)
def test_cycles_of_each_instruction_on_128_lanes(instruction, cycles):
    assert vector_cycles(lane_steps(instruction), 128) == cycles


def test_a_matrix_instruction_is_refused():
    with pytest.raises(TypeError, match="Convolve is no instruction of the vector unit"):
        lane_steps(convolve())


def test_one_lane_needs_no_reduction():
    assert row_cycles(SOFTMAX_ROW, 1) == 10


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 300))
def test_cutting_never_saves_cycles(first, second, lanes):
    def cycles(elements: int) -> int:
        return vector_cycles(lane_steps(Copy(**ELEMENTWISE | {"count0": elements})), lanes)

    assert cycles(first) + cycles(second) >= cycles(first + second)


@given(st.integers(1, 5000), st.integers(1, 300))
def test_the_peak_rate_is_never_beaten(elements, lanes):
    steps = lane_steps(Copy(**ELEMENTWISE | {"count0": elements}))
    assert peak_cycles(steps, lanes) <= vector_cycles(steps, lanes)
