"""Float vector instructions against loops over single elements."""

import dataclasses
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.float_bits import float32_bits
from isa.instructions.float_vector import (
    BinaryFunction,
    Dequantize,
    FloatBinary,
    FloatPool,
    FloatPoolMode,
    FloatRows,
    FloatUnary,
    RowFunction,
    UnaryFunction,
)
from npu_sim.errors import MachineError
from npu_sim.functional import float_vector
from npu_sim.functional.executor import Executor
from npu_sim.functional.state import MachineState
from tests.support import naive_float_instructions
from tests.support.functional_states import random_state
from tests.support.window_strategies import SRAM_BYTES, Layout, has_empty_window, pools

seeds = st.integers(0, 2**32 - 1)


def float_state(seed: int) -> MachineState:
    """A state whose SRAM holds moderate single-precision numbers, with some of them whole."""
    state = random_state(seed, sram_bytes=SRAM_BYTES)
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 3, SRAM_BYTES // 4).astype(np.float32)
    values[rng.random(values.size) < 0.2] = np.float32(rng.integers(-4, 5))
    state.sram[:] = values.view(np.uint8)
    return state


CLAMPS = (
    {},
    {"clamp_min": float32_bits(0.0)},
    {"clamp_min": float32_bits(-1.0), "clamp_max": float32_bits(1.5)},
)
clamps = st.sampled_from(CLAMPS)


@st.composite
def operand(
    draw: st.DrawFn, layout: Layout, prefix: str, counts: list[int], element_bytes: int, *, broadcast: bool
) -> dict[str, int]:
    """Address and pitches of one operand of an elementwise instruction, with slack."""
    fields, pitch = {}, element_bytes
    for dimension, count in enumerate(counts):
        pitch += element_bytes * draw(st.integers(0, 1))
        repeated = broadcast and draw(st.booleans())
        fields[f"{prefix}_pitch{dimension}"] = 0 if repeated else pitch
        pitch *= count
    fields[f"{prefix}_address"] = layout.place(-(-pitch // 4) * 4)
    return fields


@st.composite
def loops(draw: st.DrawFn, *, input_bytes: int = 4, second: bool = False) -> dict[str, int]:
    """Counts and operands of an elementwise instruction; inputs may be broadcast."""
    layout = Layout()
    counts = draw(st.lists(st.integers(1, 4), min_size=4, max_size=4))
    fields = {f"count{n}": count for n, count in enumerate(counts)}
    fields |= draw(operand(layout, "input", counts, input_bytes, broadcast=True))
    fields |= draw(operand(layout, "output", counts, 4, broadcast=False))
    if second:
        fields |= draw(operand(layout, "second", counts, 4, broadcast=True))
    return {"unit_mask": 1, **fields}


@st.composite
def binaries(draw: st.DrawFn) -> FloatBinary:
    return FloatBinary(
        **draw(loops(second=True)), **draw(clamps), function=draw(st.sampled_from(BinaryFunction))
    )


@st.composite
def unaries(draw: st.DrawFn) -> FloatUnary:
    return FloatUnary(**draw(loops()), **draw(clamps), function=draw(st.sampled_from(UnaryFunction)))


@st.composite
def dequantizations(draw: st.DrawFn) -> Dequantize:
    scale = float32_bits(draw(st.floats(2**-10, 2.0, width=32)))
    return Dequantize(**draw(loops(input_bytes=1)), input_zero=draw(st.integers(0, 255)), scale=scale)


@given(binaries() | unaries() | dequantizations(), seeds)
def test_elementwise_equals_loops_over_elements(
    instruction: FloatBinary | FloatUnary | Dequantize, seed: int
) -> None:
    state = float_state(seed)
    expected = bytearray(state.sram)
    naive_float_instructions.elementwise(instruction, expected)
    Executor(state).execute(instruction, 0)
    assert_same(state, expected)


def assert_same(state: MachineState, expected: bytearray) -> None:
    """Compare all of SRAM; double-precision functions of NumPy and of the host may round differently."""
    np.testing.assert_array_max_ulp(
        state.sram.view(np.float32), np.frombuffer(expected, np.float32), maxulp=1
    )


@st.composite
def float_pools(draw: st.DrawFn) -> FloatPool:
    """As `pools`, with elements and pitches of four bytes."""
    byte_pool = draw(pools())
    names = {field.name for field in FloatPool.fields} - {"mode", "clamp_min", "clamp_max"}
    fields = {name: getattr(byte_pool, name) for name in names}
    scaled = {name: 4 * value for name, value in fields.items() if "pitch" in name or "address" in name}
    return FloatPool(**fields | scaled, **draw(clamps), mode=draw(st.sampled_from(FloatPoolMode)))


@given(float_pools(), seeds)
def test_pool_equals_loops_over_elements(instruction: FloatPool, seed: int) -> None:
    if has_empty_window(instruction):  # has no average
        instruction = dataclasses.replace(instruction, mode=FloatPoolMode.MAX)
    state = float_state(seed)
    expected = bytearray(state.sram)
    naive_float_instructions.pool(instruction, expected)
    Executor(state).execute(instruction, 0)
    assert_same(state, expected)


@st.composite
def row_instructions(draw: st.DrawFn) -> FloatRows:
    rows, depth, layout = draw(st.integers(1, 5)), draw(st.integers(1, 20)), Layout()
    pitches = [4 * (depth + draw(st.integers(0, 2))) for _ in range(2)]
    return FloatRows(
        unit_mask=1,
        rows=rows,
        depth=depth,
        input_address=layout.place(rows * pitches[0]),
        input_row_pitch=pitches[0],
        output_address=layout.place(rows * pitches[1]),
        output_row_pitch=pitches[1],
        function=draw(st.sampled_from(RowFunction)),
        beta=float32_bits(draw(st.sampled_from([1.0, 0.75, 0.5, 2.0]))),
        radius=draw(st.sampled_from([0, 1, 2, 7, 40])),
        bias=float32_bits(draw(st.sampled_from([1.0, 9.0]))),
        alpha=float32_bits(draw(st.sampled_from([0.125, 4.0]))),
    )


@given(row_instructions(), seeds, st.sampled_from([1, 40, 1 << 16]))
def test_rows_equal_loops_over_elements(instruction: FloatRows, seed: int, group_elements: int) -> None:
    state = float_state(seed)
    expected = bytearray(state.sram)
    naive_float_instructions.rows(instruction, expected)
    with mock.patch.object(float_vector, "_GROUP_ELEMENTS", group_elements):
        Executor(state).execute(instruction, 0)
    assert_same(state, expected)


def unary(function: UnaryFunction, values: list[float], **fields: Any) -> list[float]:
    """The function of some values, from address 0 to 64."""
    state = random_state(0)
    state.sram[: 4 * len(values)] = np.array(values, np.float32).view(np.uint8)
    instruction = FloatUnary(
        unit_mask=1, count0=len(values), input_address=0, output_address=64, function=function, **fields
    )
    Executor(state).execute(instruction, 0)
    result: list[float] = state.sram[64 : 64 + 4 * len(values)].view(np.float32).tolist()
    return result


def test_a_clamp_limits_from_both_sides() -> None:
    limits = {"clamp_min": 0, "clamp_max": float32_bits(6.0)}
    assert unary(UnaryFunction.CLAMP, [-1.0, 0.25, 7.0], **limits) == [0.0, 0.25, 6.0]


def test_a_clamp_passes_nan_on() -> None:
    (result,) = unary(UnaryFunction.CLAMP, [float("nan")], clamp_min=0)
    assert np.isnan(result)


def test_infinities_are_results() -> None:
    ends = [float("-inf"), float("inf")]
    assert unary(UnaryFunction.LOGISTIC, ends) == [0.0, 1.0]
    assert unary(UnaryFunction.TANH, ends) == [-1.0, 1.0]


def test_floor_goes_down() -> None:
    assert unary(UnaryFunction.FLOOR, [-1.5, -0.25, 1.75]) == [-2.0, -1.0, 1.0]


def test_a_clamp_that_is_no_range_is_an_error() -> None:
    with pytest.raises(MachineError, match="FloatUnary: clamp 1 … 0: must be a range"):
        unary(UnaryFunction.CLAMP, [0.0], clamp_min=float32_bits(1.0), clamp_max=0)


def test_an_average_of_equal_numbers_is_that_number() -> None:
    state = random_state(0)
    state.sram[:12] = np.full(3, 0.1, np.float32).view(np.uint8)
    Executor(state).execute(pool_of_three(FloatPoolMode.AVERAGE), 0)
    assert state.sram[64:68].view(np.float32)[0] == np.float32(0.1)


def pool_of_three(mode: FloatPoolMode, **fields: int) -> FloatPool:
    """One window of three pixels of one channel at 0; output at 64."""
    layout: dict[str, Any] = {
        "unit_mask": 1,
        "mode": mode,
        "input_address": 0,
        "input_row_pitch": 12,
        "input_pixel_pitch": 4,
        "input_height": 1,
        "input_width": 3,
        "input_channels": 1,
        "kernel_width": 3,
        "output_address": 64,
        "output_row_pitch": 4,
        "output_pixel_pitch": 4,
        "output_height": 1,
        "output_width": 1,
        "output_channels": 1,
    }
    return FloatPool(**layout | fields)


def test_average_of_a_window_in_the_padding_is_an_error() -> None:
    with pytest.raises(MachineError, match=r"FloatPool: .*needs a valid tap"):
        Executor(random_state(0)).execute(pool_of_three(FloatPoolMode.AVERAGE, pad_left=3), 0)


def test_pool_refuses_other_output_channels() -> None:
    with pytest.raises(MachineError, match="2 output channels"):
        Executor(random_state(0)).execute(pool_of_three(FloatPoolMode.MAX, output_channels=2), 0)


def rows_of_two(function: RowFunction, values: list[float]) -> list[float]:
    state = random_state(0)
    state.sram[:8] = np.array(values, np.float32).view(np.uint8)
    instruction = FloatRows(
        unit_mask=1,
        rows=1,
        depth=2,
        input_address=0,
        input_row_pitch=8,
        output_address=64,
        output_row_pitch=8,
        function=function,
    )
    Executor(state).execute(instruction, 0)
    result: list[float] = state.sram[64:72].view(np.float32).tolist()
    return result


def test_a_softmax_of_large_numbers_does_not_overflow() -> None:
    assert rows_of_two(RowFunction.SOFTMAX, [3e38, 3e38]) == [0.5, 0.5]


def test_a_row_of_zeros_stays_as_it_is() -> None:
    assert rows_of_two(RowFunction.L2_NORMALIZE, [0.0, 0.0]) == [0.0, 0.0]


def test_an_operand_outside_sram_is_an_error() -> None:
    outside = FloatUnary(
        unit_mask=1, count0=5, input_address=0, output_address=4080, function=UnaryFunction.FLOOR
    )
    with pytest.raises(MachineError, match="SRAM at address 4080"):
        Executor(random_state(0)).execute(outside, 0)
