"""NNAPI's rules for operand types and values, as checked when a model is built (level 29 and later)."""

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from compiler.nnapi import OperandCode
from runtime.errors import BadDataError

MAX_OPERAND_BYTES = 2**32 - 1

OperandValue = npt.NDArray[np.generic] | np.generic | bytes
"""What a caller may pass as a value: an array or scalar of the operand's dtype, or its bytes."""


def checked_type(type_: OperandType) -> OperandType:
    """The type with its scale rounded to float32; BadDataError if a rule is broken."""
    if type_.code not in tuple(OperandCode):
        raise BadDataError(f"operand code is {type_.code}, must be one of {_names(OperandCode)}")
    if any(not 0 <= n < 2**32 for n in type_.dimensions):
        raise BadDataError(f"operand has dimensions {list(type_.dimensions)}, must be 0 to 2^32 - 1 each")
    if type_.code.is_scalar and type_.dimensions:
        raise BadDataError(
            f"{type_.code.name} operand has dimensions {list(type_.dimensions)}, must have none"
        )
    if type_.size_bytes > MAX_OPERAND_BYTES:
        raise BadDataError(
            f"operand has dimensions {list(type_.dimensions)}, {type_.size_bytes} bytes; must be below 2^32"
        )
    return dataclasses.replace(type_, scale=_checked_scale(type_))


def _checked_scale(type_: OperandType) -> float:
    with np.errstate(over="ignore", under="ignore"):
        scale = float(np.float32(type_.scale))
    if not (math.isfinite(scale) and scale >= 0):
        raise BadDataError(
            f"{type_.code.name} operand has scale {type_.scale}, must be finite and at least 0"
        )
    if type_.code is OperandCode.TENSOR_QUANT8_ASYMM:
        if scale == 0:
            raise BadDataError(f"{type_.code.name} operand has scale {type_.scale}, must be greater than 0")
        if not 0 <= type_.zero_point <= 255:
            raise BadDataError(
                f"{type_.code.name} operand has zero point {type_.zero_point}, must be 0 to 255"
            )
    elif type_.code is not OperandCode.TENSOR_INT32 and (scale, type_.zero_point) != (0, 0):
        raise BadDataError(
            f"{type_.code.name} operand has scale {scale:g} and zero point {type_.zero_point}, must have 0, 0"
        )
    return scale


def checked_value(type_: OperandType, value: OperandValue) -> npt.NDArray[np.generic]:
    """The value as an array of the operand's dtype and dimensions, not copied if it can be avoided.

    Raises BadDataError if the type is not fully specified, or dtype or size differ from it.
    """
    if not type_.code.is_scalar and (not type_.dimensions or 0 in type_.dimensions):
        raise BadDataError(
            f"{type_.code.name} operand has dimensions {list(type_.dimensions)}, must be fully specified"
        )
    if not isinstance(value, bytes) and value.dtype != type_.dtype:
        raise BadDataError(f"value has dtype {value.dtype}, must have {type_.dtype} for {type_.code.name}")
    size_bytes = len(value) if isinstance(value, bytes) else value.nbytes
    if size_bytes != type_.size_bytes:
        raise BadDataError(
            f"value has {size_bytes} bytes, must have {type_.size_bytes} for {type_.code.name}"
            f" {list(type_.dimensions)}"
        )
    flat = np.frombuffer(value, type_.dtype) if isinstance(value, bytes) else np.asarray(value)
    return flat.reshape(type_.dimensions)


def _names(codes: type[OperandCode]) -> str:
    return ", ".join(f"{code.value} ({code.name})" for code in codes)
