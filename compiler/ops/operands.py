"""Checks that every operation makes of its operands: counts, types, ranks, scalars, quantisation.

Result codes follow NNAPI's executor: a wrong count, type or missing operand is BAD_DATA; a rank, shape,
scale or value that an operation rejects is OP_FAILED.
"""

import dataclasses
from collections.abc import Collection

import numpy as np

from compiler.errors import UnsupportedError
from compiler.graph import Operand, OperandType
from compiler.nnapi import FuseCode, Numerics, OperandCode, ResultCode
from compiler.operation import OperationView

FLOAT32, QUANT8 = OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_QUANT8_ASYMM
REAL = (FLOAT32, QUANT8)
"""Tensors that hold real numbers."""
INT32 = OperandCode.TENSOR_INT32

RANKS_TO_4 = range(1, 5)


def failed(view: OperationView, message: str) -> Exception:
    """The error of an operation that rejects a shape, a scale or a value (OP_FAILED)."""
    return view.error(message, ResultCode.OP_FAILED)


def unsupported(view: OperationView, message: str) -> UnsupportedError:
    """The error of a legal operation that this compiler cannot judge."""
    return UnsupportedError(f"{view.label}: {message}")


def is_level_27(view: OperationView) -> bool:
    """True if level 27's rules decide."""
    return view.numerics is Numerics.NNAPI27


def check_counts(
    view: OperationView, inputs: Collection[int], outputs: int = 1, *, level_29: Collection[int] = ()
) -> None:
    """Refuse an operation with another number of operands.

    `inputs` lists the numbers of inputs of level 27, `level_29` those that came with level 29.
    """
    count = len(view.operation.inputs)
    allowed = {*inputs} if is_level_27(view) else {*inputs, *level_29}
    if count not in allowed:
        numbers = " or ".join(str(n) for n in sorted(allowed))
        later = f" at NNAPI level 27 (numerics nnapi27): input {count - 1} came with level 29"
        raise view.error(f"has {count} inputs, must have {numbers}{later if count in level_29 else ''}")
    if len(view.operation.outputs) != outputs:
        raise view.error(f"has {len(view.operation.outputs)} outputs, must have {outputs}")


def is_absent(view: OperationView, position: int) -> bool:
    """True if an optional tensor input has no value: omitted, or a tensor without elements."""
    operand = view.input(position)
    return operand.omitted or 0 in operand.type.dimensions


def _present(view: OperationView, position: int, name: str) -> Operand:
    operand = view.input(position)
    if operand.omitted:
        raise view.error(f"{name} (input {position}) is omitted, but not optional")
    return operand


def _check_type(view: OperationView, type_: OperandType, what: str, codes: Collection[OperandCode]) -> None:
    if type_.code not in codes:
        allowed = " or ".join(code.name for code in codes)
        raise view.error(f"{what} is {type_.code.name}, must be {allowed}")
    if type_.code is QUANT8 and type_.scale <= 0:
        raise failed(view, f"{what} has scale {type_.scale}, must be greater than 0")


def tensor_input(
    view: OperationView,
    position: int,
    name: str,
    ranks: Collection[int] | None,
    codes: Collection[OperandCode] = REAL,
) -> OperandType:
    """Type of a mandatory tensor input of known size, one of `codes` and one of `ranks` (None: any)."""
    what = f"{name} (input {position})"
    type_ = _present(view, position, name).type
    _check_type(view, type_, what, codes)
    _check_rank(view, type_, what, ranks)
    return type_


def _check_rank(view: OperationView, type_: OperandType, what: str, ranks: Collection[int] | None) -> None:
    dimensions = type_.dimensions
    if not dimensions or 0 in dimensions:
        raise unsupported(
            view, f"{what} has unspecified dimensions {list(dimensions)}; every dimension must be given"
        )
    if ranks is not None and len(dimensions) not in ranks:
        allowed = " or ".join(str(n) for n in ranks)
        raise failed(view, f"{what} has rank {len(dimensions)} {list(dimensions)}, must have rank {allowed}")


def check_shape(view: OperationView, position: int, name: str, shape: tuple[int, ...], why: str) -> None:
    """Refuse an input of another shape; `why` says what the shape is made of."""
    dimensions = view.input(position).type.dimensions
    if dimensions != shape:
        raise failed(
            view, f"{name} (input {position}) has shape {list(dimensions)}, must have {list(shape)} ({why})"
        )


def tensor_output(
    view: OperationView,
    code: OperandCode,
    dimensions: tuple[int, ...],
    position: int = 0,
    name: str = "output",
) -> OperandType:
    """The declared type of an output, which must be `code`, with the dimensions the operation computes."""
    declared = view.output(position).type
    _check_type(view, declared, name, (code,))
    if min(dimensions) < 1:
        raise failed(view, f"{name} would have shape {list(dimensions)}; every dimension must be at least 1")
    return dataclasses.replace(declared, dimensions=dimensions)


def _scalar(view: OperationView, position: int, name: str, code: OperandCode) -> float:
    operand = _present(view, position, name)
    if operand.type.code is not code:
        raise view.error(f"{name} (input {position}) is {operand.type.code.name}, must be {code.name}")
    if operand.value is None:
        raise unsupported(view, f"{name} (input {position}) is not constant; only constants are implemented")
    return operand.value.item()  # type: ignore[no-any-return]


def int32_scalar(view: OperationView, position: int, name: str) -> int:
    """Value of a constant INT32 input."""
    return int(_scalar(view, position, name, OperandCode.INT32))


def positive_scalar(view: OperationView, position: int, name: str) -> int:
    """Value of a constant INT32 input that must be at least 1."""
    value = int32_scalar(view, position, name)
    if value < 1:
        raise failed(view, f"{name} (input {position}) is {value}, must be at least 1")
    return value


def float32_scalar(view: OperationView, position: int, name: str) -> float:
    """Value of a constant FLOAT32 input."""
    return float(_scalar(view, position, name, OperandCode.FLOAT32))


def bool_scalar(view: OperationView, position: int, name: str) -> bool:
    """Value of a constant BOOL input."""
    return bool(_scalar(view, position, name, OperandCode.BOOL))


def axis_scalar(view: OperationView, position: int, rank: int) -> int:
    """The axis, counted from 0, that an optional INT32 input gives; the last one without it."""
    if position >= len(view.operation.inputs):
        return rank - 1
    axis = int32_scalar(view, position, "axis")
    if not -rank <= axis < rank:
        raise failed(view, f"axis (input {position}) is {axis}, must be {-rank} to {rank - 1}")
    return axis % rank


def fused_activation(view: OperationView, position: int) -> FuseCode:
    """The fused activation given by a constant INT32 input."""
    value = int32_scalar(view, position, "fused activation")
    if value not in tuple(FuseCode):
        allowed = ", ".join(f"{code.value} ({code.name})" for code in FuseCode)
        raise failed(view, f"fused activation (input {position}) is {value}, must be one of {allowed}")
    return FuseCode(value)


def same_quantization(first: OperandType, second: OperandType) -> bool:
    """True if raw values of the two types mean the same real values."""
    return (np.float32(first.scale), first.zero_point) == (np.float32(second.scale), second.zero_point)


def check_output_keeps_quantization(view: OperationView, input_type: OperandType) -> None:
    """Refuse an output whose scale or zero point differs from the input's: raw values pass through."""
    output = view.output().type
    if same_quantization(input_type, output):
        return
    raise failed(
        view,
        f"output has scale {output.scale:.9g} and zero point {output.zero_point}, must have the input's"
        f" (scale {input_type.scale:.9g}, zero point {input_type.zero_point}): the operation does not"
        " rescale",
    )


def check_output_quantization(
    view: OperationView, scale: float, zero_point: int, position: int = 0, name: str = "output"
) -> None:
    """Refuse an output of another scale or zero point than the operation prescribes."""
    output = view.output(position).type
    if (output.scale, output.zero_point) != (scale, zero_point):
        raise failed(
            view,
            f"{name} has scale {output.scale:.9g} and zero point {output.zero_point},"
            f" must have scale {scale:.9g} and zero point {zero_point}",
        )
