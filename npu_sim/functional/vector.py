"""The vector unit's instructions."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from isa.arithmetic import (
    SoftmaxParameters,
    multiply_by_quantized_multiplier,
    requantize,
    softmax,
)
from isa.instructions.vector import Add, Copy, DepthwiseConvolve, Elementwise, Lookup, Pool, PoolMode, Softmax
from npu_sim.errors import MachineError
from npu_sim.functional.registry import executes
from npu_sim.functional.state import ByteArray, MachineState
from npu_sim.functional.window import (
    bias_vector,
    centre_weights,
    check_weighted,
    check_windowed,
    input_image,
    output_image,
    padded_image,
    row_groups,
    to_int32,
)

_GROUP_ELEMENTS = 1 << 15
"""Output elements in work at a time: sums and products in float32 stay in a second-level cache."""


@executes(DepthwiseConvolve)
def depthwise_convolve(state: MachineState, i: DepthwiseConvolve, unit_index: int) -> None:
    """Sum the taps of each channel, one tap of many pixels at a time."""
    check_weighted(i)
    channels = i.output_channels
    if channels != i.input_channels * i.channel_multiplier:
        raise MachineError(
            f"{channels} output channels: must be input channels {i.input_channels} x channel_multiplier"
            f" {i.channel_multiplier}"
        )
    raw_weights = state.sram_view(i.weight_address, (i.taps, channels), (i.weight_tap_pitch, 1))
    weights = centre_weights(raw_weights, i, axis=0)
    bias = bias_vector(state, i)
    output = output_image(state, i)
    padded = padded_image(input_image(state, i), i, i.input_zero, weights.values.dtype)
    if i.channel_multiplier > 1:
        padded = np.repeat(padded, i.channel_multiplier, axis=-1)
    phases = column_phases(padded, i.stride_width)
    # One weight per column as well: then the innermost loop runs over a whole row, not only its channels.
    weight_rows = np.repeat(weights.values[:, None, :], i.output_width, axis=1)
    for rows in row_groups(i, i.output_width * channels, _GROUP_ELEMENTS):
        shape = (rows.image1 - rows.image0, rows.row1 - rows.row0, i.output_width, channels)
        total = np.zeros(shape, padded.dtype)
        product = np.empty(shape, padded.dtype)
        for tap in range(i.taps):
            tap_row, tap_column = divmod(tap, i.kernel_width)
            first = rows.row0 * i.stride_height + tap_row * i.dilation_height
            last = first + shape[1] * i.stride_height
            column, phase = divmod(tap_column * i.dilation_width, i.stride_width)
            pixels = phases[phase][
                rows.image0 : rows.image1, first : last : i.stride_height, column : column + i.output_width
            ]
            np.multiply(pixels, weight_rows[tap], out=product)
            total += product
        sums = to_int32(total.reshape(-1, channels), weights)
        if bias is not None:
            sums += bias
        codes = np.empty(shape, np.uint8)
        requantize(sums, i.multiplier, i.shift, i.output_zero, i.clamp_min, i.clamp_max, codes)
        output[rows.key] = codes


def column_phases(image: npt.NDArray[Any], stride: int) -> list[npt.NDArray[Any]]:
    """Split the columns of an image [batch, rows, columns, channels] by their number modulo the stride.

    The columns that a tap reads at all output columns are then adjacent in one of the parts.
    """
    if stride == 1:
        return [image]
    return [np.ascontiguousarray(image[:, :, phase::stride]) for phase in range(min(stride, image.shape[2]))]


@executes(Pool)
def pool(state: MachineState, i: Pool, unit_index: int) -> None:
    """Reduce the window, first along its rows, then along its columns.

    Padding holds 0: neutral for a sum, and the smallest value of the type for a maximum.
    """
    check_windowed(i)
    if i.output_channels != i.input_channels:
        raise MachineError(f"{i.output_channels} output channels: must be input channels {i.input_channels}")
    output = output_image(state, i)
    average = i.mode is PoolMode.AVERAGE
    reduce = np.add if average else np.maximum
    padded = padded_image(input_image(state, i), i, 0, np.int32 if average else np.uint8)
    row_span = i.output_height * i.stride_height
    by_rows = padded[:, : row_span : i.stride_height].copy()
    for tap in range(1, i.kernel_height):
        first = tap * i.dilation_height
        reduce(by_rows, padded[:, first : first + row_span : i.stride_height], out=by_rows)
    phases = column_phases(by_rows, i.stride_width)
    result = phases[0][:, :, : i.output_width].copy()
    for tap in range(1, i.kernel_width):
        column, phase = divmod(tap * i.dilation_width, i.stride_width)
        reduce(result, phases[phase][:, :, column : column + i.output_width], out=result)
    if average:
        taps = _valid_taps(i)
        result = (result + taps // 2) // taps
    np.clip(result, i.clamp_min, i.clamp_max, out=result)
    np.copyto(output, result, casting="unsafe")


def _valid_taps(i: Pool) -> npt.NDArray[np.int32]:
    """Count taps inside the image: int32 [output rows, output columns, 1]; MachineError for a count of 0."""

    def inside(
        outputs: int, stride: int, taps: int, dilation: int, pad: int, size: int
    ) -> npt.NDArray[np.int32]:
        position = np.arange(outputs)[:, None] * stride + np.arange(taps) * dilation - pad
        valid: npt.NDArray[np.int32] = ((position >= 0) & (position < size)).sum(axis=1, dtype=np.int32)
        return valid

    rows = inside(
        i.output_height, i.stride_height, i.kernel_height, i.dilation_height, i.pad_top, i.input_height
    )
    columns = inside(
        i.output_width, i.stride_width, i.kernel_width, i.dilation_width, i.pad_left, i.input_width
    )
    if not (rows.all() and columns.all()):
        raise MachineError("a pooling window lies wholly in the padding: an average needs a valid tap")
    return np.multiply.outer(rows, columns)[:, :, None]


def _elementwise_input(state: MachineState, i: Elementwise) -> ByteArray:
    return state.sram_view(
        i.input_address,
        (i.count3, i.count2, i.count1, i.count0),
        (i.input_pitch3, i.input_pitch2, i.input_pitch1, i.input_pitch0),
    )


def _elementwise_output(state: MachineState, i: Elementwise) -> ByteArray:
    return state.sram_view(
        i.output_address,
        (i.count3, i.count2, i.count1, i.count0),
        (i.output_pitch3, i.output_pitch2, i.output_pitch1, i.output_pitch0),
    )


@executes(Copy)
def copy(state: MachineState, i: Copy, unit_index: int) -> None:
    """Copy bytes; overlapping operands behave as if all were read first."""
    _elementwise_output(state, i)[...] = _elementwise_input(state, i)


@executes(Lookup)
def lookup(state: MachineState, i: Lookup, unit_index: int) -> None:
    """Replace bytes by table entries."""
    table = state.sram_view(i.table_address, (256,), (1,))
    _elementwise_output(state, i)[...] = table[_elementwise_input(state, i)]


@executes(Add)
def add(state: MachineState, i: Add, unit_index: int) -> None:
    """Add two quantised tensors, through the table of all pairs of codes."""
    if not 0 <= i.clamp_min <= i.clamp_max <= 255:
        raise MachineError(f"clamp {i.clamp_min} … {i.clamp_max}: must be a range of 0 … 255")
    first = _elementwise_input(state, i)
    second = state.sram_view(
        i.second_address,
        (i.count3, i.count2, i.count1, i.count0),
        (i.second_pitch3, i.second_pitch2, i.second_pitch1, i.second_pitch0),
    )
    output = _elementwise_output(state, i)
    table = sum_table(
        i.left_shift,
        (i.input_zero, i.input_multiplier, i.input_shift),
        (i.second_zero, i.second_multiplier, i.second_shift),
        (i.output_zero, i.output_multiplier, i.output_shift),
        (i.clamp_min, i.clamp_max),
    )
    pair = first.astype(np.intp)
    pair <<= 8
    pair |= second
    output[...] = table[pair]


@functools.lru_cache(maxsize=64)
def sum_table(
    left_shift: int,
    first: tuple[int, int, int],
    second: tuple[int, int, int],
    output: tuple[int, int, int],
    clamp: tuple[int, int],
) -> ByteArray:
    """Add every pair of codes: uint8 [65536], index first * 256 + second, read-only.

    `first`, `second` and `output` are (zero point, multiplier, shift).
    """

    def rescaled(zero: int, multiplier: int, shift: int) -> npt.NDArray[np.int64]:
        shifted = (np.arange(256, dtype=np.int64) - zero) << left_shift
        return multiply_by_quantized_multiplier(shifted.astype(np.int32), multiplier, shift)

    zero, multiplier, shift = output
    sums = np.add.outer(rescaled(*first), rescaled(*second)).astype(np.int32)
    table = np.empty(sums.size, np.uint8)
    requantize(sums, multiplier, shift, zero, *clamp, table)
    table.flags.writeable = False
    return table


@executes(Softmax)
def softmax_rows(state: MachineState, i: Softmax, unit_index: int) -> None:
    """Softmax of each row."""
    shape = (i.rows, i.depth)
    codes = state.sram_view(i.input_address, shape, (i.input_row_pitch, 1))
    output = state.sram_view(i.output_address, shape, (i.output_row_pitch, 1))
    output[...] = softmax(codes, SoftmaxParameters(i.multiplier, i.shift, i.difference_limit))
