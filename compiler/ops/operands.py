"""Checks that every operation makes of its operands: counts, types, ranks, scalars, quantisation.

Result codes follow NNAPI's executor: a wrong count, type or missing operand is BAD_DATA; a rank, shape,
scale or value that an operation rejects is OP_FAILED.
"""

import dataclasses
from collections.abc import Collection

import numpy as np

from compiler.errors import UnsupportedError
from compiler.graph import Operand, OperandType
from compiler.nnapi import FuseCode, OperandCode, ResultCode
from compiler.operation import OperationView

RANKS_TO_4 = range(1, 5)


def failed(view: OperationView, message: str) -> Exception:
    """The error of an operation that rejects a shape, a scale or a value (OP_FAILED)."""
    return view.error(message, ResultCode.OP_FAILED)


def unsupported(view: OperationView, message: str) -> UnsupportedError:
    """The error of a legal operation that this compiler cannot run."""
    return UnsupportedError(f"{view.label}: {message}")


def check_counts(view: OperationView, inputs: Collection[int], outputs: int = 1) -> None:
    """Refuse an operation with another number of operands than `inputs` lists."""
    count = len(view.operation.inputs)
    if count not in inputs:
        allowed = " or ".join(str(n) for n in sorted(inputs))
        raise view.error(f"has {count} inputs, must have {allowed}")
    if len(view.operation.outputs) != outputs:
        raise view.error(f"has {len(view.operation.outputs)} outputs, must have {outputs}")


def _present(view: OperationView, position: int, name: str) -> Operand:
    operand = view.input(position)
    if operand.omitted:
        raise view.error(f"{name} (input {position}) is omitted, but not optional")
    return operand


def _check_quant8(view: OperationView, type_: OperandType, what: str) -> None:
    if type_.code is OperandCode.TENSOR_FLOAT32:
        raise unsupported(view, f"{what} is TENSOR_FLOAT32; only TENSOR_QUANT8_ASYMM is implemented")
    if type_.code is not OperandCode.TENSOR_QUANT8_ASYMM:
        raise view.error(f"{what} is {type_.code.name}, must be TENSOR_QUANT8_ASYMM")
    if type_.scale <= 0:
        raise failed(view, f"{what} has scale {type_.scale}, must be greater than 0")


def quant8_input(view: OperationView, position: int, name: str, ranks: Collection[int]) -> OperandType:
    """Type of a mandatory quant8 tensor input of known size and one of `ranks`."""
    what = f"{name} (input {position})"
    type_ = _present(view, position, name).type
    _check_quant8(view, type_, what)
    _check_rank(view, type_, what, ranks)
    return type_


def int32_tensor_input(view: OperationView, position: int, name: str) -> OperandType:
    """Type of a mandatory one-dimensional TENSOR_INT32 input of known size."""
    what = f"{name} (input {position})"
    type_ = _present(view, position, name).type
    if type_.code is not OperandCode.TENSOR_INT32:
        raise view.error(f"{what} is {type_.code.name}, must be TENSOR_INT32")
    _check_rank(view, type_, what, (1,))
    return type_


def _check_rank(view: OperationView, type_: OperandType, what: str, ranks: Collection[int]) -> None:
    dimensions = type_.dimensions
    if not dimensions or 0 in dimensions:
        raise unsupported(
            view, f"{what} has unspecified dimensions {list(dimensions)}; every dimension must be given"
        )
    if len(dimensions) not in ranks:
        allowed = " or ".join(str(n) for n in ranks)
        raise failed(view, f"{what} has rank {len(dimensions)} {list(dimensions)}, must have rank {allowed}")


def quant8_output(view: OperationView, dimensions: tuple[int, ...]) -> OperandType:
    """The declared output type, with the dimensions the operation computes."""
    declared = view.output().type
    _check_quant8(view, declared, "output")
    if min(dimensions) < 1:
        raise failed(view, f"output would have shape {list(dimensions)}; every dimension must be at least 1")
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


def check_output_quantization(view: OperationView, scale: float, zero_point: int) -> None:
    """Refuse an output of another scale or zero point than the operation prescribes."""
    output = view.output().type
    if (output.scale, output.zero_point) != (scale, zero_point):
        raise failed(
            view,
            f"output has scale {output.scale:.9g} and zero point {output.zero_point},"
            f" must have scale {scale:.9g} and zero point {zero_point}",
        )
