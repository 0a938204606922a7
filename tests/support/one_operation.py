"""Graphs of one operation or a few, built operand by operand."""

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
