"""Graphs of one operation or a few, built operand by operand."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.graph import Graph, Operand, OperandType, Operation
from compiler.nnapi import OperandCode, OperationCode

Array = npt.NDArray[Any]
Number = bool | int | float

_SCALAR_CODES = {bool: OperandCode.BOOL, int: OperandCode.INT32, float: OperandCode.FLOAT32}


def quant8(*dimensions: int, scale: float = 1.0, zero_point: int = 0) -> OperandType:
    """Type of a quantised tensor; the scale is rounded to float32."""
    return OperandType(OperandCode.TENSOR_QUANT8_ASYMM, dimensions, float(np.float32(scale)), zero_point)


def int32(*dimensions: int, scale: float = 0.0) -> OperandType:
    """Type of an int32 tensor; the scale is rounded to float32."""
    return OperandType(OperandCode.TENSOR_INT32, dimensions, float(np.float32(scale)))


def float32(*dimensions: int) -> OperandType:
    """Type of a float32 tensor."""
    return OperandType(OperandCode.TENSOR_FLOAT32, dimensions)


@dataclasses.dataclass(frozen=True, slots=True)
class Omitted:
    """An optional operand that is left out."""

    type: OperandType


Given = OperandType | tuple[OperandType, npt.ArrayLike] | Number | Omitted
"""An input of an operation: a model input, a constant tensor, a constant scalar, or none."""


class OperandList:
    """Collects operands and operations; `finish` makes the graph."""

    def __init__(self) -> None:
        self._operands: list[Operand] = []
        self._operations: list[Operation] = []

    def operand(self, kind: OperandType, value: npt.ArrayLike | None = None) -> int:
        """Add an operand, constant if `value` is given; its number."""
        if value is not None:
            value = np.asarray(value).astype(kind.dtype).reshape(kind.dimensions)
        self._operands.append(Operand(kind, value=value))
        return len(self._operands) - 1

    def scalar(self, value: Number) -> int:
        """Add a constant scalar of the type that NNAPI uses for this kind of number; its number."""
        return self.operand(OperandType(_SCALAR_CODES[type(value)]), value)

    def omitted(self, kind: OperandType) -> int:
        """Add an optional operand that is left out; its number."""
        self._operands.append(Operand(kind, omitted=True))
        return len(self._operands) - 1

    def given(self, given: Given) -> int:
        """Add an input of an operation; its number."""
        if isinstance(given, OperandType):
            return self.operand(given)
        if isinstance(given, tuple):
            return self.operand(*given)
        if isinstance(given, Omitted):
            return self.omitted(given.type)
        return self.scalar(given)

    def operation(self, code: OperationCode, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Add an operation."""
        self._operations.append(Operation(code, tuple(inputs), tuple(outputs)))

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> Graph:
        """The graph with these model inputs and outputs."""
        return Graph(tuple(self._operands), tuple(self._operations), tuple(inputs), tuple(outputs), "test")


def one_operation(
    code: OperationCode,
    tensors: Sequence[tuple[OperandType, npt.ArrayLike | None]],
    scalars: Sequence[Number],
    output: OperandType,
) -> Graph:
    """A graph of one operation: tensors (None: model inputs) come first, then scalars."""
    operands = OperandList()
    numbers = [operands.operand(kind, value) for kind, value in tensors]
    variable = [number for number, (_, value) in zip(numbers, tensors, strict=True) if value is None]
    inputs = numbers + [operands.scalar(value) for value in scalars]
    result = operands.operand(output)
    operands.operation(code, inputs, [result])
    return operands.finish(variable, [result])


def operation(code: OperationCode, inputs: Sequence[Given], outputs: Sequence[OperandType]) -> Graph:
    """A graph of one operation on whatever inputs, in order."""
    operands = OperandList()
    numbers = [operands.given(given) for given in inputs]
    results = [operands.operand(kind) for kind in outputs]
    operands.operation(code, numbers, results)
    variable = [
        number for number, given in zip(numbers, inputs, strict=True) if isinstance(given, OperandType)
    ]
    return operands.finish(variable, results)
