"""SOFTMAX in fixed point."""

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from compiler.reference.arithmetic import (
    INT32_MAX,
    doubling_high_mul,
    quantize_multiplier_above_one,
    rounding_divide_by_pot,
    wrap_int32,
)
from compiler.reference.fixed_point import exp_of_negative, one_over_one_plus
from compiler.reference.registry import Array, Call, Integers, reference

_DIFFERENCE_INTEGER_BITS = 5
"""Differences from the largest element are Q5.26: anything below −32 has probability 0."""
_SUM_INTEGER_BITS = 12
"""The sum of exponentials is Q12.19."""


@reference(OperationCode.SOFTMAX)
def softmax(call: Call) -> list[Array]:
    """exp(β(x − max)) / Σ exp(β(x − max)) along one axis, in units of 1/256."""
    axis = _axis(call)
    values, result = call.quant8(0), call.quant8_result()
    if (result.scale, result.zero_point) != (1 / 256, 0):
        raise call.error(
            f"the output has scale {result.scale} and zero point {result.zero_point}, must be 1/256 and 0"
        )
    multiplier, shift = _difference_multiplier(call)
    rows = np.moveaxis(values.astype(np.int64), axis, -1)
    if rows.size == 0:
        return [values.copy()]
    probabilities = _normalized(rows, multiplier, shift)
    return [np.ascontiguousarray(np.moveaxis(probabilities, -1, axis))]


def _axis(call: Call) -> int:
    """Read the axis to normalise along; level 27 knows only the last of two or four dimensions."""
    call.expect_count(*((2,) if call.is_level_27 else (2, 3)))
    call.expect_rank(0, *((2, 4) if call.is_level_27 else range(1, 5)))
    rank = call.tensor(0, OperandCode.TENSOR_QUANT8_ASYMM).ndim
    axis = call.integer_or(2, -1)
    if not -rank <= axis < rank:
        raise call.error(f"axis {axis} is outside [{-rank}, {rank}) of a tensor of rank {rank}")
    return axis


def _difference_multiplier(call: Call) -> tuple[int, int]:
    """(m, e) that brings a difference of codes, times β, to Q5.26."""
    beta = float(np.float32(call.scalar(1, OperandCode.FLOAT32)))
    if not beta > 0:
        raise call.error(f"beta {beta} must be positive")
    real = beta * float(np.float32(call.type(0).scale)) * 2.0 ** (31 - _DIFFERENCE_INTEGER_BITS)
    quantized = quantize_multiplier_above_one(min(real, float(INT32_MAX)))
    if quantized is None:
        raise call.error(f"beta · input scale = {beta * call.type(0).scale} must be larger than 2⁻²⁶")
    return quantized


def _normalized(rows: Integers, multiplier: int, shift: int) -> Array:
    """Probabilities along the last axis."""
    lowest = -((((1 << _DIFFERENCE_INTEGER_BITS) - 1) << (31 - _DIFFERENCE_INTEGER_BITS)) >> shift)
    differences = rows - rows.max(axis=-1, keepdims=True)
    taking_part = differences >= lowest
    scaled = doubling_high_mul(np.where(taking_part, differences, 0) << shift, multiplier)
    exponentials = np.where(taking_part, exp_of_negative(scaled, _DIFFERENCE_INTEGER_BITS), 0)
    total = rounding_divide_by_pot(exponentials, _SUM_INTEGER_BITS).sum(axis=-1, keepdims=True) & 0xFFFFFFFF
    # total = (1 + mantissa) · 2^(31 − leading zeros), mantissa in Q0.31. frexp's exponent is the bit length.
    leading_zeros = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    mantissa = wrap_int32((total << leading_zeros) - (1 << 31))
    ratio = doubling_high_mul(one_over_one_plus(mantissa), exponentials)
    exponent = _SUM_INTEGER_BITS - leading_zeros + 31 - 8
    return np.clip(rounding_divide_by_pot(ratio, exponent), 0, 255).astype(np.uint8)
