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
}


@dataclasses.dataclass(frozen=True, slots=True)
class OperandType:
    """Type of an operand: code, dimensions (0: unspecified), scale and zero point.

    `scale` is the float32 value NNAPI stores, held as a Python float.
    """

    code: OperandCode
    dimensions: tuple[int, ...] = ()
    scale: float = 0.0
    zero_point: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements."""
        return _NUMPY_TYPES[self.code]

    @property
    def size_bytes(self) -> int:
        """Bytes of a value of this type; 0 while a dimension is unspecified."""
        return math.prod(self.dimensions) * self.dtype.itemsize


@dataclasses.dataclass(frozen=True, slots=True)
class Operand:
    """An operand: its type, a name for people, and its value if it is constant.

    `value` has the operand's dtype and dimensions (shape () for scalars); None for variables.
    `omitted` marks an optional operand without a value.
    """

    type: OperandType
    name: str = ""
    value: npt.NDArray[np.generic] | None = None
    omitted: bool = False

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
    """A finished model. Operations stand in an order in which each follows its producers."""

    operands: tuple[Operand, ...]
    operations: tuple[Operation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    name: str = "model"
