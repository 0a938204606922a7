"""Vector instructions against loops over single bytes."""

import dataclasses
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.arithmetic import softmax_parameters
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
from npu_sim.errors import MachineError
from npu_sim.functional import vector
from npu_sim.functional.executor import Executor
from tests.support import naive_instructions
from tests.support.functional_states import random_state
from tests.support.scalar_arithmetic import l2_codes, softmax_codes
from tests.support.window_strategies import (
    SRAM_BYTES,
    Layout,
    depthwise_convolutions,
    has_empty_window,
    pools,
)

seeds = st.integers(0, 2**32 - 1)
shifts = st.sampled_from([-31, -20, -8, -1, 0])
mantissas = st.integers(2**30, 2**31 - 1)


@given(depthwise_convolutions(), seeds, st.sampled_from([1, 40, 1 << 15]))
def test_depthwise_equals_loops_over_bytes(i: DepthwiseConvolve, seed: int, group_elements: int) -> None:
    state = random_state(seed, sram_bytes=SRAM_BYTES)
    expected = bytearray(state.sram)
    naive_instructions.depthwise_convolve(i, expected)
    with mock.patch.object(vector, "_GROUP_ELEMENTS", group_elements):
        Executor(state).execute(i, 0)
    assert bytes(state.sram) == bytes(expected)


def depthwise_of_one_channel(taps: int) -> DepthwiseConvolve:
    """A window of 1 x taps over as many pixels; weights at 1024, output at 2048."""
    return DepthwiseConvolve(
        unit_mask=1,
        input_address=0,
        input_row_pitch=taps,
        input_pixel_pitch=1,
        input_height=1,
        input_width=taps,
        input_channels=1,
        kernel_width=taps,
        output_address=2048,
        output_row_pitch=1,
        output_pixel_pitch=1,
        output_height=1,
        output_width=1,
        output_channels=1,
        weight_address=1024,
        weight_tap_pitch=1,
        multiplier=2**30,
        shift=-16,
    )


def test_depthwise_sums_above_two_to_the_24_are_exact() -> None:
    state = random_state(0)
    state.sram[:2048] = 255
    state.sram[1024] = 253
    instruction = depthwise_of_one_channel(300)
    expected = bytearray(state.sram)
    naive_instructions.depthwise_convolve(instruction, expected)
    Executor(state).execute(instruction, 0)
    assert bytes(state.sram) == bytes(expected)


def test_depthwise_refuses_channels_that_are_no_multiple() -> None:
    instruction = dataclasses.replace(depthwise_of_one_channel(3), output_channels=2)
    with pytest.raises(MachineError, match="2 output channels: must be input channels 1 x"):
        Executor(random_state(0)).execute(instruction, 0)


@given(pools(), seeds)
def test_pool_equals_loops_over_bytes(instruction: Pool, seed: int) -> None:
    if has_empty_window(instruction):  # has no average
        instruction = dataclasses.replace(instruction, mode=PoolMode.MAX)
    state = random_state(seed, sram_bytes=SRAM_BYTES)
    expected = bytearray(state.sram)
    naive_instructions.pool(instruction, expected)
    Executor(state).execute(instruction, 0)
    assert bytes(state.sram) == bytes(expected)


def pool_of_two(mode: PoolMode, **fields: int) -> Pool:
    """One window of two pixels of one channel at 0; output at 16."""
    layout: dict[str, Any] = {
        "unit_mask": 1,
        "mode": mode,
        "input_address": 0,
        "input_row_pitch": 2,
        "input_pixel_pitch": 1,
        "input_height": 1,
        "input_width": 2,
        "input_channels": 1,
        "kernel_width": 2,
        "output_address": 16,
        "output_row_pitch": 1,
        "output_pixel_pitch": 1,
        "output_height": 1,
        "output_width": 1,
        "output_channels": 1,
    }
    return Pool(**{**layout, **fields})


def test_average_rounds_half_up() -> None:
    state = random_state(0)
    state.sram[:2] = [4, 5]
    Executor(state).execute(pool_of_two(PoolMode.AVERAGE), 0)
    assert state.sram[16] == 5


def test_average_divides_by_the_valid_taps_only() -> None:
    state = random_state(0)
    state.sram[:2] = [9, 100]
    Executor(state).execute(pool_of_two(PoolMode.AVERAGE, pad_left=1), 0)
    assert state.sram[16] == 9


def test_maximum_of_a_window_in_the_padding_is_the_smallest_value() -> None:
    state = random_state(0)
    Executor(state).execute(pool_of_two(PoolMode.MAX, pad_left=2), 0)
    assert state.sram[16] == 0


def test_average_of_a_window_in_the_padding_is_an_error() -> None:
    with pytest.raises(MachineError, match=r"Pool: .*needs a valid tap"):
        Executor(random_state(0)).execute(pool_of_two(PoolMode.AVERAGE, pad_left=2), 0)


def test_pool_refuses_other_output_channels() -> None:
    with pytest.raises(MachineError, match="2 output channels"):
        Executor(random_state(0)).execute(pool_of_two(PoolMode.MAX, output_channels=2), 0)


@st.composite
def operand(
    draw: st.DrawFn, layout: Layout, prefix: str, counts: list[int], *, broadcast: bool
) -> dict[str, int]:
    """Address and pitches of one operand of an elementwise instruction, with slack."""
    fields, pitch = {}, 1
    for dimension, count in enumerate(counts):
        pitch += draw(st.integers(0, 1))
        repeated = broadcast and draw(st.booleans())
        fields[f"{prefix}_pitch{dimension}"] = 0 if repeated else pitch
        pitch *= count
    fields[f"{prefix}_address"] = layout.place(pitch)
    return fields


@st.composite
def loops(draw: st.DrawFn, *, second: bool) -> dict[str, int]:
    """Counts and operands of an elementwise instruction; inputs may be broadcast."""
    layout = Layout()
    counts = draw(st.lists(st.integers(1, 5), min_size=4, max_size=4))
    fields = {f"count{n}": count for n, count in enumerate(counts)}
    fields |= draw(operand(layout, "input", counts, broadcast=True))
    fields |= draw(operand(layout, "output", counts, broadcast=False))
    if second:
        fields |= draw(operand(layout, "second", counts, broadcast=True))
    return {"unit_mask": 1, **fields}


@st.composite
def pairs(draw: st.DrawFn, output_shifts: list[int]) -> dict[str, int]:
    """The fields of an instruction on two quantised inputs."""
    zero = st.integers(0, 255)
    return draw(loops(second=True)) | {
        "input_zero": draw(zero),
        "second_zero": draw(zero),
        "output_zero": draw(zero),
        "output_multiplier": draw(mantissas),
        "output_shift": draw(st.sampled_from(output_shifts)),
        "clamp_min": draw(st.sampled_from([0, 0, 90])),
        "clamp_max": draw(st.sampled_from([255, 255, 170])),
    }


@st.composite
def additions(draw: st.DrawFn) -> Add:
    return Add(
        **draw(pairs([-22, -20, -19, -12, 0])),
        left_shift=draw(st.sampled_from([20, 20, 0, 15])),
        input_multiplier=draw(mantissas),
        input_shift=draw(shifts),
        second_multiplier=draw(mantissas | st.integers(-(2**31) + 1, -(2**30))),
        second_shift=draw(shifts),
    )


elementwise = st.one_of(
    loops(second=False).map(lambda fields: Copy(**fields)),
    loops(second=False).map(lambda fields: Lookup(**fields, table_address=SRAM_BYTES - 256)),
    additions(),
    pairs([-31, -9, -8, -6, -1, 0]).map(lambda fields: Multiply(**fields)),
)


@given(elementwise, seeds)
def test_elementwise_equals_loops_over_bytes(instruction: Copy | Lookup | Add | Multiply, seed: int) -> None:
    state = random_state(seed, sram_bytes=SRAM_BYTES)
    expected = bytearray(state.sram)
    naive_instructions.elementwise(instruction, expected)
    Executor(state).execute(instruction, 0)
    assert bytes(state.sram) == bytes(expected)


def test_overlapping_copy_reads_everything_first() -> None:
    state = random_state(0)
    before = state.sram[:100].copy()
    copy = Copy(unit_mask=1, count0=100, input_address=0, output_address=1)
    Executor(state).execute(copy, 0)
    assert np.array_equal(state.sram[1:101], before)


def test_add_refuses_a_clamp_outside_its_type() -> None:
    fields = {
        f"{name}_{part}": 0
        for name in ("input", "second", "output")
        for part in ("zero", "multiplier", "shift")
    }
    addition = Add(
        unit_mask=1, count0=1, input_address=0, second_address=1, output_address=2, clamp_max=300, **fields
    )
    with pytest.raises(MachineError, match="Add: clamp 0 … 300"):
        Executor(random_state(0)).execute(addition, 0)


@pytest.mark.parametrize("instruction", [Copy, Lookup])
def test_elementwise_outside_sram_is_an_error(instruction: type[Copy | Lookup]) -> None:
    table = {"table_address": 0} if instruction is Lookup else {}
    outside = instruction(unit_mask=1, count0=17, input_address=0, output_address=4080, **table)
    with pytest.raises(MachineError, match="SRAM at address 4080"):
        Executor(random_state(0)).execute(outside, 0)


def softmax_instruction(rows: int, depth: int, scale: float, *, input_slack: int = 0) -> Softmax:
    """Input at 0, output at 2048."""
    multiplier, shift, limit = softmax_parameters(scale, 1.0)
    return Softmax(
        unit_mask=1,
        rows=rows,
        depth=depth,
        input_address=0,
        input_row_pitch=depth + input_slack,
        output_address=2048,
        output_row_pitch=depth + 1,
        multiplier=multiplier,
        shift=shift,
        difference_limit=limit,
    )


@given(st.integers(1, 4), st.integers(1, 30), st.sampled_from([0.003, 0.05, 0.3, 3.0]), seeds)
def test_softmax_equals_the_scalar_rule_row_by_row(rows: int, depth: int, scale: float, seed: int) -> None:
    state = random_state(seed)
    before = state.sram.copy()
    Executor(state).execute(softmax_instruction(rows, depth, scale, input_slack=2), 0)
    for row in range(rows):
        codes = before[row * (depth + 2) :][:depth].tolist()
        assert state.sram[2048 + row * (depth + 1) :][:depth].tolist() == softmax_codes(codes, scale, 1.0)
    assert state.sram[2048 + depth] == before[2048 + depth]  # between the rows


def test_softmax_outside_sram_is_an_error() -> None:
    with pytest.raises(MachineError, match="Softmax: access to SRAM"):
        Executor(random_state(0)).execute(softmax_instruction(100, 100, 0.1), 0)


@given(st.integers(1, 4), st.integers(1, 30), st.integers(0, 255), seeds)
def test_l2_normalize_equals_the_scalar_rule_row_by_row(
    rows: int, depth: int, zero_point: int, seed: int
) -> None:
    state = random_state(seed)
    before = state.sram.copy()
    instruction = L2Normalize(
        unit_mask=1,
        rows=rows,
        depth=depth,
        input_address=0,
        input_row_pitch=depth + 2,
        output_address=2048,
        output_row_pitch=depth + 1,
        input_zero=zero_point,
    )
    Executor(state).execute(instruction, 0)
    for row in range(rows):
        codes = before[row * (depth + 2) :][:depth].tolist()
        assert state.sram[2048 + row * (depth + 1) :][:depth].tolist() == l2_codes(codes, zero_point)
    assert state.sram[2048 + depth] == before[2048 + depth]  # between the rows
