"""Convolve against loops over single bytes."""

import dataclasses
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.dtypes import DataType, Rounding
from isa.instructions.matrix import Convolve
from isa.target import Dataflow
from npu_sim.errors import MachineError
from npu_sim.functional import matrix
from npu_sim.functional.executor import Executor
from npu_sim.functional.state import MachineState
from tests.support import naive_instructions
from tests.support.functional_states import random_state, small_program, small_target
from tests.support.window_strategies import SRAM_BYTES, convolutions

seeds = st.integers(0, 2**32 - 1)


def fully_connected(depth: int, channels: int, **fields: int) -> Convolve:
    """One pixel of `depth` channels at 0; weights at 65536, output at 131072, biases at 135168."""
    layout: dict[str, Any] = {
        "unit_mask": 1,
        "input_address": 0,
        "input_row_pitch": depth,
        "input_pixel_pitch": depth,
        "input_height": 1,
        "input_width": 1,
        "input_channels": depth,
        "output_address": 131072,
        "output_row_pitch": channels,
        "output_pixel_pitch": channels,
        "output_height": 1,
        "output_width": 1,
        "output_channels": channels,
        "weight_address": 65536,
        "weight_tap_pitch": depth,
        "weight_channel_pitch": depth,
        "bias_address": 135168,
        "multiplier": 2**30,
    }
    return Convolve(**{**layout, **fields})


@given(convolutions(), seeds, st.sampled_from([1, 60, 1 << 19]))
def test_convolve_equals_loops_over_bytes(instruction: Convolve, seed: int, group_elements: int) -> None:
    state = random_state(seed, sram_bytes=SRAM_BYTES)
    expected = bytearray(state.sram)
    naive_instructions.convolve(instruction, expected, {})
    with mock.patch.object(matrix, "_GROUP_ELEMENTS", group_elements):
        Executor(state).execute(instruction, 0)
    assert bytes(state.sram) == bytes(expected)


@given(convolutions(), st.lists(seeds, min_size=2, max_size=4), st.integers(0, 9), st.integers(0, 1))
def test_sums_carry_from_start_to_finish(
    instruction: Convolve, seeds_of_parts: list[int], accumulator_row: int, unit: int
) -> None:
    state = random_state(0, sram_bytes=SRAM_BYTES)
    expected = bytearray(state.sram)
    sums: naive_instructions.Sums = {}
    state.accumulator_rows(unit, 0, 128, 8)[...] = 77  # what an earlier tile has left
    for number, seed in enumerate(seeds_of_parts):
        part = dataclasses.replace(
            instruction,
            start=int(number == 0),
            finish=int(number == len(seeds_of_parts) - 1),
            accumulator_row=accumulator_row,
            input_zero=seed % 256,
        )
        naive_instructions.convolve(part, expected, sums)
        Executor(state).execute(part, unit)
    assert bytes(state.sram) == bytes(expected)


def test_each_unit_has_its_own_sums() -> None:
    state = random_state(1, sram_bytes=1 << 18)
    executor = Executor(state)
    begin = fully_connected(16, 4, finish=0)
    executor.execute(begin, 0)
    executor.execute(dataclasses.replace(begin, input_address=16), 1)
    first, second = state.accumulator_rows(0, 0, 1, 4).copy(), state.accumulator_rows(1, 0, 1, 4)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("depth", [200, 258, 3000])
def test_largest_products_are_summed_exactly(depth: int) -> None:
    # From 258 products of 255 * 255 on, the sum exceeds 2**24.
    state = MachineState(small_program(small_target(sram_bytes=1 << 18)))
    state.sram[:depth] = 255
    state.sram[65536 : 65536 + depth] = 255
    state.sram[65536 + depth - 1] = 254
    Executor(state).execute(fully_connected(depth, 1, finish=0), 0)
    assert state.accumulator_rows(0, 0, 1, 1)[0, 0] == depth * 255 * 255 - 255


def test_sums_wrap_modulo_two_to_the_32() -> None:
    state = MachineState(small_program(small_target(sram_bytes=1 << 18)))
    state.sram[:] = 255
    Executor(state).execute(fully_connected(40_000, 1, finish=0), 0)
    assert state.accumulator_rows(0, 0, 1, 1)[0, 0] == 40_000 * 255 * 255 - 2**32


def test_a_bias_wraps_the_sum() -> None:
    state = MachineState(small_program(small_target(sram_bytes=1 << 18)))
    state.sram[0] = state.sram[65536] = 255
    state.sram[135168:135172] = np.array([2**31 - 1], "<i4").view(np.uint8)
    Executor(state).execute(fully_connected(1, 1, finish=0, has_bias=1), 0)
    assert state.accumulator_rows(0, 0, 1, 1)[0, 0] == 255 * 255 - 2**31 - 1


def test_in_place_convolution_reads_everything_first() -> None:
    state = random_state(5, sram_bytes=1 << 18)
    apart = fully_connected(8, 8, shift=-9, output_zero=100)
    executor = Executor(state)
    executor.execute(apart, 0)
    result = state.sram[131072 : 131072 + 8].copy()
    executor.execute(dataclasses.replace(apart, output_address=0), 0)
    assert np.array_equal(state.sram[:8], result)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"input_address": (1 << 18) - 3}, "SRAM at address 262141"),
        ({"weight_address": (1 << 18) - 3}, "SRAM at address 262141"),
        ({"output_address": (1 << 18) - 3}, "SRAM at address 262141"),
        ({"has_bias": 1, "bias_address": (1 << 18) - 3}, "SRAM at address 262141"),
        ({"finish": 0, "accumulator_row": 128}, r"rows 128 … 128 of 4 channels: there are 128 rows of 8"),
        ({"shift": -32}, "shift -32"),
        ({"clamp_max": 256}, "clamp 0 … 256"),
        ({"stride_height": 0}, "at least 1"),
        ({"input_type": DataType.S8}, "input type S8"),
        ({"weight_type": DataType.S8}, "weight type S8"),
        ({"rounding": Rounding.SINGLE}, "rounding SINGLE"),
        ({"per_channel": 1}, "per_channel"),
    ],
)
def test_what_the_unit_cannot_do_is_an_error_that_writes_nothing(
    fields: dict[str, int], message: str
) -> None:
    state = random_state(2, sram_bytes=1 << 18)
    before = state.sram.copy()
    with pytest.raises(MachineError, match=f"Convolve: .*{message}"):
        Executor(state).execute(fully_connected(8, 4, **fields), 0)
    assert np.array_equal(state.sram, before)


def test_a_unit_that_does_not_exist_has_no_sums() -> None:
    state = random_state(2, sram_bytes=1 << 18)
    with pytest.raises(MachineError, match="matrix unit 2: the machine has 2"):
        Executor(state).execute(fully_connected(8, 4, finish=0), 2)


def test_an_output_stationary_unit_holds_one_row_of_sums_per_array_row() -> None:
    target = small_target(dataflow=Dataflow.OUTPUT_STATIONARY, array_rows=4)
    state = MachineState(small_program(target))
    assert state.accumulator_rows(0, 0, 4, 8).shape == (4, 8)
    with pytest.raises(MachineError, match="there are 4 rows"):
        state.accumulator_rows(0, 0, 5, 8)
