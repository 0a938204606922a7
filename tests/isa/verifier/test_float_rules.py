"""Rules for float instructions on their own."""

import dataclasses
import re
from typing import Any

import pytest

from isa.accesses import Access, accesses
from isa.dtypes import DataType
from isa.errors import VerificationError
from isa.float_bits import float32_bits
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
from isa.instructions.vector import DepthwiseConvolve, Pool, PoolMode
from isa.verifier.rules import check_instruction
from tests.isa.verifier.test_rules import window
from tests.support.programs import TARGET, convolve

FLOAT_TARGET = dataclasses.replace(TARGET, data_types=(DataType.U8, DataType.FP32))
LOOPS: dict[str, Any] = {"unit_mask": 1, "count0": 3, "input_address": 0, "output_address": 256}
NAN_BITS = 0x7FC0_0000


def binary(**fields: Any) -> FloatBinary:
    return FloatBinary(**LOOPS | {"second_address": 512, "function": BinaryFunction.ADD} | fields)


def unary(**fields: Any) -> FloatUnary:
    return FloatUnary(**LOOPS | {"function": UnaryFunction.TANH} | fields)


def dequantize(**fields: Any) -> Dequantize:
    return Dequantize(**LOOPS | {"input_zero": 3, "scale": float32_bits(0.5)} | fields)


def pool(mode: FloatPoolMode = FloatPoolMode.AVERAGE, **fields: Any) -> FloatPool:
    return FloatPool(mode=mode, **window(**fields))


def rows(**fields: Any) -> FloatRows:
    values: dict[str, Any] = {
        "unit_mask": 1,
        "rows": 2,
        "depth": 3,
        "input_address": 0,
        "input_row_pitch": 16,
        "output_address": 256,
        "output_row_pitch": 12,
        "function": RowFunction.SOFTMAX,
    }
    return FloatRows(**values | fields)


GOOD = [binary(), unary(), dequantize(input_address=1), pool(), pool(FloatPoolMode.MAX, pad_top=9), rows()]


@pytest.mark.parametrize("instruction", GOOD, ids=lambda i: type(i).__name__)
def test_good_instruction_passes(instruction: Instruction) -> None:
    check_instruction(instruction, FLOAT_TARGET)


@pytest.mark.parametrize("instruction", GOOD, ids=lambda i: type(i).__name__)
def test_a_target_without_single_precision_refuses_it(instruction: Instruction) -> None:
    message = f"{type(instruction).__name__} needs FP32: the target has U8"
    with pytest.raises(VerificationError, match=message):
        check_instruction(instruction, TARGET)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (unary(count1=0), "count1 = 0: must be at least 1"),
        (unary(input_address=2), "input_address = 2: must be a multiple of 4"),
        (binary(second_pitch0=6), "second_pitch0 = 6: must be a multiple of 4"),
        (dequantize(output_pitch1=5), "output_pitch1 = 5: must be a multiple of 4"),
        (dequantize(input_zero=256), "input_zero = 256: allowed are 0 … 255"),
        (unary(clamp_min=float32_bits(2.0), clamp_max=0), "clamp_min = 2: must not exceed clamp_max = 0"),
        (binary(clamp_max=NAN_BITS), "clamp_min = -inf: must not exceed clamp_max = nan"),
        (pool(kernel_height=0), "kernel_height = 0: must be at least 1"),
        (pool(input_pixel_pitch=9), "input_pixel_pitch = 9: must be a multiple of 4"),
        (pool(output_channels=3), "output_channels = 3: must equal input_channels = 4"),
        (pool(FloatPoolMode.L2, pad_top=2), "the L2 window at output height 0 covers none of the 4 valid"),
        (rows(depth=0), "depth = 0: must be at least 1"),
        (rows(output_row_pitch=13), "output_row_pitch = 13: must be a multiple of 4"),
        (convolve(input_type=DataType.FP32), "input_type = FP32: the target has U8"),
        (
            Pool(mode=PoolMode.MAX, **window(output_type=DataType.FP32)),
            "output_type = FP32: the target has U8",
        ),
        (
            DepthwiseConvolve(
                **window(weight_address=0, weight_tap_pitch=4, multiplier=1, weight_type=DataType.FP32)
            ),
            "weight_type = FP32: the target has U8",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_rule_is_named(instruction: Instruction, message: str) -> None:
    with pytest.raises(VerificationError, match=re.escape(message)):
        check_instruction(instruction, FLOAT_TARGET)


def spans(instruction: Instruction) -> dict[str, tuple[int, int]]:
    """First byte and end of each operand."""

    def span(access: Access) -> tuple[int, int]:
        return access.address, access.end

    return {access.operand: span(access) for access in accesses(instruction)}


def test_elements_take_four_bytes() -> None:
    assert spans(binary()) == {"input": (0, 12), "second": (512, 524), "output": (256, 268)}
    assert spans(unary()) == {"input": (0, 12), "output": (256, 268)}
    assert spans(rows()) == {"input": (0, 28), "output": (256, 280)}
    assert spans(pool(output_pixel_pitch=16, output_row_pitch=48))["output"] == (1024, 1024 + 144)


def test_dequantization_reads_bytes() -> None:
    assert spans(dequantize()) == {"input": (0, 3), "output": (256, 268)}
