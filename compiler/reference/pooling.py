"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D. Those on bytes take them raw; none rescales."""

import numpy as np

from compiler.nnapi import FuseCode, OperationCode
from compiler.reference import real
from compiler.reference.arithmetic import activation_range
from compiler.reference.registry import Array, Call, Floats, reference
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
    """Mean of the taps inside the input; of bytes, halves rounded up."""
    arguments, inputs, rows, columns = _prepare(call)
    counts = _counts(call, rows, columns)
    sums = _sum(inputs, rows, columns)
    means = sums / counts if call.is_float() else (sums + counts // 2) // counts
    return [_finish(call, arguments, means)]


@reference(OperationCode.L2_POOL_2D)
def l2_pool_2d(call: Call) -> list[Array]:
    """Root of the mean square of the taps inside the input; float only."""
    arguments, inputs, rows, columns = _prepare(call)
    call.real(0)
    mean_squares = _sum(inputs * inputs, rows, columns) / _counts(call, rows, columns)
    return [_finish(call, arguments, np.sqrt(mean_squares))]


@reference(OperationCode.MAX_POOL_2D)
def max_pool_2d(call: Call) -> list[Array]:
    """Largest of the taps inside the input."""
    arguments, inputs, rows, columns = _prepare(call)
    lowest = float(np.finfo(np.float32).min) if call.is_float() else 0.0
    padded = pad(inputs, rows, columns, lowest)
    largest = np.full((inputs.shape[0], rows.count, columns.count, inputs.shape[3]), lowest)
    for _, _, values in taps(padded, rows, columns):
        np.maximum(largest, values, out=largest)
    return [_finish(call, arguments, largest)]


def _prepare(call: Call) -> tuple[WindowArguments, Floats, Axis, Axis]:
    """Scalars, the input as NHWC (bytes stay raw), and the windows."""
    arguments = read_window_arguments(call, first=1, particular=2, can_dilate=False)
    call.expect_rank(0, 4)
    values = call.real(0) if call.is_float() else call.quant8(0)
    inputs = to_channels_last(values.astype(np.float64), arguments.channels_first)
    if not call.is_level_27:
        call.expect_kept_type()
    width, height = arguments.particular
    rows, columns = resolve_axes(call, arguments, inputs.shape[1:3], (height, width))
    return arguments, inputs, rows, columns


def _counts(call: Call, rows: Axis, columns: Axis) -> Floats:
    """How many taps of each window lie inside the input: [1, out height, out width, 1]."""
    counts = _sum(np.ones((1, rows.size, columns.size, 1)), rows, columns)
    if not counts.all():
        raise call.error("a window lies in the padding completely, so its average is undefined")
    return counts


def _sum(values: Floats, rows: Axis, columns: Axis) -> Floats:
    padded = pad(values, rows, columns)
    sums = np.zeros((values.shape[0], rows.count, columns.count, values.shape[3]))
    for _, _, tap in taps(padded, rows, columns):
        sums += tap
    return sums


def _finish(call: Call, arguments: WindowArguments, values: Floats) -> Array:
    return from_channels_last(_clamped(call, arguments.fuse, values), arguments.channels_first)


def _clamped(call: Call, fuse: FuseCode, values: Floats) -> Array:
    if call.is_float():
        return real.finish(call, values, fuse)
    result = call.quant8_result()
    low, high = activation_range(fuse, result.scale, result.zero_point)
    return np.clip(values, low, high).astype(np.uint8)
