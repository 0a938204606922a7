"""Functions of single elements: RELU, RELU1, RELU6 and LOGISTIC."""

import numpy as np

from compiler.nnapi import FuseCode, OperationCode
from compiler.reference.arithmetic import (
    activation_range,
    doubling_high_mul,
    quantize_multiplier_above_one,
    rounding_divide_by_pot,
)
from compiler.reference.fixed_point import logistic as fixed_point_logistic
from compiler.reference.registry import Array, Call, reference

_LOGISTIC_INTEGER_BITS = 4
"""LOGISTIC computes on Q4.27, so on arguments between −16 and 16."""


@reference(OperationCode.RELU)
def relu(call: Call) -> list[Array]:
    """max(0, x)."""
    return [_clamped(call, FuseCode.RELU)]


@reference(OperationCode.RELU1)
def relu1(call: Call) -> list[Array]:
    """min(1, max(−1, x))."""
    return [_clamped(call, FuseCode.RELU1)]


@reference(OperationCode.RELU6)
def relu6(call: Call) -> list[Array]:
    """min(6, max(0, x))."""
    return [_clamped(call, FuseCode.RELU6)]


def _clamped(call: Call, fuse: FuseCode) -> Array:
    """Raw bytes limited to the range of `fuse` in the input's quantisation; nothing is rescaled."""
    call.expect_count(1)
    values, kind = call.quant8(0), call.type(0)
    call.expect_rank(0, *range(5))
    call.expect_same_quantization()
    low, high = activation_range(fuse, kind.scale, kind.zero_point)
    return np.clip(values.astype(np.int64), low, high).astype(np.uint8)


@reference(OperationCode.LOGISTIC)
def logistic(call: Call) -> list[Array]:
    """1 / (1 + exp(−x)) in units of 1/256."""
    call.expect_count(1)
    call.expect_rank(0, *range(5))
    values, kind, result = call.quant8(0), call.type(0), call.quant8_result()
    if (result.scale, result.zero_point) != (1 / 256, 0):
        raise call.error(
            f"the output has scale {result.scale} and zero point {result.zero_point}, must be 1/256 and 0"
        )
    fraction_bits = 31 - _LOGISTIC_INTEGER_BITS
    quantized = quantize_multiplier_above_one(float(np.float32(kind.scale)) * 2.0**fraction_bits)
    if quantized is None:
        raise call.error(f"the input scale {kind.scale} must be larger than 2⁻²⁷")
    multiplier, shift = quantized
    # Codes further than this from the zero point leave Q4.27: there the result is 0 or 1.
    radius = (((1 << _LOGISTIC_INTEGER_BITS) - 1) << fraction_bits) >> shift
    codes = np.arange(256, dtype=np.int64) - kind.zero_point
    inside = np.where(np.abs(codes) <= radius, codes, 0)
    # From a shift of 31 on the radius is 0 and only the zero point itself is inside.
    argument = doubling_high_mul(inside << min(shift, 31), multiplier)
    table = np.minimum(rounding_divide_by_pot(fixed_point_logistic(argument), 31 - 8), 255)
    table = np.where(codes < -radius, 0, np.where(codes > radius, 255, table))
    return [table.astype(np.uint8)[values]]
