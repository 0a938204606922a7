"""Lookups against loops over single bytes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.instructions.gather import Gather, HashGather, HashHits
from npu_sim.errors import MachineError
from npu_sim.functional.executor import Executor
from npu_sim.functional.state import MachineState
from tests.support.functional_states import random_state

LOOKUP_ADDRESS, KEY_ADDRESS, VALUE_ADDRESS, OUTPUT_ADDRESS = 0, 512, 1024, 3072


@st.composite
def tables(draw: st.DrawFn) -> dict[str, int]:
    """Fields of a table and its output, with slack in both pitches."""
    row_bytes, rows = draw(st.integers(1, 12)), draw(st.integers(1, 20))
    return {
        "unit_mask": 1,
        "lookup_address": LOOKUP_ADDRESS,
        "value_address": VALUE_ADDRESS,
        "value_rows": rows,
        "value_row_pitch": row_bytes + draw(st.integers(0, 3)),
        "row_bytes": row_bytes,
        "output_address": OUTPUT_ADDRESS,
        "output_row_pitch": row_bytes + draw(st.integers(0, 3)),
    }


def store_integers(state: MachineState, address: int, values: list[int]) -> None:
    data = np.array(values, "<i4").view(np.uint8)
    state.sram[address : address + data.size] = data


def check_rows(
    state: MachineState, before: Any, i: Gather | HashGather, picked: Sequence[int | None]
) -> None:
    """Assert that the output is the picked rows (None: zeros) and that nothing else has changed."""
    expected = bytearray(before)
    for place, row in enumerate(picked):
        for byte in range(i.row_bytes):
            code = 0 if row is None else before[i.value_address + row * i.value_row_pitch + byte]
            expected[i.output_address + place * i.output_row_pitch + byte] = code
    assert bytes(state.sram) == bytes(expected)


@given(tables(), st.data(), st.integers(0, 2**32 - 1))
def test_gather_copies_the_numbered_rows(table: dict[str, int], data: st.DataObject, seed: int) -> None:
    numbers = data.draw(st.lists(st.integers(0, table["value_rows"] - 1), min_size=1, max_size=20))
    state = random_state(seed)
    store_integers(state, LOOKUP_ADDRESS, numbers)
    before = state.sram.copy()
    instruction = Gather(lookups=len(numbers), **table)
    Executor(state).execute(instruction, 0)
    check_rows(state, before, instruction, numbers)


@pytest.mark.parametrize("number", [-1, 3])
def test_gather_refuses_a_row_outside_the_table(number: int) -> None:
    state = random_state(0)
    store_integers(state, LOOKUP_ADDRESS, [1, number])
    instruction = Gather(
        unit_mask=1,
        lookups=2,
        lookup_address=LOOKUP_ADDRESS,
        value_address=VALUE_ADDRESS,
        value_rows=3,
        value_row_pitch=4,
        row_bytes=4,
        output_address=OUTPUT_ADDRESS,
        output_row_pitch=4,
    )
    before = state.sram.copy()
    with pytest.raises(
        MachineError, match=rf"Gather: lookup {number} is outside the 3 rows of values: 0 … 2"
    ):
        Executor(state).execute(instruction, 0)
    assert np.array_equal(state.sram, before)


small_keys = st.integers(-4, 12)


@given(tables(), st.data(), st.integers(0, 2**32 - 1))
def test_hash_gather_copies_the_first_row_of_a_key_or_zeros(
    table: dict[str, int], data: st.DataObject, seed: int
) -> None:
    rows = table["value_rows"]
    keys = sorted(data.draw(st.lists(small_keys, min_size=rows, max_size=rows)))
    lookups = data.draw(st.lists(small_keys, min_size=1, max_size=20))
    state = random_state(seed)
    store_integers(state, LOOKUP_ADDRESS, lookups)
    store_integers(state, KEY_ADDRESS, keys)
    before = state.sram.copy()
    instruction = HashGather(lookups=len(lookups), key_address=KEY_ADDRESS, **table)
    Executor(state).execute(instruction, 0)
    picked = [keys.index(lookup) if lookup in keys else None for lookup in lookups]
    check_rows(state, before, instruction, picked)


@given(st.lists(small_keys, min_size=1, max_size=20), st.lists(small_keys, min_size=1, max_size=20))
def test_hash_hits_are_the_lookups_that_are_keys(keys: list[int], lookups: list[int]) -> None:
    state = random_state(1)
    store_integers(state, KEY_ADDRESS, sorted(keys))
    store_integers(state, LOOKUP_ADDRESS, lookups)
    Executor(state).execute(hits(len(lookups), len(keys)), 0)
    found = state.sram[OUTPUT_ADDRESS : OUTPUT_ADDRESS + len(lookups)].tolist()
    assert found == [int(lookup in keys) for lookup in lookups]


def hits(lookups: int, keys: int) -> HashHits:
    return HashHits(
        unit_mask=1,
        lookups=lookups,
        lookup_address=LOOKUP_ADDRESS,
        keys=keys,
        key_address=KEY_ADDRESS,
        output_address=OUTPUT_ADDRESS,
    )


def test_hash_hits_refuses_keys_that_descend() -> None:
    state = random_state(0)
    store_integers(state, KEY_ADDRESS, [1, 5, 4])
    with pytest.raises(MachineError, match="key 4 at 2: must not be less than the key 5 before it"):
        Executor(state).execute(hits(1, 3), 0)


def test_keys_outside_sram_are_an_error() -> None:
    with pytest.raises(MachineError, match="HashHits: access to SRAM at address 512"):
        Executor(random_state(0)).execute(hits(1, 1000), 0)
