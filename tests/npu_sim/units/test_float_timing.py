import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.instruction import Instruction
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
from isa.instructions.vector import Copy
from npu_sim.actions import Action
from npu_sim.config_io import load_machine, override
from npu_sim.units.float_timing import (
    float_activities,
    float_cycles,
    float_steps,
    peak_float_cycles,
)
from npu_sim.units.lane_work import lane_work
from npu_sim.units.machine_timing import MachineTiming

LOOPS: dict[str, Any] = {"unit_mask": 1, "count0": 100, "input_address": 0, "output_address": 1024}
WINDOW: dict[str, Any] = {
    "unit_mask": 1,
    "input_address": 0,
    "input_row_pitch": 320,
    "input_pixel_pitch": 32,
    "input_height": 10,
    "input_width": 10,
    "input_channels": 8,
    "kernel_height": 3,
    "kernel_width": 3,
    "output_address": 4096,
    "output_row_pitch": 256,
    "output_pixel_pitch": 32,
    "output_height": 8,
    "output_width": 8,
    "output_channels": 8,
}
ROWS: dict[str, Any] = {
    "unit_mask": 1,
    "rows": 2,
    "depth": 50,
    "input_address": 0,
    "input_row_pitch": 200,
    "output_address": 512,
    "output_row_pitch": 200,
}
LOCAL_RESPONSE = FloatRows(**ROWS, function=RowFunction.LOCAL_RESPONSE, radius=2)


def binary(function: BinaryFunction) -> FloatBinary:
    return FloatBinary(**LOOPS, second_address=512, function=function)


@pytest.mark.parametrize(
    ("instruction", "cycles"),
    [
        # 100 elements are 4 groups of 32 lanes, the last one not full
        (binary(BinaryFunction.ADD), 4),
        (binary(BinaryFunction.MULTIPLY), 4),
        (FloatUnary(**LOOPS, function=UnaryFunction.CLAMP), 4),
        (FloatUnary(**LOOPS, function=UnaryFunction.FLOOR), 4),
        (FloatUnary(**LOOPS, function=UnaryFunction.LOGISTIC), 4 * 30),
        (FloatUnary(**LOOPS, function=UnaryFunction.TANH), 4 * 48),
        (Dequantize(**LOOPS, input_zero=0, scale=0), 4 * 2),
        # 8*8*8 = 512 elements are 16 groups
        (FloatPool(**WINDOW, mode=FloatPoolMode.MAX), 16 * 9),
        (FloatPool(**WINDOW, mode=FloatPoolMode.AVERAGE), 16 * (9 + 5)),
        (FloatPool(**WINDOW, mode=FloatPoolMode.L2), 16 * (2 * 9 + 5 + 11)),
        # a row adds reductions over 32 = 2**5 lanes, and a reciprocal (7 steps) or reciprocal root (10)
        (FloatRows(**ROWS, function=RowFunction.SOFTMAX), 4 * 27 + 2 * (2 * 5 + 7)),
        (FloatRows(**ROWS, function=RowFunction.L2_NORMALIZE), 4 * 3 + 2 * (5 + 1 + 10)),
        # square, 5 additions, alpha, bias, power of 53, product
        (LOCAL_RESPONSE, 4 * (1 + 5 + 2 + 53 + 1)),
    ],
    ids=str,
)
def test_cycles_of_each_instruction_on_32_lanes(instruction: Instruction, cycles: int) -> None:
    assert float_cycles(float_steps(instruction), 32) == cycles


def test_a_window_of_local_response_ends_at_the_row() -> None:
    wide = dataclasses.replace(LOCAL_RESPONSE, radius=1000)
    assert float_cycles(float_steps(wide), 32) == 4 * (1 + 50 + 2 + 53 + 1)


def test_an_instruction_of_the_byte_lanes_is_refused() -> None:
    with pytest.raises(TypeError, match="Copy is no instruction of the float lanes"):
        float_steps(Copy(**LOOPS))


def test_a_machine_without_float_lanes_has_no_cycles_to_give() -> None:
    vector = override(load_machine("tiny"), ["vector.float_lanes=0"]).vector
    with pytest.raises(TypeError, match=r"FloatBinary needs float lanes; vector\.float_lanes = 0"):
        lane_work(binary(BinaryFunction.ADD), vector)


def test_a_softmax_counts_every_operation_of_its_rows() -> None:
    steps = float_steps(FloatRows(**ROWS, function=RowFunction.SOFTMAX))
    assert dict(float_activities(steps, 32)) == {
        Action.VECTOR_FLOAT_ADD: 100 * 15 + 2 * (2 * 31 + 3),
        Action.VECTOR_FLOAT_MULTIPLY: 100 * 12 + 2 * 4,
    }


def test_an_addition_pays_one_price_per_element_and_its_bytes() -> None:
    machine = load_machine("phone")
    work = MachineTiming(machine, machine.operating_point("NOM")).vector_work(binary(BinaryFunction.ADD))
    assert dict(work.activities) == {
        Action.VECTOR_FLOAT_ADD: 100,
        Action.SRAM_READ_BYTE: 800,
        Action.SRAM_WRITE_BYTE: 400,
    }
    assert work.cycles == 16 + 4


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 300), st.sampled_from(UnaryFunction))
def test_cutting_never_saves_cycles(first: int, second: int, lanes: int, function: UnaryFunction) -> None:
    def cycles(elements: int) -> int:
        unary = FloatUnary(**LOOPS | {"count0": elements}, function=function)
        return float_cycles(float_steps(unary), lanes)

    assert cycles(first) + cycles(second) >= cycles(first + second)


@given(st.integers(1, 5000), st.integers(1, 300), st.sampled_from(RowFunction))
def test_the_peak_rate_is_never_beaten(depth: int, lanes: int, function: RowFunction) -> None:
    steps = float_steps(FloatRows(**ROWS | {"depth": depth}, function=function))
    assert peak_float_cycles(steps, lanes) <= float_cycles(steps, lanes)
