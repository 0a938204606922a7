"""The vector unit's instructions."""

import functools

import numpy as np
import numpy.typing as npt

from isa.arithmetic import (
    SoftmaxParameters,
    multiply_by_quantized_multiplier,
    requantize,
    softmax,
)
from isa.instructions.vector import (
    Add,
    Copy,
    DepthwiseConvolve,
    Elementwise,
    L2Normalize,
    Lookup,
    Multiply,
    Pool,
    PoolMode,
    QuantizedBinary,
    RowWise,
    Softmax,
)
from isa.row_norms import l2_normalize
from npu_sim.errors import MachineError
from npu_sim.functional.registry import executes
from npu_sim.functional.state import ByteArray, MachineState
from npu_sim.functional.window import (
    bias_vector,
    centre_weights,
    check_weighted,
    check_windowed,
    column_phases,
    input_image,
    output_image,
    padded_image,
    reduce_windows,
    row_groups,
    to_int32,
    valid_taps,
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


@executes(Pool)
def pool(state: MachineState, i: Pool, unit_index: int) -> None:
    """Padding holds 0: neutral for a sum, and the smallest value of the type for a maximum."""
    check_windowed(i)
    if i.output_channels != i.input_channels:
        raise MachineError(f"{i.output_channels} output channels: must be input channels {i.input_channels}")
    output = output_image(state, i)
    average = i.mode is PoolMode.AVERAGE
    padded = padded_image(input_image(state, i), i, 0, np.int32 if average else np.uint8)
    result = reduce_windows(padded, i, np.add if average else np.maximum)
    if average:
        taps = valid_taps(i)
        result = (result + taps // 2) // taps
    np.clip(result, i.clamp_min, i.clamp_max, out=result)
    np.copyto(output, result, casting="unsafe")


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
    """Add two quantised tensors."""
    _check_clamp(i)
    table = sum_table(
        i.left_shift,
        (i.input_zero, i.input_multiplier, i.input_shift),
        (i.second_zero, i.second_multiplier, i.second_shift),
        (i.output_zero, i.output_multiplier, i.output_shift),
        (i.clamp_min, i.clamp_max),
    )
    _look_up_pairs(state, i, table)


@executes(Multiply)
def multiply(state: MachineState, i: Multiply, unit_index: int) -> None:
    """Multiply two quantised tensors."""
    _check_clamp(i)
    table = product_table(
        (i.input_zero, i.second_zero),
        (i.output_zero, i.output_multiplier, i.output_shift),
        (i.clamp_min, i.clamp_max),
    )
    _look_up_pairs(state, i, table)


def _check_clamp(i: QuantizedBinary) -> None:
    if not 0 <= i.clamp_min <= i.clamp_max <= 255:
        raise MachineError(f"clamp {i.clamp_min} … {i.clamp_max}: must be a range of 0 … 255")


def _look_up_pairs(state: MachineState, i: QuantizedBinary, table: ByteArray) -> None:
    """Write the table's entry first * 256 + second for each pair of codes."""
    first = _elementwise_input(state, i)
    second = state.sram_view(
        i.second_address,
        (i.count3, i.count2, i.count1, i.count0),
        (i.second_pitch3, i.second_pitch2, i.second_pitch1, i.second_pitch0),
    )
    pair = first.astype(np.intp)
    pair <<= 8
    pair |= second
    _elementwise_output(state, i)[...] = table[pair]


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


@functools.lru_cache(maxsize=64)
def product_table(
    zero_points: tuple[int, int], output: tuple[int, int, int], clamp: tuple[int, int]
) -> ByteArray:
    """Multiply every pair of codes: uint8 [65536], index first * 256 + second, read-only.

    `output` is (zero point, multiplier, shift).
    """
    zero, multiplier, shift = output
    codes = np.arange(256, dtype=np.int32)
    products = np.multiply.outer(codes - zero_points[0], codes - zero_points[1])
    table = np.empty(products.size, np.uint8)
    requantize(products, multiplier, shift, zero, *clamp, table)
    table.flags.writeable = False
    return table


def _row_operands(state: MachineState, i: RowWise) -> tuple[ByteArray, ByteArray]:
    """Input and output rows, uint8 [rows, depth]."""
    shape = (i.rows, i.depth)
    codes = state.sram_view(i.input_address, shape, (i.input_row_pitch, 1))
    return codes, state.sram_view(i.output_address, shape, (i.output_row_pitch, 1))


@executes(Softmax)
def softmax_rows(state: MachineState, i: Softmax, unit_index: int) -> None:
    """Softmax of each row."""
    codes, output = _row_operands(state, i)
    output[...] = softmax(codes, SoftmaxParameters(i.multiplier, i.shift, i.difference_limit))


@executes(L2Normalize)
def l2_normalize_rows(state: MachineState, i: L2Normalize, unit_index: int) -> None:
    """Divide each row by its norm."""
    codes, output = _row_operands(state, i)
    output[...] = l2_normalize(codes, i.input_zero)
