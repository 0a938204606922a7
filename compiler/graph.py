"""The graph: what an NNAPI model says, as plain immutable data."""

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.nnapi import OperandCode, OperationCode

_NUMPY_TYPES: dict[OperandCode, np.dtype[Any]] = {
    OperandCode.FLOAT32: np.dtype(np.float32),
    OperandCode.INT32: np.dtype(np.int32),
    OperandCode.UINT32: np.dtype(np.uint32),
    OperandCode.TENSOR_FLOAT32: np.dtype(np.float32),
    OperandCode.TENSOR_INT32: np.dtype(np.int32),
    OperandCode.TENSOR_QUANT8_ASYMM: np.dtype(np.uint8),
    OperandCode.BOOL: np.dtype(np.bool_),
    OperandCode.TENSOR_QUANT16_SYMM: np.dtype(np.int16),
    OperandCode.TENSOR_FLOAT16: np.dtype(np.float16),
    OperandCode.TENSOR_BOOL8: np.dtype(np.bool_),
    OperandCode.FLOAT16: np.dtype(np.float16),
    OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL: np.dtype(np.int8),
    OperandCode.TENSOR_QUANT16_ASYMM: np.dtype(np.uint16),
    OperandCode.TENSOR_QUANT8_SYMM: np.dtype(np.int8),
    OperandCode.TENSOR_QUANT8_ASYMM_SIGNED: np.dtype(np.int8),
}
_BYTE = np.dtype(np.uint8)
"""Elements of OEM's and extensions' operands, whose meaning only their maker knows."""


@dataclasses.dataclass(frozen=True, slots=True)
class ChannelQuantization:
    """Scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL: one per index of dimension `axis`."""

    axis: int
    scales: tuple[float, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class OperandType:
    """Type of an operand: code, dimensions (0: unspecified), scale and zero point.

    `scale` is the float32 value NNAPI stores, held as a Python float.
    """

    code: OperandCode
    dimensions: tuple[int, ...] = ()
    scale: float = 0.0
    zero_point: int = 0
    channels: ChannelQuantization | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements."""
        return _NUMPY_TYPES.get(self.code, _BYTE)

    @property
    def size_bytes(self) -> int:
        """Bytes of a value of this type; 0 while a dimension is unspecified."""
        return math.prod(self.dimensions) * self.dtype.itemsize


@dataclasses.dataclass(frozen=True, slots=True)
class Operand:
    """An operand: its type, a name for people, and its value if it is constant.

    `value` has the operand's dtype and dimensions (shape () for scalars); None for variables. `omitted` marks
    an optional operand without a value. `body` is the graph that a MODEL operand stands for; `extension_data`
    is what an extension's operand carries beside its type.
    """

    type: OperandType
    name: str = ""
    value: npt.NDArray[np.generic] | None = None
    omitted: bool = False
    body: "Graph | None" = None
    extension_data: bytes = b""

    @property
    def is_constant(self) -> bool:
        """True if the operand's value is part of the model."""
        return self.value is not None


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """One operation; inputs and outputs are operand numbers. `name` is for people."""

    code: OperationCode
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    name: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Graph:
    """A finished model, or a part of one. Operations stand in an order in which each follows its producers.

    `operation_numbers` are the places of a part's operations in the whole model, for messages; empty if they
    are the graph's own.
    """

    operands: tuple[Operand, ...]
    operations: tuple[Operation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    name: str = "model"
    operation_numbers: tuple[int, ...] = ()

    def label(self, index: int) -> str:
        """How messages name an operation: its code, its place in the model and its name."""
        operation = self.operations[index]
        number = self.operation_numbers[index] if self.operation_numbers else index
        name = f" “{operation.name}”" if operation.name else ""
        return f"{operation.code.name} (operation {number}{name})"
