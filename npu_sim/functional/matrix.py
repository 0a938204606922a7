"""Convolution of one output tile: im2col and one matrix product per group of output rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from isa.arithmetic import requantize
from isa.instructions.matrix import Convolve
from npu_sim.functional.registry import executes
from npu_sim.functional.state import MachineState
from npu_sim.functional.window import (
    bias_vector,
    centre_weights,
    check_weighted,
    input_image,
    output_image,
    padded_image,
    row_groups,
    to_int32,
)

_GROUP_ELEMENTS = 1 << 19
"""Elements of the unfolded image and of the sums in work at a time (2 MiB in float32)."""


@executes(Convolve)
def convolve(state: MachineState, i: Convolve, unit_index: int) -> None:
    """Sum products over taps and channels; begin, continue or finish the sums of the tile."""
    check_weighted(i)
    depth, channels = i.depth, i.output_channels
    raw_weights = state.sram_view(
        i.weight_address,
        (channels, i.taps, i.input_channels),
        (i.weight_channel_pitch, i.weight_tap_pitch, 1),
    ).reshape(channels, depth)
    image = input_image(state, i)
    bias = bias_vector(state, i) if i.start else None
    carried = None
    if not (i.start and i.finish):
        carried = state.accumulator_rows(unit_index, i.accumulator_row, i.output_pixels, channels)
    output = output_image(state, i) if i.finish else None
    weights = centre_weights(raw_weights, i, axis=1)
    windows = _windows(padded_image(image, i, i.input_zero, weights.values.dtype), i)
    transposed = weights.values.T
    first = 0
    for rows in row_groups(i, i.output_width * (depth + channels), _GROUP_ELEMENTS):
        sums = to_int32(windows[rows.key].reshape(-1, depth) @ transposed, weights)
        last = first + len(sums)
        if bias is not None:
            sums += bias
        if carried is not None and not i.start:
            sums += carried[first:last]
        if output is not None:
            codes = np.empty(sums.shape, np.uint8)
            requantize(sums, i.multiplier, i.shift, i.output_zero, i.clamp_min, i.clamp_max, codes)
            target = output[rows.key]
            target[...] = codes.reshape(target.shape)
        elif carried is not None:
            carried[first:last] = sums
        first = last


def _windows(padded: npt.NDArray[Any], i: Convolve) -> npt.NDArray[Any]:
    """Unfold every pixel's window: [batch, rows, columns, kernel rows, kernel columns, channels], a view."""
    batch, row, column, channel = padded.strides
    return np.ndarray(
        (i.batch, i.output_height, i.output_width, i.kernel_height, i.kernel_width, i.input_channels),
        padded.dtype,
        padded,
        0,
        (
            batch,
            row * i.stride_height,
            column * i.stride_width,
            row * i.dilation_height,
            column * i.dilation_width,
            channel,
        ),
    )
