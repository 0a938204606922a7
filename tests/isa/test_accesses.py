import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.accesses import Access, Dimension, accesses
from isa.dtypes import DataType, Region
from isa.instruction import Instruction
from isa.instructions.control import Halt
from isa.instructions.vector import Add, DepthwiseConvolve, Lookup, Pool, PoolMode, Softmax
from tests.support.programs import convolve, copy, load, store

SMALL_DIMENSIONS = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 20)), max_size=4)


def byte_set(access: Access) -> set[int]:
    """Addresses by the definition: every combination of repetitions."""
    found: set[int] = set()
    for repetition in itertools.product(*(range(d.repeats) for d in access.dimensions)):
        first = access.address
        first += sum(r * d.stride_bytes for r, d in zip(repetition, access.dimensions, strict=True))
        found.update(range(first, first + access.run_bytes))
    return found


def make_access(run_bytes: int, dimensions: list[tuple[int, int]], address: int = 100) -> Access:
    return Access("input", None, False, address, run_bytes, tuple(Dimension(*d) for d in dimensions))


def operand(instruction: Instruction, name: str) -> Access:
    (found,) = (access for access in accesses(instruction) if access.operand == name)
    return found


def pool(**fields: Any) -> Pool:
    values: dict[str, Any] = {
        "unit_mask": 1,
        "mode": PoolMode.MAX,
        "batch": 2,
        "input_address": 10,
        "input_batch_pitch": 500,
        "input_row_pitch": 40,
        "input_pixel_pitch": 8,
        "input_height": 3,
        "input_width": 4,
        "input_channels": 5,
        "kernel_height": 2,
        "kernel_width": 2,
        "output_address": 2000,
        "output_batch_pitch": 300,
        "output_row_pitch": 30,
        "output_pixel_pitch": 6,
        "output_height": 2,
        "output_width": 3,
        "output_channels": 5,
    }
    return Pool(**values | fields)


@given(st.integers(1, 20), SMALL_DIMENSIONS)
def test_footprint_names_the_same_bytes(run_bytes: int, dimensions: list[tuple[int, int]]) -> None:
    access = make_access(run_bytes, dimensions)
    assert byte_set(access.footprint()) == byte_set(access)


@given(st.integers(1, 20), SMALL_DIMENSIONS)
def test_footprint_strides_ascend_from_beyond_the_run(
    run_bytes: int, dimensions: list[tuple[int, int]]
) -> None:
    footprint = make_access(run_bytes, dimensions).footprint()
    strides = [footprint.run_bytes + 1, *(d.stride_bytes for d in footprint.dimensions)]
    assert strides == sorted(strides)


@given(st.integers(1, 20), SMALL_DIMENSIONS)
def test_end_is_behind_the_largest_address(run_bytes: int, dimensions: list[tuple[int, int]]) -> None:
    access = make_access(run_bytes, dimensions)
    assert access.end == max(byte_set(access)) + 1


@given(st.integers(1, 20), SMALL_DIMENSIONS)
def test_a_byte_named_twice_is_found_exactly(run_bytes: int, dimensions: list[tuple[int, int]]) -> None:
    access = make_access(run_bytes, dimensions)
    assert access.names_a_byte_twice() == (len(byte_set(access)) < access.total_bytes)


def test_a_huge_overlap_is_found_without_listing_it() -> None:
    assert make_access(1 << 20, [(1 << 20, 1)]).names_a_byte_twice()


def test_a_dense_box_is_one_run() -> None:
    footprint = make_access(3, [(4, 3), (5, 12), (2, 60)]).footprint()
    assert (footprint.run_bytes, footprint.dimensions) == (120, ())


def test_rows_of_one_pitch_across_images_are_one_dimension() -> None:
    footprint = make_access(3, [(5, 12), (2, 60)]).footprint()
    assert (footprint.run_bytes, footprint.dimensions) == (3, (Dimension(10, 12),))


def test_halt_accesses_nothing() -> None:
    assert accesses(Halt()) == ()


def test_load_reads_its_region_and_writes_sram() -> None:
    made = load(64, 8, region=Region.SCRATCH, dram_offset=5, count1=3, dram_stride1=20, sram_stride1=8)
    source, destination = accesses(made)
    assert (source.region, source.write) == (Region.SCRATCH, False)
    assert byte_set(source) == {5 + 20 * r + b for r in range(3) for b in range(8)}
    assert (destination.region, destination.write) == (None, True)
    assert byte_set(destination) == set(range(64, 88))


def test_store_reads_sram_and_writes_its_region() -> None:
    made = store(64, 8, dram_offset=5, count2=3, dram_stride2=20, sram_stride2=9)
    source, destination = accesses(made)
    assert (source.region, source.write) == (None, False)
    assert byte_set(source) == {64 + 9 * r + b for r in range(3) for b in range(8)}
    assert (destination.region, destination.write) == (Region.OUTPUT, True)
    assert byte_set(destination) == {5 + 20 * r + b for r in range(3) for b in range(8)}


def test_image_is_every_valid_pixel_of_every_batch() -> None:
    assert byte_set(operand(pool(), "input")) == {
        10 + 500 * n + 40 * y + 8 * x + c
        for n in range(2)
        for y in range(3)
        for x in range(4)
        for c in range(5)
    }


def test_output_is_every_output_pixel_of_every_batch() -> None:
    assert byte_set(operand(pool(), "output")) == {
        2000 + 300 * n + 30 * y + 6 * x + c
        for n in range(2)
        for y in range(2)
        for x in range(3)
        for c in range(5)
    }


def test_padding_is_not_read() -> None:
    assert operand(pool(pad_top=7, pad_left=9), "input") == operand(pool(), "input")


def test_wide_elements_take_more_bytes() -> None:
    assert operand(pool(input_type=DataType.S16), "input").run_bytes == 10


def test_convolution_weights_are_channels_taps_and_input_channels() -> None:
    assert byte_set(operand(convolve(), "weights")) == {
        256 + 27 * n + 3 * t + c for n in range(4) for t in range(9) for c in range(3)
    }


def test_bias_is_an_int32_per_output_channel() -> None:
    assert byte_set(operand(convolve(), "bias")) == set(range(512, 528))


def test_channel_table_is_two_int32_per_output_channel() -> None:
    made = convolve(per_channel=1, table_address=600)
    assert byte_set(operand(made, "table")) == set(range(600, 632))


@pytest.mark.parametrize(
    ("start", "finish", "operands"),
    [
        (1, 1, ["input", "weights", "bias", "table", "output"]),
        (1, 0, ["input", "weights", "bias"]),
        (0, 0, ["input", "weights"]),
        (0, 1, ["input", "weights", "table", "output"]),
    ],
)
def test_bias_comes_with_the_start_and_output_with_the_finish(
    start: int, finish: int, operands: list[str]
) -> None:
    made = convolve(start=start, finish=finish, per_channel=1)
    assert [access.operand for access in accesses(made)] == operands


def test_depthwise_weights_are_taps_of_output_channels() -> None:
    shape = {name: getattr(pool(), name) for name in (f.name for f in Pool.fields) if name != "mode"}
    made = DepthwiseConvolve(
        **shape | {"output_channels": 10}, channel_multiplier=2, weight_address=900, weight_tap_pitch=16
    )
    assert byte_set(operand(made, "weights")) == {900 + 16 * t + k for t in range(4) for k in range(10)}


def test_elementwise_follows_its_pitches() -> None:
    made = copy(0, 500, 3, count1=2, count3=4, input_pitch1=10, input_pitch3=100, output_pitch0=50)
    assert byte_set(operand(made, "input")) == {
        x + 10 * y + 100 * w for x in range(3) for y in range(2) for w in range(4)
    }
    assert byte_set(operand(made, "output")) == {500, 550, 600}


def test_add_reads_two_inputs() -> None:
    values = {f.name: 0 for f in Add.fields if f.required}
    made = Add(**values | {"unit_mask": 1, "count0": 4, "second_address": 70, "second_pitch0": 0})
    assert byte_set(operand(made, "input")) == {0, 1, 2, 3}
    assert byte_set(operand(made, "second")) == {70}


def test_lookup_reads_its_table() -> None:
    made = Lookup(unit_mask=1, input_address=0, output_address=0, count0=4, table_address=512)
    assert byte_set(operand(made, "table")) == set(range(512, 768))


def test_softmax_follows_its_row_pitches() -> None:
    made = Softmax(
        unit_mask=1,
        rows=2,
        depth=3,
        input_address=0,
        input_row_pitch=10,
        output_address=100,
        output_row_pitch=4,
        multiplier=1,
        shift=0,
        difference_limit=0,
    )
    assert byte_set(operand(made, "input")) == {0, 1, 2, 10, 11, 12}
    assert byte_set(operand(made, "output")) == {100, 101, 102, 104, 105, 106}
