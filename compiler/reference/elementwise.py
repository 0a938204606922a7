"""Operations on pairs of elements with broadcasting: ADD and MUL."""

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from compiler.reference import real
from compiler.reference.arithmetic import (
    activation_range,
    doubling_high_mul,
    quantize_multiplier_below_one,
    rounding_divide_by_pot,
    to_quant8,
)
from compiler.reference.registry import Array, Call, Integers, reference

_FLOAT, _QUANT8 = OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_QUANT8_ASYMM
_HEADROOM_BITS = 20
"""Left shift of both inputs of ADD, so that rescaling them loses next to nothing."""


@reference(OperationCode.ADD)
def add(call: Call) -> list[Array]:
    """Left plus right; see `_add_quant8` for bytes."""
    _check_operands(call)
    if call.is_float():
        return [real.finish(call, call.wide(0) + call.wide(1), call.fuse(2))]
    return [_finish(call, _add_quant8(call))]


@reference(OperationCode.MUL)
def mul(call: Call) -> list[Array]:
    """Left times right; see `_mul_quant8` for bytes."""
    _check_operands(call)
    if call.is_float():
        return [real.finish(call, call.wide(0) * call.wide(1), call.fuse(2))]
    return [_finish(call, _mul_quant8(call))]


def _check_operands(call: Call) -> None:
    """Refuse inputs of different types, of too many dimensions, and shapes that do not broadcast."""
    call.expect_count(3)
    code = _FLOAT if call.is_float() else _QUANT8
    left, right = (call.any_tensor(position, code) for position in (0, 1))
    if max(left.ndim, right.ndim) > 4:
        raise call.error(f"inputs of rank {left.ndim} and {right.ndim}; at most 4 is allowed")
    pairs = zip(reversed(left.shape), reversed(right.shape), strict=False)
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise call.error(f"shapes {list(left.shape)} and {list(right.shape)} do not broadcast")


def _finish(call: Call, steps: Integers) -> Array:
    result = call.quant8_result()
    bounds = activation_range(call.fuse(2), result.scale, result.zero_point)
    return to_quant8(steps, result.zero_point, bounds)


def _add_quant8(call: Call) -> Integers:
    """Both inputs are brought to twice the larger scale, 20 bits finer, then added and rescaled."""
    result = call.quant8_result()
    scales = [float(np.float32(call.type(position).scale)) for position in (0, 1)]
    # Where twice a scale, or 2²⁰ of the output's, exceeds float32, infinity leaves a multiplier of 0 or none.
    common = float(np.float32(2.0 * max(scales)))
    output_scale = float(np.float32(2.0**_HEADROOM_BITS) * np.float32(result.scale))
    total = _scaled(call, 0, scales[0] / common) + _scaled(call, 1, scales[1] / common)
    multiplier = _below_one(call, "twice the larger input scale / 2²⁰", common / output_scale)
    return _rescaled(total, *multiplier)


def _scaled(call: Call, position: int, ratio: float) -> Integers:
    multiplier = _below_one(call, f"scale of input {position}", ratio)
    return _rescaled(call.steps(position) << _HEADROOM_BITS, *multiplier)


def _mul_quant8(call: Call) -> Integers:
    """The product of both inputs' steps, rescaled by a factor that must be below 1 at every level."""
    product = float(np.float32(call.type(0).scale) * np.float32(call.type(1).scale))
    ratio = product / float(np.float32(call.quant8_result().scale))
    multiplier = _below_one(call, "product of the input scales / output scale", ratio)
    return _rescaled(call.steps(0) * call.steps(1), *multiplier)


def _rescaled(value: Integers, multiplier: int, exponent: int) -> Integers:
    return rounding_divide_by_pot(doubling_high_mul(value, multiplier), -exponent)


def _below_one(call: Call, what: str, ratio: float) -> tuple[int, int]:
    quantized = quantize_multiplier_below_one(ratio)
    if quantized is None:
        raise call.error(f"{what} gives the multiplier {ratio}; it must be below 1")
    return quantized
