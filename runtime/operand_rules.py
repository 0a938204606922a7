"""NNAPI's rules for operand types and values, as checked when a model is built (level 29 and later)."""

import dataclasses
import math
import numbers
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.graph import ChannelQuantization, OperandType
from compiler.nnapi import OperandCode
from compiler.specialise import fits
from runtime.argument_checks import checked, checked_whole, checked_whole_numbers
from runtime.errors import BadDataError
from runtime.extensions import is_registered

MAX_OPERAND_BYTES = 2**32 - 1
OPERANDS = frozenset(OperandCode)

OperandValue = npt.NDArray[np.generic] | np.generic | bytes | memoryview
"""What a caller may pass as a value: an array or scalar of the operand's dtype, or its bytes."""


class QuantizationRule(NamedTuple):
    """What scale and zero point of a type must be."""

    positive_scale: bool
    zero_points: tuple[int, int]


NOT_QUANTIZED = QuantizationRule(positive_scale=False, zero_points=(0, 0))
QUANTIZED: dict[OperandCode, QuantizationRule | None] = {
    OperandCode.TENSOR_QUANT8_ASYMM: QuantizationRule(True, (0, 255)),
    OperandCode.TENSOR_QUANT8_ASYMM_SIGNED: QuantizationRule(True, (-128, 127)),
    OperandCode.TENSOR_QUANT16_ASYMM: QuantizationRule(True, (0, 65535)),
    OperandCode.TENSOR_QUANT8_SYMM: QuantizationRule(True, (0, 0)),
    OperandCode.TENSOR_QUANT16_SYMM: QuantizationRule(True, (0, 0)),
    OperandCode.TENSOR_INT32: None,
    OperandCode.OEM_SCALAR: None,
    OperandCode.TENSOR_OEM_BYTE: None,
}
"""Rules of the types that have a scale; None: any. All other types have scale 0 and zero point 0."""


def checked_type(type_: OperandType) -> OperandType:
    """The type with its scale rounded to float32.

    Raises BadDataError if a rule is broken or something is of another Python type, UnexpectedNullError for
    None.
    """
    type_ = _of_right_kinds(type_)
    if not (
        isinstance(type_.code, OperandCode)
        and (type_.code in tuple(OperandCode) or is_registered(type_.code))
    ):
        raise BadDataError(f"operand code is {type_.code:d}, must be one of {_names(OperandCode)}")
    if any(not 0 <= n < 2**32 for n in type_.dimensions):
        raise BadDataError(f"operand has dimensions {list(type_.dimensions)}, must be 0 to 2^32 - 1 each")
    if type_.code.is_scalar and type_.dimensions:
        raise BadDataError(
            f"{type_.code.name} operand has dimensions {list(type_.dimensions)}, must have none"
        )
    known_bytes = math.prod(n for n in type_.dimensions if n) * type_.dtype.itemsize
    if known_bytes > MAX_OPERAND_BYTES:
        raise BadDataError(
            f"operand has dimensions {list(type_.dimensions)}, {known_bytes} bytes; must be below 2^32"
        )
    with np.errstate(over="ignore", under="ignore"):
        scale = float(np.float32(type_.scale))
    rule = None if type_.code.is_extension else QUANTIZED.get(type_.code, NOT_QUANTIZED)
    if rule is not None:
        _check_quantization(type_, scale, rule)
    return dataclasses.replace(type_, scale=scale)


def _of_right_kinds(type_: OperandType) -> OperandType:
    """The type with NumPy's whole numbers as Python's; errors as in `checked`."""
    checked("operand type", type_, OperandType, "an OperandType")
    checked_whole("operand code", type_.code)
    checked("operand scale", type_.scale, (numbers.Real,), "a number")
    return dataclasses.replace(
        type_,
        dimensions=checked_whole_numbers("operand dimensions", type_.dimensions),
        zero_point=checked_whole("operand zero point", type_.zero_point),
    )


def _check_quantization(type_: OperandType, scale: float, rule: QuantizationRule) -> None:
    name = type_.code.name
    if not (math.isfinite(scale) and scale >= 0):
        raise BadDataError(f"{name} operand has scale {type_.scale}, must be finite and at least 0")
    if not rule.positive_scale:
        if (scale, type_.zero_point) != (0, 0):
            raise BadDataError(
                f"{name} operand has scale {scale:g} and zero point {type_.zero_point}, must have 0, 0"
            )
        return
    if scale == 0:
        raise BadDataError(f"{name} operand has scale {type_.scale}, must be greater than 0")
    low, high = rule.zero_points
    if not low <= type_.zero_point <= high:
        raise BadDataError(f"{name} operand has zero point {type_.zero_point}, must be {low} to {high}")


def checked_channels(type_: OperandType, channels: ChannelQuantization) -> OperandType:
    """The type with its scales per channel; BadDataError if they do not fit it."""
    if type_.code is not OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        raise BadDataError(f"{type_.code.name} operand must have no scales per channel")
    rank = len(type_.dimensions)
    if not 0 <= channels.axis < rank:
        raise BadDataError(f"channel dimension is {channels.axis}, must be below the rank {rank}")
    extent = type_.dimensions[channels.axis]
    if len(channels.scales) != extent:
        raise BadDataError(
            f"{len(channels.scales)} scales are given, dimension {channels.axis} of"
            f" {list(type_.dimensions)} needs {extent}"
        )
    for index, scale in enumerate(channels.scales):
        if not (math.isfinite(scale) and scale > 0):
            raise BadDataError(f"scale {index} is {scale}, must be finite and greater than 0")
    return dataclasses.replace(type_, channels=channels)


def filled_type(declared: OperandType, given: OperandType | None) -> OperandType:
    """The declared type with the dimensions of the given one, which may only fill in open ones.

    Of `given`, code, scale and zero point must be a legal type, and are ignored. Raises BadDataError.
    """
    if given is None:
        return declared
    dimensions = checked_type(given).dimensions
    if not fits(dimensions, declared):
        raise BadDataError(
            f"the type has dimensions {list(dimensions)}, may only fill in the 0 of"
            f" {list(declared.dimensions)}"
        )
    return dataclasses.replace(declared, dimensions=dimensions)


def checked_value(type_: OperandType, value: OperandValue) -> npt.NDArray[np.generic]:
    """The value as an array of the operand's dtype and dimensions, not copied if it can be avoided.

    Raises BadDataError if the type is not fully specified, or dtype or size differ from it.
    """
    if type_.code is OperandCode.MODEL:
        raise BadDataError("MODEL operand must be given a model")
    if not type_.code.is_scalar and (not type_.dimensions or 0 in type_.dimensions):
        raise BadDataError(
            f"{type_.code.name} operand has dimensions {list(type_.dimensions)}, must be fully specified"
        )
    raw = value if isinstance(value, bytes | memoryview) else None
    size_bytes = len(raw) if raw is not None else np.asarray(value).nbytes
    if size_bytes == 0:
        raise BadDataError(
            f"value has 0 bytes for {type_.code.name} {list(type_.dimensions)}; must have some"
        )
    if type_.code is OperandCode.OEM_SCALAR:
        return np.frombuffer(np.asarray(value).tobytes() if raw is None else raw, np.uint8)
    array = np.asarray(value) if raw is None else np.frombuffer(raw, np.uint8)
    if raw is None and array.dtype != type_.dtype:
        raise BadDataError(f"value has dtype {array.dtype}, must have {type_.dtype} for {type_.code.name}")
    if size_bytes != type_.size_bytes:
        raise BadDataError(
            f"value has {size_bytes} bytes, must have {type_.size_bytes} for {type_.code.name}"
            f" {list(type_.dimensions)}"
        )
    return (array if raw is None else array.view(type_.dtype)).reshape(type_.dimensions)


def _is_operand_code(code: int) -> bool:
    return code in OPERANDS or (isinstance(code, OperandCode) and is_registered(code))


def _names(codes: type[OperandCode]) -> str:
    return ", ".join(f"{code.value} ({code.name})" for code in codes)
