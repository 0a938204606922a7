"""What the instructions that pick rows, and interpolation, read and write."""

from isa.instructions.gather import Gather, HashGather, HashHits
from isa.instructions.resize import ResizeBilinear
from tests.isa.test_accesses import byte_set, operand

TABLE = {
    "unit_mask": 1,
    "lookups": 3,
    "lookup_address": 8,
    "value_address": 100,
    "value_rows": 4,
    "value_row_pitch": 10,
    "row_bytes": 6,
    "output_address": 300,
    "output_row_pitch": 7,
}


def test_gather_may_read_every_row_of_its_table() -> None:
    assert byte_set(operand(Gather(**TABLE), "values")) == {
        100 + 10 * r + b for r in range(4) for b in range(6)
    }


def test_gather_writes_a_row_for_each_lookup() -> None:
    assert byte_set(operand(Gather(**TABLE), "output")) == {
        300 + 7 * r + b for r in range(3) for b in range(6)
    }


def test_lookups_are_int32() -> None:
    assert byte_set(operand(Gather(**TABLE), "lookups")) == set(range(8, 20))


def test_hash_gather_reads_a_key_for_each_row() -> None:
    assert byte_set(operand(HashGather(**TABLE, key_address=60), "keys")) == set(range(60, 76))


def test_hash_hits_writes_a_byte_for_each_lookup() -> None:
    made = HashHits(unit_mask=1, lookups=3, lookup_address=8, keys=5, key_address=60, output_address=300)
    assert byte_set(operand(made, "keys")) == set(range(60, 80))
    assert byte_set(operand(made, "output")) == {300, 301, 302}


def test_resize_reads_its_tile_of_the_image() -> None:
    made = ResizeBilinear(
        unit_mask=1,
        input_address=10,
        input_row_pitch=20,
        input_pixel_pitch=4,
        input_height=2,
        input_width=3,
        first_input_row=5,
        first_input_column=6,
        row_scale=0,
        column_scale=0,
        output_address=500,
        output_row_pitch=30,
        output_pixel_pitch=3,
        output_height=3,
        output_width=2,
        first_output_row=0,
        first_output_column=0,
        channels=2,
    )
    assert byte_set(operand(made, "input")) == {
        10 + 20 * y + 4 * x + c for y in range(2) for x in range(3) for c in range(2)
    }
    assert byte_set(operand(made, "output")) == {
        500 + 30 * y + 3 * x + c for y in range(3) for x in range(2) for c in range(2)
    }
