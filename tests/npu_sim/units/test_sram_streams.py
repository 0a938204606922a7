"""Lookups take the same cycles and words whatever they look for: those of the worst case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.instructions.gather import Gather, HashGather, HashHits
from npu_sim.config_io import load_machine
from npu_sim.memory.sram import bank_cycles, traffic_bytes
from npu_sim.units.sram_streams import probes, sram_streams

SRAM = load_machine("phone").sram  # 32 banks of 16-byte words
TABLE = {
    "unit_mask": 1,
    "lookups": 10,
    "lookup_address": 0,
    "value_address": 4096,
    "value_rows": 1000,
    "value_row_pitch": 64,
    "row_bytes": 64,
    "output_address": 1024,
    "output_row_pitch": 64,
}


def stream(instruction: Gather | HashGather | HashHits, operand: str):
    (found,) = (access for access in sram_streams(instruction, SRAM) if access.operand == operand)
    return found


@pytest.mark.parametrize(("keys", "expected"), [(1, 1), (2, 2), (3, 2), (4, 3), (1000, 10)])
def test_a_search_halves_the_keys(keys, expected):
    assert probes(keys) == expected


@given(st.integers(1, 300), st.integers(0, 300))
def test_no_search_needs_more_probes(keys, place):
    low, high, reads = 0, keys, 0
    while low < high:
        middle = (low + high) // 2
        reads += 1
        low, high = (middle + 1, high) if middle < place else (low, middle)
    assert reads <= probes(keys)


def test_only_the_picked_rows_are_read():
    assert traffic_bytes(stream(Gather(**TABLE), "values"), SRAM.word_bytes) == 10 * 64


def test_rows_between_words_take_one_word_more():
    shifted = Gather(**TABLE | {"value_row_pitch": 65})
    assert traffic_bytes(stream(shifted, "values"), SRAM.word_bytes) == 10 * 80


def test_all_picked_rows_begin_in_one_bank():
    # 10 rows of 4 words: the 4 banks they lie in serve one row per cycle
    assert bank_cycles(stream(Gather(**TABLE), "values"), SRAM) == 39 // 4


def test_every_probe_reads_the_same_bank():
    made = HashGather(**TABLE, key_address=8192)
    assert bank_cycles(stream(made, "searches"), SRAM) == 10 * 10 - 1
    assert traffic_bytes(stream(made, "searches"), SRAM.word_bytes) == 100 * 16


def test_hits_read_all_keys_and_search_them():
    made = HashHits(unit_mask=1, lookups=3, lookup_address=0, keys=8, key_address=64, output_address=128)
    moved = {a.operand: traffic_bytes(a, SRAM.word_bytes) for a in sram_streams(made, SRAM)}
    assert moved == {"lookups": 16, "keys": 32, "output": 16, "searches": 3 * 4 * 16}
