"""Functions of single elements: RELU, RELU1, RELU6, LOGISTIC, TANH and FLOOR."""

from collections.abc import Callable

import numpy as np

from compiler.nnapi import FuseCode, OperationCode
from compiler.reference import fixed_point, real
from compiler.reference.arithmetic import (
    activation_range,
    doubling_high_mul,
    quantize_multiplier_above_one,
    rounding_divide_by_pot,
)
from compiler.reference.registry import Array, Call, Integers, reference

_RANKS = range(5)
_ARGUMENT_INTEGER_BITS = 4
"""LOGISTIC and TANH compute on Q4.27, so on arguments between −16 and 16."""


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
    _check_operand(call)
    if call.is_float():
        return real.finish(call, call.wide(0), fuse)
    values, kind = call.quant8(0), call.type(0)
    call.expect_same_quantization()
    low, high = activation_range(fuse, kind.scale, kind.zero_point)
    return np.clip(values.astype(np.int64), low, high).astype(np.uint8)


@reference(OperationCode.FLOOR)
def floor(call: Call) -> list[Array]:
    """The largest whole number that is not above x; float only."""
    _check_operand(call)
    return [real.finish(call, np.floor(call.real(0)))]


@reference(OperationCode.LOGISTIC)
def logistic(call: Call) -> list[Array]:
    """1 / (1 + exp(−x)); in units of 1/256 for bytes."""
    _check_operand(call)
    if call.is_float():
        return [real.finish(call, real.logistic(call.wide(0)))]
    return [_by_table(call, fixed_point.logistic, 8, 0, margin=0)]


@reference(OperationCode.TANH)
def tanh(call: Call) -> list[Array]:
    """Hyperbolic tangent; in units of 1/128 around 128 for bytes, which came with level 29."""
    _check_operand(call)
    if call.is_float():
        return [real.finish(call, np.tanh(call.wide(0)))]
    call.expect_level_29("TANH of TENSOR_QUANT8_ASYMM")
    return [_by_table(call, fixed_point.tanh, 7, 128, margin=1)]


def _check_operand(call: Call) -> None:
    """Refuse other numbers of inputs than one, and too many dimensions."""
    call.expect_count(1)
    call.expect_rank(0, *_RANKS)


def _by_table(
    call: Call, function: Callable[[Integers], Integers], fraction_bits: int, zero_point: int, margin: int
) -> Array:
    """Apply `function` (Q4.27 to Q0.31) to bytes; the output counts 2^−`fraction_bits` from `zero_point`.

    Codes are at the function's ends from `margin` below the first that Q4.27 cannot hold: the kernel of TANH
    counts the last one that it can to the ends, so that at scales from 8 on the zero point gives 0.
    """
    values, kind, result = call.quant8(0), call.type(0), call.quant8_result()
    if (result.scale, result.zero_point) != (2.0**-fraction_bits, zero_point):
        raise call.error(
            f"the output has scale {result.scale} and zero point {result.zero_point}, must be "
            f"1/{1 << fraction_bits} and {zero_point}"
        )
    argument_fraction_bits = 31 - _ARGUMENT_INTEGER_BITS
    quantized = quantize_multiplier_above_one(float(np.float32(kind.scale)) * 2.0**argument_fraction_bits)
    if quantized is None:
        raise call.error(f"the input scale {kind.scale} must be larger than 2⁻²⁷")
    multiplier, shift = quantized
    # Codes further than this from the zero point leave Q4.27: there the function is at one of its ends.
    radius = (((1 << _ARGUMENT_INTEGER_BITS) - 1) << argument_fraction_bits) >> shift
    codes = np.arange(256, dtype=np.int64) - kind.zero_point
    inside = np.where(np.abs(codes) <= radius, codes, 0)
    # From a shift of 31 on the radius is 0 and only the zero point itself is inside.
    argument = doubling_high_mul(inside << min(shift, 31), multiplier)
    table = rounding_divide_by_pot(function(argument), 31 - fraction_bits) + zero_point
    last = radius - margin
    table = np.where(codes < -last, 0, np.where(codes > last, 255, np.minimum(table, 255)))
    return table.astype(np.uint8)[values]
