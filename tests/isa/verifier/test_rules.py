import dataclasses
import re
from typing import Any

import pytest

from isa.dtypes import DataType, Region, Rounding
from isa.errors import VerificationError
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Add, DepthwiseConvolve, Lookup, Pool, PoolMode, Softmax
from isa.target import Dataflow, Target
from isa.verifier.rules import check_instruction
from tests.support.programs import TARGET, convolve, copy, load, signal, store, wait

OUTPUT_STATIONARY = dataclasses.replace(TARGET, dataflow=Dataflow.OUTPUT_STATIONARY)


def window(**fields: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "unit_mask": 1,
        "input_address": 0,
        "input_row_pitch": 16,
        "input_pixel_pitch": 4,
        "input_height": 4,
        "input_width": 4,
        "input_channels": 4,
        "kernel_height": 2,
        "kernel_width": 2,
        "output_address": 1024,
        "output_row_pitch": 12,
        "output_pixel_pitch": 4,
        "output_height": 3,
        "output_width": 3,
        "output_channels": 4,
    }
    return values | fields


def pool(mode: PoolMode = PoolMode.AVERAGE, **fields: Any) -> Pool:
    return Pool(mode=mode, **window(**fields))


def depthwise(**fields: Any) -> DepthwiseConvolve:
    return DepthwiseConvolve(**window(weight_address=256, weight_tap_pitch=4, multiplier=1 << 30) | fields)


def add(**fields: Any) -> Add:
    values: dict[str, Any] = {name.name: 0 for name in Add.fields if name.required}
    return Add(**values | {"unit_mask": 1, "count0": 4} | fields)


def softmax(**fields: Any) -> Softmax:
    values: dict[str, Any] = {name.name: 1 for name in Softmax.fields if name.required}
    return Softmax(**values | fields)


def partial(**fields: Any) -> Instruction:
    return convolve(**{"finish": 0} | fields)


@pytest.mark.parametrize(
    "instruction",
    [
        load(),
        store(),
        copy(0, 16),
        convolve(),
        partial(accumulator_row=28),
        depthwise(channel_multiplier=2, output_channels=8),
        pool(),
        pool(pad_top=1, pad_left=1),
        pool(PoolMode.MAX, pad_top=9),
        convolve(input_height=0, pad_top=9),
        convolve(batch=2, input_batch_pitch=48, output_batch_pitch=16),
        add(),
        softmax(),
        signal(0, UnitKind.MATRIX, 1),
    ],
    ids=lambda i: type(i).__name__,
)
def test_good_instruction_passes(instruction: Instruction) -> None:
    check_instruction(instruction, TARGET)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (load(unit=2), "unit dma2: the target has 2 DMA units"),
        (convolve(unit_mask=4), "unit matrix2: the target has 2 MATRIX units"),
        (pool(unit_mask=2), "unit vector1: the target has 1 VECTOR units"),
        (signal(0, UnitKind.VECTOR, 1), "unit vector1: the target has 1 VECTOR units"),
        (wait(0, 1, UnitKind.DMA, 5), "unit dma5: the target has 2 DMA units"),
        (convolve(unit_mask=0), "unit_mask = 0b0: exactly one bit must be set"),
        (convolve(unit_mask=3), "unit_mask = 0b11: exactly one bit must be set"),
        (wait(0, 0, UnitKind.DMA), "count = 0: must be at least 1"),
        (load(0, 0), "run_bytes = 0: must be at least 1"),
        (store(count2=0), "count2 = 0: must be at least 1"),
        (copy(0, 16, 0), "count0 = 0: must be at least 1"),
        (copy(0, 16, count3=0), "count3 = 0: must be at least 1"),
        (softmax(rows=0), "rows = 0: must be at least 1"),
        (softmax(shift=32), "shift = 32: allowed are 0 … 31"),
        (convolve(output_height=0), "output_height = 0: must be at least 1"),
        (pool(stride_width=0), "stride_width = 0: must be at least 1"),
        (depthwise(dilation_height=0), "dilation_height = 0: must be at least 1"),
        (convolve(input_type=DataType.S8), "input_type = S8: the target has U8"),
        (convolve(output_type=DataType.FP16), "output_type = FP16: the target has U8"),
        (depthwise(weight_type=DataType.S16), "weight_type = S16: the target has U8"),
        (convolve(rounding=Rounding.SINGLE), "rounding = SINGLE: this target has only DOUBLE"),
        (depthwise(per_channel=1), "per_channel = 1: this target has no per-channel parameters"),
        (convolve(input_zero=256), "input_zero = 256: allowed are 0 … 255"),
        (convolve(weight_zero=-1), "weight_zero = -1: allowed are 0 … 255"),
        (convolve(output_zero=300), "output_zero = 300: allowed are 0 … 255"),
        (convolve(shift=-32), "shift = -32: allowed are -31 … 31"),
        (convolve(clamp_max=256), "clamp_max = 256: allowed are 0 … 255"),
        (pool(clamp_min=9, clamp_max=8), "clamp_min = 9: must not exceed clamp_max = 8"),
        (add(clamp_min=9, clamp_max=8), "clamp_min = 9: must not exceed clamp_max = 8"),
        (add(second_zero=-1), "second_zero = -1: allowed are 0 … 255"),
        (add(output_shift=1), "output_shift = 1: allowed are -31 … 0"),
        (pool(batch=2, output_batch_pitch=9), "input_batch_pitch = 0: must be at least 1"),
        (pool(batch=2, input_batch_pitch=9), "output_batch_pitch = 0: must be at least 1"),
        (convolve(bias_address=514), "bias_address = 514: must be a multiple of 4"),
        (
            Lookup(unit_mask=1, input_address=0, output_address=0, count0=4, table_address=513),
            "table_address = 513: must be a multiple of 4",
        ),
        (depthwise(channel_multiplier=2), "output_channels = 4: input_channels x channel_multiplier is 8"),
        (pool(output_channels=3), "output_channels = 3: must equal input_channels = 4"),
        (pool(pad_top=2), "the AVERAGE window at output height 0 covers none of the 4 valid ones"),
        (pool(input_width=2), "the AVERAGE window at output width 2 covers none of the 2 valid ones"),
        (
            pool(pad_top=1, dilation_height=5),
            "the AVERAGE window at output height 0 covers none of the 4 valid ones",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_rule_is_named(instruction: Instruction, message: str) -> None:
    with pytest.raises(VerificationError, match=re.escape(message)):
        check_instruction(instruction, TARGET)


@pytest.mark.parametrize(
    ("target", "instruction"),
    [
        (TARGET, convolve(output_width=8)),
        (TARGET, partial(output_width=8)),
        (TARGET, partial(output_channels=8)),
        (TARGET, convolve(output_channels=9)),
        (OUTPUT_STATIONARY, convolve(output_width=4000)),
        (OUTPUT_STATIONARY, partial(output_width=4)),
    ],
)
def test_convolve_at_its_limit_passes(target: Target, instruction: Instruction) -> None:
    check_instruction(instruction, target)


@pytest.mark.parametrize(
    ("target", "instruction", "message"),
    [
        (TARGET, convolve(output_width=9), "output pixels = 18: allowed are 1 … 16"),
        (TARGET, partial(output_width=9), "output pixels of unfinished sums = 18: allowed are 1 … 16"),
        (TARGET, partial(output_channels=9), "output_channels of unfinished sums = 9: allowed are 1 … 8"),
        (
            TARGET,
            convolve(start=0, output_channels=9),
            "output_channels of unfinished sums = 9: allowed are 1 … 8",
        ),
        (TARGET, partial(accumulator_row=29), "accumulator_row + output pixels = 33: allowed are 1 … 32"),
        (
            OUTPUT_STATIONARY,
            partial(output_width=5),
            "output pixels of unfinished sums = 10: allowed are 1 … 8",
        ),
        (
            OUTPUT_STATIONARY,
            partial(accumulator_row=5),
            "accumulator_row + output pixels = 9: allowed are 1 … 8",
        ),
    ],
)
def test_convolve_beyond_its_limit_is_refused(target: Target, instruction: Instruction, message: str) -> None:
    with pytest.raises(VerificationError, match=re.escape(message)):
        check_instruction(instruction, target)


def test_transfers_need_no_alignment() -> None:
    check_instruction(load(3, 5, dram_offset=7, region=Region.INPUT), TARGET)
