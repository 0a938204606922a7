"""Scale rules of quant8 operations, and the multipliers their lowering needs."""

from typing import NamedTuple

import numpy as np

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, Numerics
from compiler.operation import OperationView
from compiler.ops.operands import FLOAT32, INT32, check_shape, failed, tensor_input
from isa.arithmetic import QuantizedMultiplier, quantize_multiplier, quantize_multiplier_smaller_than_one

BIAS_SCALE_TOLERANCE = 1e-6
"""How far a bias scale may be from input scale x filter scale, relative to the smaller."""

MAX_MULTIPLIER = 2.0**30
"""Real multipliers stay below this: the left shift of a requantisation must fit an int32."""

ADD_LEFT_SHIFT = 20
"""ADD computes on inputs shifted left by this many bits."""

PROBABILITY_SCALE = 1.0 / 256
"""The output scale that SOFTMAX and LOGISTIC prescribe, with zero point 0."""

UNIT_SCALE, UNIT_ZERO_POINT = 1.0 / 128, 128
"""The output quantisation that TANH and L2_NORMALIZATION prescribe: -1 to 127/128."""


def activation_range(activation: FuseCode, output: OperandType) -> tuple[int, int]:
    """Smallest and largest raw uint8 value that a fused activation lets through.

    A real bound f becomes zero_point + round(f / scale), divided in single precision, rounded half
    away from zero.
    """
    low, high = _ACTIVATION_BOUNDS[activation]
    smallest = 0 if low is None else max(0, _quantize(low, output))
    largest = 255 if high is None else min(255, _quantize(high, output))
    return smallest, largest


_ACTIVATION_BOUNDS: dict[FuseCode, tuple[float | None, float | None]] = {
    FuseCode.NONE: (None, None),
    FuseCode.RELU: (0.0, None),
    FuseCode.RELU1: (-1.0, 1.0),
    FuseCode.RELU6: (0.0, 6.0),
}


def _quantize(value: float, type_: OperandType) -> int:
    with np.errstate(over="ignore"):
        steps = float(np.float32(abs(value)) / np.float32(type_.scale))
    rounded = 256 if steps > 256 else int(np.floor(steps + 0.5))
    return type_.zero_point + (rounded if value >= 0 else -rounded)


def scale_product(input_type: OperandType, filter_type: OperandType) -> np.float32:
    """Scale of products of two quant8 values: the product of both scales, in single precision."""
    with np.errstate(over="ignore", under="ignore"):
        return np.float32(input_type.scale) * np.float32(filter_type.scale)


def convolution_multiplier(
    input_type: OperandType, filter_type: OperandType, output: OperandType, numerics: Numerics
) -> float:
    """Real factor from a convolution's sums to its output.

    The quotient is taken in double precision from level 29 on, in single precision before.
    """
    product = scale_product(input_type, filter_type)
    if numerics is Numerics.NNAPI27:
        with np.errstate(over="ignore", under="ignore"):
            return float(product / np.float32(output.scale))
    return float(product) / output.scale


def convolution_requantization(
    input_type: OperandType, filter_type: OperandType, output: OperandType, numerics: Numerics
) -> QuantizedMultiplier:
    """The multiplier and shift that take a convolution's sums to its output."""
    return quantize_multiplier(convolution_multiplier(input_type, filter_type, output, numerics))


def is_smaller_than_one(multiplier: float) -> bool:
    """True if a factor is less than 1, before and after it is rounded to 31 bits."""
    return 0 <= multiplier < 1 and quantize_multiplier(multiplier).shift <= 0


def check_convolution_multiplier(
    view: OperationView, input_type: OperandType, filter_type: OperandType
) -> None:
    """Refuse quant8 scales whose multiplier this level's rules do not permit."""
    if input_type.code is FLOAT32:
        return
    output = view.output().type
    product = scale_product(input_type, filter_type)
    if view.numerics is Numerics.NNAPI27 and not product < np.float32(output.scale):
        raise failed(
            view,
            f"output scale {output.scale:.9g} must be greater than input scale x filter scale"
            f" = {product:.9g} at NNAPI level 27 (numerics nnapi27)",
        )
    multiplier = convolution_multiplier(input_type, filter_type, output, view.numerics)
    if not multiplier < MAX_MULTIPLIER:
        raise failed(
            view,
            f"input scale {input_type.scale:.9g} x filter scale {filter_type.scale:.9g} / output scale"
            f" {output.scale:.9g} = {multiplier:.9g}, must be less than 2^30",
        )


def check_bias(
    view: OperationView, position: int, channels: int, input_type: OperandType, filter_type: OperandType
) -> None:
    """Refuse a bias of wrong type, length, zero point or scale; a float bias has none of the last two."""
    is_float = input_type.code is FLOAT32
    bias = tensor_input(view, position, "bias", (1,), (FLOAT32 if is_float else INT32,))
    check_shape(view, position, "bias", (channels,), "one for each output channel")
    if is_float:
        return
    if bias.zero_point != 0:
        raise failed(view, f"bias (input {position}) has zero point {bias.zero_point}, must have 0")
    product = float(scale_product(input_type, filter_type))
    if not abs(product - bias.scale) <= BIAS_SCALE_TOLERANCE * min(product, bias.scale):
        raise failed(
            view,
            f"bias (input {position}) has scale {bias.scale:.9g}, must have input scale x filter scale"
            f" = {product:.9g}",
        )


def product_multiplier(first: OperandType, second: OperandType, output: OperandType) -> float:
    """Real factor from MUL's products to its output: the product single, the quotient double precision."""
    return float(scale_product(first, second)) / output.scale


class AddRescaling(NamedTuple):
    """How ADD rescales: both inputs to their common scale, and the sum to the output's; all below 1."""

    first: QuantizedMultiplier
    second: QuantizedMultiplier
    output: QuantizedMultiplier


def add_output_multiplier(first: OperandType, second: OperandType, output: OperandType) -> float:
    """Real factor from ADD's shifted sums, in twice the larger input scale, to its output."""
    return _common_scale(first, second) / (2.0**ADD_LEFT_SHIFT * output.scale)


def add_rescaling(first: OperandType, second: OperandType, output: OperandType) -> AddRescaling:
    """Multipliers and shifts of ADD; ValueError if the output's factor is not below 1."""
    common = _common_scale(first, second)
    return AddRescaling(
        quantize_multiplier_smaller_than_one(first.scale / common),
        quantize_multiplier_smaller_than_one(second.scale / common),
        quantize_multiplier_smaller_than_one(add_output_multiplier(first, second, output)),
    )


def _common_scale(first: OperandType, second: OperandType) -> float:
    return 2.0 * max(first.scale, second.scale)
