"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: Σ x·w + bias; bytes less their zero points, and rescaled.

All sums are taken in double precision. Those of products of 9-bit steps are exact in it.
"""

import numpy as np

from compiler.nnapi import FuseCode, OperandCode, OperationCode
from compiler.reference import real
from compiler.reference.arithmetic import (
    activation_range,
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    quantize_multiplier_below_one,
    to_quant8,
    wrap_int32,
)
from compiler.reference.registry import Array, Call, Floats, reference
from compiler.reference.windows import (
    WindowArguments,
    from_channels_last,
    pad,
    read_window_arguments,
    resolve_axes,
    taps,
    to_channels_last,
)

_INPUT, _FILTER, _BIAS = 0, 1, 2
_RELATIVE_BIAS_SCALE_ERROR = 1e-6
"""How far the bias scale may be from input scale · filter scale, relative to the smaller (both levels)."""


@reference(OperationCode.CONV_2D)
def conv_2d(call: Call) -> list[Array]:
    """Filter is [out channels, height, width, in channels]."""
    arguments = read_window_arguments(call, first=3, particular=0, can_dilate=True)
    inputs, filters = _images(call, arguments)
    channels, height, width, depth = filters.shape
    if depth != inputs.shape[3]:
        raise call.error(f"the filter has depth {depth}, the input {inputs.shape[3]}")
    rows, columns = resolve_axes(call, arguments, inputs.shape[1:3], (height, width))
    sums = np.zeros((inputs.shape[0], rows.count, columns.count, channels))
    for row, column, values in taps(pad(inputs, rows, columns), rows, columns):
        sums += values @ filters[:, row, column].T
    output = _finish(call, sums, arguments.fuse)
    return [from_channels_last(output, arguments.channels_first)]


@reference(OperationCode.DEPTHWISE_CONV_2D)
def depthwise_conv_2d(call: Call) -> list[Array]:
    """Filter is [1, height, width, in channels · multiplier]; output channel c·multiplier + q reads c."""
    arguments = read_window_arguments(call, first=3, particular=1, can_dilate=True)
    inputs, filters = _images(call, arguments)
    leading, height, width, channels = filters.shape
    (multiplier,) = arguments.particular
    if leading != 1 or multiplier < 1 or channels != inputs.shape[3] * multiplier:
        raise call.error(
            f"the filter is {list(filters.shape)}; it must be [1, height, width, {inputs.shape[3]} · "
            f"{multiplier}] for an input of depth {inputs.shape[3]} and depth multiplier {multiplier}"
        )
    rows, columns = resolve_axes(call, arguments, inputs.shape[1:3], (height, width))
    padded = np.repeat(pad(inputs, rows, columns), multiplier, axis=3)
    sums = np.zeros((inputs.shape[0], rows.count, columns.count, channels))
    for row, column, values in taps(padded, rows, columns):
        sums += values * filters[0, row, column]
    output = _finish(call, sums, arguments.fuse)
    return [from_channels_last(output, arguments.channels_first)]


@reference(OperationCode.FULLY_CONNECTED)
def fully_connected(call: Call) -> list[Array]:
    """Weights are [units, size]; the input is read as [elements / size, size]."""
    call.expect_count(4)
    call.expect_rank(_INPUT, 2, 3, 4)
    call.expect_rank(_FILTER, 2)
    inputs, filters = _factors(call, _INPUT), _factors(call, _FILTER)
    size = filters.shape[1]
    if size < 1 or inputs.size % size:
        raise call.error(f"{inputs.size} input elements do not fill rows of the weights' size {size}")
    return [_finish(call, inputs.reshape(-1, size) @ filters.T, call.fuse(3))]


def _images(call: Call, arguments: WindowArguments) -> tuple[Floats, Floats]:
    """The input as NHWC, and the filter."""
    call.expect_rank(_INPUT, 4)
    call.expect_rank(_FILTER, 4)
    inputs = to_channels_last(_factors(call, _INPUT), arguments.channels_first)
    return inputs, _factors(call, _FILTER)


def _factors(call: Call, position: int) -> Floats:
    """What is multiplied: floats, or bytes less their zero point, by the type of the input."""
    return call.wide(position) if call.is_float(_INPUT) else call.steps(position).astype(np.float64)


def _finish(call: Call, sums: Floats, fuse: FuseCode) -> Array:
    """Add the bias along the last axis; bring bytes to the output's scale; clamp."""
    is_float = call.is_float(_INPUT)
    bias = call.tensor(_BIAS, OperandCode.TENSOR_FLOAT32 if is_float else OperandCode.TENSOR_INT32)
    if bias.shape != sums.shape[-1:]:
        raise call.error(f"the bias is {list(bias.shape)}; it must be [{sums.shape[-1]}]")
    if is_float:
        return real.finish(call, sums + bias, fuse)
    result = call.quant8_result()
    multiplier, exponent = _output_multiplier(call)
    accumulators = wrap_int32(sums.astype(np.int64) + bias)
    steps = multiply_by_quantized_multiplier(accumulators, multiplier, exponent)
    bounds = activation_range(fuse, result.scale, result.zero_point)
    return to_quant8(steps, result.zero_point, bounds)


def _output_multiplier(call: Call) -> tuple[int, int]:
    """(m, e) of input scale · filter scale / output scale.

    The product is single precision; the quotient single at level 27, which also demands that it is below
    one, and double from level 29 on.
    """
    # A product beyond float32 becomes infinite or 0; no bias scale matches infinity, and 0 scales all to 0.
    with np.errstate(over="ignore", under="ignore"):
        product = np.float32(call.type(_INPUT).scale) * np.float32(call.type(_FILTER).scale)
    bias, output = call.type(_BIAS), np.float32(call.quant8_result().scale)
    bias_scale = np.float32(bias.scale)
    allowed = _RELATIVE_BIAS_SCALE_ERROR * min(float(product), float(bias_scale))
    # The difference of two nearly equal float32 is exact in either precision.
    if abs(float(product) - float(bias_scale)) > allowed or bias.zero_point != 0:
        raise call.error(
            f"the bias has scale {bias.scale} and zero point {bias.zero_point}; they must be input scale · "
            f"filter scale = {product} and 0"
        )
    if not call.is_level_27:
        return quantize_multiplier(float(product) / float(output))
    with np.errstate(over="ignore", under="ignore"):
        quotient = float(product / output)
    below_one = quantize_multiplier_below_one(quotient) if product < output else None
    if below_one is None:
        raise call.error(
            f"input scale · filter scale = {product} must be below the output scale {output} at level 27"
        )
    return below_one
