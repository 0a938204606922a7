"""SOFTMAX, L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION, along one axis."""

from collections.abc import Callable

import numpy as np

from compiler.nnapi import OperandCode, OperationCode, ResultCode
from compiler.reference import real
from compiler.reference.arithmetic import (
    INT32_MAX,
    doubling_high_mul,
    quantize_multiplier_above_one,
    rounding_divide_by_pot,
    wrap_int32,
)
from compiler.reference.fixed_point import exp_of_negative, inverse_square_root, one_over_one_plus
from compiler.reference.registry import Array, Call, Floats, Integers, reference

_TYPES = (OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_QUANT8_ASYMM)
_DIFFERENCE_INTEGER_BITS = 5
"""Differences from the largest element are Q5.26: anything below −32 has probability 0."""
_SUM_INTEGER_BITS = 12
"""The sum of exponentials is Q12.19."""


@reference(OperationCode.SOFTMAX)
def softmax(call: Call) -> list[Array]:
    """exp(β(x − max)) / Σ exp(β(x − max)); in units of 1/256 for bytes."""
    _expect_count(call, 2)
    axis = _axis(call, 2, ranks_at_27=(2, 4))
    beta = call.number(1)
    if not 0 < beta < float("inf"):
        raise call.error(f"beta {beta} must be positive and finite", ResultCode.BAD_DATA)
    if call.is_float():
        return _float_along(call, axis, lambda rows: _softmax_float(rows, beta))
    _expect_result(call, 1 / 256, 0)
    multiplier, shift = _difference_multiplier(call, beta)
    return _along(axis, call.quant8(0), lambda rows: _softmax_quant8(rows, multiplier, shift))


@reference(OperationCode.L2_NORMALIZATION)
def l2_normalization(call: Call) -> list[Array]:
    """Elements over √Σx²; in units of 1/128 around 128 for bytes, which came with level 29.

    Zeros alone give zeros: level 30's rule, where those before it leave the result open.
    """
    _expect_count(call, 1)
    if not call.is_float():
        call.expect_level_29("L2_NORMALIZATION of TENSOR_QUANT8_ASYMM")
    axis = _axis(call, 1, ranks_at_27=(4,))
    if call.is_float():
        return _float_along(call, axis, _l2_normalized_float)
    _expect_result(call, 1 / 128, 128)
    zero_point = call.type(0).zero_point
    return _along(axis, call.quant8(0), lambda rows: _l2_normalized_quant8(rows - np.int64(zero_point)))


@reference(OperationCode.LOCAL_RESPONSE_NORMALIZATION)
def local_response_normalization(call: Call) -> list[Array]:
    """Elements times (bias + α Σx²)^(−β), the sum over each and `radius` neighbours on both sides; float."""
    _expect_count(call, 5)
    axis = _axis(call, 5, ranks_at_27=(4,))
    radius, bias, alpha, beta = call.integer(1), *(call.number(position) for position in (2, 3, 4))
    if radius < 0:
        raise call.error(f"radius {radius} must not be negative")

    def normalized(rows: Floats) -> Floats:
        base = bias + alpha * _neighbourhood_sums(rows * rows, radius)
        return np.asarray(rows * base**-beta)

    return _float_along(call, axis, normalized)


def _expect_count(call: Call, count: int) -> None:
    """Refuse other numbers of inputs than `count` and, from level 29 on, one more: the axis."""
    call.expect_count(*((count,) if call.is_level_27 else (count, count + 1)))


def _axis(call: Call, position: int, ranks_at_27: tuple[int, ...]) -> int:
    """Read the optional axis at `position`, by default the last; level 27 knows only that one."""
    call.expect_rank(0, *(ranks_at_27 if call.is_level_27 else range(1, 5)))
    rank = call.any_tensor(0, *_TYPES).ndim
    axis = call.integer_or(position, -1)
    if not -rank <= axis < rank:
        raise call.error(f"axis {axis} is outside [{-rank}, {rank}) of a tensor of rank {rank}")
    return axis


def _along(axis: int, values: Array, function: Callable[[Array], Array]) -> list[Array]:
    """`function`, which works along the last axis, applied along `axis`."""
    if values.size == 0:
        return [values.copy()]
    rows = function(np.moveaxis(values, axis, -1))
    return [np.ascontiguousarray(np.moveaxis(rows, -1, axis))]


def _float_along(call: Call, axis: int, function: Callable[[Floats], Floats]) -> list[Array]:
    """`function` of the float input along `axis`, rounded to the float output."""
    call.result(OperandCode.TENSOR_FLOAT32)
    return _along(axis, call.real(0), lambda rows: real.to_single(function(rows.astype(np.float64))))


def _expect_result(call: Call, scale: float, zero_point: int) -> None:
    result = call.quant8_result()
    if (result.scale, result.zero_point) != (scale, zero_point):
        raise call.error(
            f"the output has scale {result.scale} and zero point {result.zero_point}, must be "
            f"1/{round(1 / scale)} and {zero_point}"
        )


def _softmax_float(rows: Floats, beta: float) -> Floats:
    exponentials = np.exp((rows - rows.max(axis=-1, keepdims=True)) * beta)
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


def _l2_normalized_float(rows: Floats) -> Floats:
    lengths = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    return np.asarray(rows / np.where(lengths == 0, 1.0, lengths))


def _neighbourhood_sums(squares: Floats, radius: int) -> Floats:
    """For each place of the last axis, the sum over the places at most `radius` away."""
    size = squares.shape[-1]
    reach = min(radius, size - 1)
    padded = np.pad(squares, [(0, 0)] * (squares.ndim - 1) + [(reach, reach)])
    sums = np.zeros_like(squares)
    for offset in range(2 * reach + 1):
        sums += padded[..., offset : offset + size]
    return sums


def _difference_multiplier(call: Call, beta: float) -> tuple[int, int]:
    """(m, e) that brings a difference of codes, times β, to Q5.26."""
    ratio = beta * float(np.float32(call.type(0).scale)) * 2.0 ** (31 - _DIFFERENCE_INTEGER_BITS)
    quantized = quantize_multiplier_above_one(min(ratio, float(INT32_MAX)))
    if quantized is None:
        raise call.error(f"beta · input scale = {beta * call.type(0).scale} must be larger than 2⁻²⁶")
    return quantized


def _softmax_quant8(codes: Array, multiplier: int, shift: int) -> Array:
    """Probabilities along the last axis."""
    rows = codes.astype(np.int64)
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


def _l2_normalized_quant8(steps: Integers) -> Array:
    """Steps over their Euclidean length along the last axis, in units of 1/128 around 128."""
    squares = wrap_int32((steps * steps).sum(axis=-1, keepdims=True))
    multiplier, right_shift = inverse_square_root(squares)
    scaled = rounding_divide_by_pot(doubling_high_mul(steps * 128, multiplier), right_shift)
    return np.clip(scaled + 128, 0, 255).astype(np.uint8)
