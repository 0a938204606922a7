"""Operations on pairs of elements with broadcasting: ADD."""

import numpy as np

from compiler.nnapi import OperationCode
from compiler.reference.arithmetic import (
    activation_range,
    doubling_high_mul,
    quantize_multiplier_below_one,
    rounding_divide_by_pot,
    to_quant8,
)
from compiler.reference.registry import Array, Call, Integers, reference

_HEADROOM_BITS = 20
"""Left shift of both inputs of ADD, so that rescaling them loses next to nothing."""


@reference(OperationCode.ADD)
def add(call: Call) -> list[Array]:
    """Both inputs are brought to twice the larger scale, 20 bits finer, then added and rescaled."""
    call.expect_count(3)
    result = call.quant8_result()
    left, right = call.quant8(0), call.quant8(1)
    _require_broadcast(call, left, right)
    scales = [float(np.float32(call.type(position).scale)) for position in (0, 1)]
    # Where twice a scale, or 2²⁰ of the output's, exceeds float32, infinity leaves a multiplier of 0 or none.
    with np.errstate(over="ignore"):
        common = float(np.float32(2.0 * max(scales)))
        output_scale = float(np.float32(2.0**_HEADROOM_BITS) * np.float32(result.scale))
    total = _scaled(call, left, 0, scales[0] / common) + _scaled(call, right, 1, scales[1] / common)
    multiplier, exponent = _below_one(call, "twice the larger input scale / 2²⁰", common / output_scale)
    steps = rounding_divide_by_pot(doubling_high_mul(total, multiplier), -exponent)
    bounds = activation_range(call.fuse(2), result.scale, result.zero_point)
    return [to_quant8(steps, result.zero_point, bounds)]


def _scaled(call: Call, values: Array, position: int, ratio: float) -> Integers:
    multiplier, exponent = _below_one(call, f"scale of input {position}", ratio)
    shifted = (values.astype(np.int64) - call.type(position).zero_point) << _HEADROOM_BITS
    return rounding_divide_by_pot(doubling_high_mul(shifted, multiplier), -exponent)


def _below_one(call: Call, what: str, real: float) -> tuple[int, int]:
    quantized = quantize_multiplier_below_one(real)
    if quantized is None:
        raise call.error(f"{what} gives the multiplier {real}; it must be below 1")
    return quantized


def _require_broadcast(call: Call, left: Array, right: Array) -> None:
    if max(left.ndim, right.ndim) > 4:
        raise call.error(f"inputs of rank {left.ndim} and {right.ndim}; at most 4 is allowed")
    pairs = zip(reversed(left.shape), reversed(right.shape), strict=False)
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise call.error(f"shapes {list(left.shape)} and {list(right.shape)} do not broadcast")
