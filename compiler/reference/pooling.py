"""AVERAGE_POOL_2D and MAX_POOL_2D on raw bytes; neither rescales."""

import numpy as np

from compiler.nnapi import OperationCode
from compiler.reference.arithmetic import activation_range
from compiler.reference.registry import Array, Call, Integers, reference
from compiler.reference.windows import (
    Axis,
    WindowArguments,
    from_channels_last,
    pad,
    read_window_arguments,
    resolve_axes,
    taps,
    to_channels_last,
)


@reference(OperationCode.AVERAGE_POOL_2D)
def average_pool_2d(call: Call) -> list[Array]:
    """Mean of the taps inside the input, halves rounded up."""
    arguments, inputs, rows, columns = _prepare(call)
    sums = _sum(inputs.astype(np.int64), rows, columns)
    counts = _sum(np.ones((1, rows.size, columns.size, 1), np.int64), rows, columns)
    if not counts.all():
        raise call.error("a window lies in the padding completely, so its average is undefined")
    return [_finish(call, arguments, (sums + counts // 2) // counts)]


@reference(OperationCode.MAX_POOL_2D)
def max_pool_2d(call: Call) -> list[Array]:
    """Largest byte of the taps inside the input."""
    arguments, inputs, rows, columns = _prepare(call)
    # A padded zero is the smallest byte, so it never wins over a tap.
    padded = pad(inputs, rows, columns)
    largest = np.zeros((inputs.shape[0], rows.count, columns.count, inputs.shape[3]), np.uint8)
    for _, _, values in taps(padded, rows, columns):
        np.maximum(largest, values, out=largest)
    return [_finish(call, arguments, largest.astype(np.int64))]


def _prepare(call: Call) -> tuple[WindowArguments, Array, Axis, Axis]:
    arguments = read_window_arguments(call, first=1, particular=2, can_dilate=False)
    call.expect_rank(0, 4)
    inputs = to_channels_last(call.quant8(0), arguments.channels_first)
    if not call.is_level_27:
        call.expect_same_quantization()
    width, height = arguments.particular
    rows, columns = resolve_axes(call, arguments, inputs.shape[1:3], (height, width))
    return arguments, inputs, rows, columns


def _sum(values: Integers, rows: Axis, columns: Axis) -> Integers:
    padded = pad(values, rows, columns)
    sums = np.zeros((values.shape[0], rows.count, columns.count, values.shape[3]), np.int64)
    for _, _, tap in taps(padded, rows, columns):
        sums += tap
    return sums


def _finish(call: Call, arguments: WindowArguments, values: Integers) -> Array:
    result = call.quant8_result()
    low, high = activation_range(arguments.fuse, result.scale, result.zero_point)
    clamped = np.clip(values, low, high).astype(np.uint8)
    return from_channels_last(clamped, arguments.channels_first)
