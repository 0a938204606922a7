"""Rules for one instruction on its own: units, shapes, types, alignment and the limits of the target.

Every check raises VerificationError with a message of what, value and limit; the caller adds where.
"""

import functools
import math
from collections.abc import Iterable

from isa.dtypes import DataType, Rounding
from isa.errors import VerificationError
from isa.float_bits import float32_value
from isa.instruction import Instruction, UnitKind
from isa.instructions.control import Wait
from isa.instructions.dma import Transfer
from isa.instructions.float_vector import (
    Dequantize,
    FloatBinary,
    FloatPool,
    FloatPoolMode,
    FloatRows,
    FloatUnary,
)
from isa.instructions.gather import HashGather, HashHits, RowPick
from isa.instructions.matrix import Convolve
from isa.instructions.resize import ResizeBilinear
from isa.instructions.vector import (
    Add,
    DepthwiseConvolve,
    Elementwise,
    L2Normalize,
    Lookup,
    Pool,
    PoolMode,
    QuantizedBinary,
    RowWise,
    Softmax,
)
from isa.instructions.window import Weighted, Window, Windowed
from isa.target import Dataflow, Target

TABLE_ALIGNMENT_BYTES = 4
"""Biases, channel parameters, keys and fp32 elements are 32 bits wide; tables use the same ports."""
MAX_SHIFT = 31
"""Largest distance by which an int32 is shifted, either way."""

_VALUE_RANGES = {DataType.U8: (0, 255), DataType.S8: (-128, 127), DataType.S16: (-32768, 32767)}
"""Integer types whose zero points and clamps are checked."""


def check_instruction(instruction: Instruction, target: Target) -> None:
    """Raise VerificationError if the instruction cannot run on the target."""
    instruction.check_ranges()
    _check_unit(instruction, target)
    _check_operands(instruction, target)


def unit_count(target: Target, kind: UnitKind) -> int:
    """Units of a kind that the target has."""
    if kind is UnitKind.DMA:
        return target.dma_channels
    return target.matrix_units if kind is UnitKind.MATRIX else target.vector_units


def _check_unit(instruction: Instruction, target: Target) -> None:
    mask: int | None = getattr(instruction, "unit_mask", None)
    if mask is None:
        return
    if mask.bit_count() != 1:
        raise VerificationError(f"unit_mask = {mask:#b}: exactly one bit must be set")
    queue = instruction.queue
    assert queue is not None
    units = unit_count(target, queue.kind)
    if queue.index >= units:
        raise VerificationError(f"unit {queue}: the target has {units} {queue.kind.name} units")


@functools.singledispatch
def _check_operands(instruction: Instruction, target: Target) -> None:
    """Check the fields of one class of instruction against each other and the target."""


@_check_operands.register
def _wait(instruction: Wait, target: Target) -> None:
    _check_positive(instruction, ("count",))


@_check_operands.register
def _transfer(instruction: Transfer, target: Target) -> None:
    _check_positive(instruction, ("run_bytes", "count1", "count2", "count3"))


@_check_operands.register
def _convolve(instruction: Convolve, target: Target) -> None:
    _check_weighted(instruction, target)
    pixels = instruction.output_pixels
    if instruction.start and instruction.finish:
        if target.max_tile_pixels is not None:
            _check_limit("output pixels", pixels, 1, target.max_tile_pixels)
        return
    _check_limit("output pixels of unfinished sums", pixels, 1, target.max_partial_pixels)
    _check_limit("output_channels of unfinished sums", instruction.output_channels, 1, target.array_cols)
    weight_stationary = target.dataflow is Dataflow.WEIGHT_STATIONARY
    rows = target.accumulator_rows if weight_stationary else target.array_rows
    _check_limit("accumulator_row + output pixels", instruction.accumulator_row + pixels, 1, rows)


@_check_operands.register
def _depthwise(instruction: DepthwiseConvolve, target: Target) -> None:
    _check_weighted(instruction, target)
    _check_positive(instruction, ("channel_multiplier",))
    expected = instruction.input_channels * instruction.channel_multiplier
    if instruction.output_channels != expected:
        raise VerificationError(
            f"output_channels = {instruction.output_channels}: "
            f"input_channels x channel_multiplier is {expected}"
        )


@_check_operands.register
def _pool(instruction: Pool, target: Target) -> None:
    _check_windowed(instruction, target)
    _check_equal(instruction, "output_channels", "input_channels")
    _check_equal(instruction, "output_type", "input_type")
    if instruction.mode is PoolMode.AVERAGE:
        _check_windows_not_empty(instruction)


@_check_operands.register
def _elementwise(instruction: Elementwise, target: Target) -> None:
    _check_positive(instruction, ("count0", "count1", "count2", "count3"))


@_check_operands.register
def _lookup(instruction: Lookup, target: Target) -> None:
    _elementwise(instruction, target)
    _check_aligned("table_address", instruction.table_address)


@_check_operands.register
def _quantized_binary(instruction: QuantizedBinary, target: Target) -> None:
    _elementwise(instruction, target)
    for operand in ("input", "second", "output"):
        _check_value(instruction, f"{operand}_zero", DataType.U8)
    _check_limit("output_shift", instruction.output_shift, -MAX_SHIFT, 0)
    _check_clamp(instruction, DataType.U8)


@_check_operands.register
def _add(instruction: Add, target: Target) -> None:
    _quantized_binary(instruction, target)
    for operand in ("input", "second"):
        _check_limit(f"{operand}_shift", getattr(instruction, f"{operand}_shift"), -MAX_SHIFT, 0)


@_check_operands.register
def _row_wise(instruction: RowWise, target: Target) -> None:
    _check_positive(instruction, ("rows", "depth"))


@_check_operands.register
def _softmax(instruction: Softmax, target: Target) -> None:
    _row_wise(instruction, target)
    _check_limit("shift", instruction.shift, 0, MAX_SHIFT)


@_check_operands.register
def _l2_normalize(instruction: L2Normalize, target: Target) -> None:
    _row_wise(instruction, target)
    _check_value(instruction, "input_zero", DataType.U8)


@_check_operands.register
def _resize(instruction: ResizeBilinear, target: Target) -> None:
    extents = ("input_height", "input_width", "output_height", "output_width", "channels")
    _check_positive(instruction, extents)
    for name in ("row_scale", "column_scale"):
        value = float32_value(getattr(instruction, name))
        if not 0 < value < math.inf:
            raise VerificationError(f"{name} = {value:g}: must be positive and finite")


@_check_operands.register
def _row_pick(instruction: RowPick, target: Target) -> None:
    _check_positive(instruction, ("lookups", "value_rows", "row_bytes"))
    _check_aligned("lookup_address", instruction.lookup_address)


@_check_operands.register
def _hash_gather(instruction: HashGather, target: Target) -> None:
    _row_pick(instruction, target)
    _check_aligned("key_address", instruction.key_address)


@_check_operands.register
def _hash_hits(instruction: HashHits, target: Target) -> None:
    _check_positive(instruction, ("lookups", "keys"))
    _check_aligned("lookup_address", instruction.lookup_address)
    _check_aligned("key_address", instruction.key_address)


@_check_operands.register
def _float_unary(instruction: FloatUnary, target: Target) -> None:
    _elementwise(instruction, target)
    _check_float_operands(instruction, target, ("input", "output"))
    _check_float_clamp(instruction)


@_check_operands.register
def _float_binary(instruction: FloatBinary, target: Target) -> None:
    _elementwise(instruction, target)
    _check_float_operands(instruction, target, ("input", "second", "output"))
    _check_float_clamp(instruction)


@_check_operands.register
def _dequantize(instruction: Dequantize, target: Target) -> None:
    _elementwise(instruction, target)
    _check_float_operands(instruction, target, ("output",))
    _check_value(instruction, "input_zero", DataType.U8)


@_check_operands.register
def _float_pool(instruction: FloatPool, target: Target) -> None:
    _check_window(instruction)
    _check_float_operands(instruction, target, ("input", "output"))
    _check_float_clamp(instruction)
    _check_equal(instruction, "output_channels", "input_channels")
    if instruction.mode is not FloatPoolMode.MAX:
        _check_windows_not_empty(instruction)


@_check_operands.register
def _float_rows(instruction: FloatRows, target: Target) -> None:
    _check_positive(instruction, ("rows", "depth"))
    _check_float_operands(instruction, target, ("input", "output"))


def _check_float_operands(instruction: Instruction, target: Target, operands: Iterable[str]) -> None:
    """Refuse single precision on a target without it, and addresses and pitches between its elements."""
    if DataType.FP32 not in target.data_types:
        allowed = ", ".join(t.name for t in target.data_types)
        raise VerificationError(f"{type(instruction).__name__} needs FP32: the target has {allowed}")
    prefixes = tuple(f"{operand}_" for operand in operands)
    for field in instruction.fields:
        if field.name.startswith(prefixes) and ("address" in field.name or "pitch" in field.name):
            _check_aligned(field.name, getattr(instruction, field.name))


def _check_float_clamp(instruction: FloatUnary | FloatBinary | FloatPool) -> None:
    smallest, largest = float32_value(instruction.clamp_min), float32_value(instruction.clamp_max)
    if not smallest <= largest:
        raise VerificationError(f"clamp_min = {smallest:g}: must not exceed clamp_max = {largest:g}")


_WINDOW_EXTENTS = (
    *("batch", "input_channels", "kernel_height", "kernel_width", "stride_height", "stride_width"),
    *("dilation_height", "dilation_width", "output_height", "output_width", "output_channels"),
)


def _check_window(instruction: Window) -> None:
    """Check the window fields; an image without valid pixels is allowed: the tile lies in the padding."""
    _check_positive(instruction, _WINDOW_EXTENTS)
    if instruction.batch > 1:
        _check_positive(instruction, ("input_batch_pitch", "output_batch_pitch"))


def _check_windowed(instruction: Windowed, target: Target) -> None:
    _check_window(instruction)
    _check_type(instruction, "input_type", target)
    _check_type(instruction, "output_type", target)
    _check_value(instruction, "input_zero", instruction.input_type)
    _check_clamp(instruction, instruction.output_type)


def _check_weighted(instruction: Weighted, target: Target) -> None:
    _check_windowed(instruction, target)
    _check_type(instruction, "weight_type", target)
    _check_value(instruction, "weight_zero", instruction.weight_type)
    _check_value(instruction, "output_zero", instruction.output_type)
    _check_limit("shift", instruction.shift, -MAX_SHIFT, MAX_SHIFT)
    if instruction.rounding is not Rounding.DOUBLE:
        raise VerificationError(f"rounding = {instruction.rounding.name}: this target has only DOUBLE")
    if instruction.per_channel:
        raise VerificationError("per_channel = 1: this target has no per-channel parameters")
    if instruction.has_bias:
        _check_aligned("bias_address", instruction.bias_address)


def _check_windows_not_empty(instruction: Pool | FloatPool) -> None:
    """Refuse a window without a valid tap: its average would divide by zero."""
    for axis, pad, extent in (
        ("height", instruction.pad_top, instruction.input_height),
        ("width", instruction.pad_left, instruction.input_width),
    ):
        stride = getattr(instruction, f"stride_{axis}")
        dilation = getattr(instruction, f"dilation_{axis}")
        taps = getattr(instruction, f"kernel_{axis}")
        for position in range(getattr(instruction, f"output_{axis}")):
            first = position * stride - pad
            skipped = -(min(first, 0) // dilation)  # taps in front of the image
            if skipped >= taps or first + skipped * dilation >= extent:
                raise VerificationError(
                    f"the {instruction.mode.name} window at output {axis} {position} covers none of the "
                    f"{extent} valid ones"
                )


def _check_limit(what: str, value: int, smallest: int, largest: int) -> None:
    if not smallest <= value <= largest:
        raise VerificationError(f"{what} = {value}: allowed are {smallest} … {largest}")


def _check_positive(instruction: Instruction, names: Iterable[str]) -> None:
    for name in names:
        if getattr(instruction, name) < 1:
            raise VerificationError(f"{name} = {getattr(instruction, name)}: must be at least 1")


def _check_equal(instruction: Instruction, name: str, other: str) -> None:
    value, expected = getattr(instruction, name), getattr(instruction, other)
    if value != expected:
        raise VerificationError(f"{name} = {value}: must equal {other} = {expected}")


def _check_aligned(name: str, address: int) -> None:
    if address % TABLE_ALIGNMENT_BYTES:
        raise VerificationError(f"{name} = {address}: must be a multiple of {TABLE_ALIGNMENT_BYTES}")


def _check_type(instruction: Instruction, name: str, target: Target) -> None:
    data_type: DataType = getattr(instruction, name)
    integers = [t for t in target.data_types if t in _VALUE_RANGES]
    if data_type not in integers:
        allowed = ", ".join(t.name for t in integers)
        raise VerificationError(f"{name} = {data_type.name}: the target has {allowed}")


def _check_value(instruction: Instruction, name: str, data_type: DataType) -> None:
    limits = _VALUE_RANGES.get(data_type)
    if limits is not None:
        _check_limit(name, getattr(instruction, name), *limits)


def _check_clamp(instruction: Windowed | QuantizedBinary, data_type: DataType) -> None:
    _check_value(instruction, "clamp_min", data_type)
    _check_value(instruction, "clamp_max", data_type)
    if instruction.clamp_min > instruction.clamp_max:
        raise VerificationError(
            f"clamp_min = {instruction.clamp_min}: must not exceed clamp_max = {instruction.clamp_max}"
        )
