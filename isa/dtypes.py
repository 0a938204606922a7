"""Operand type codes of the instruction set."""

import enum
from typing import Any

import numpy as np


class DataType(enum.IntEnum):
    """Element types an operand field can name; the value is the encoded code."""

    U8 = 0
    S8 = 1
    S16 = 2
    FP16 = 3
    FP32 = 4
    S32 = 5

    @property
    def size_bytes(self) -> int:
        """Bytes of one element."""
        return _SIZES[self]

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype with the same bytes (little endian)."""
        return _NUMPY[self]


_NUMPY: dict[DataType, np.dtype[Any]] = {
    DataType.U8: np.dtype("u1"),
    DataType.S8: np.dtype("i1"),
    DataType.S16: np.dtype("<i2"),
    DataType.FP16: np.dtype("<f2"),
    DataType.FP32: np.dtype("<f4"),
    DataType.S32: np.dtype("<i4"),
}
_SIZES: dict[DataType, int] = {code: dtype.itemsize for code, dtype in _NUMPY.items()}


class Rounding(enum.IntEnum):
    """How a requantisation rounds.

    DOUBLE is the two-step rule of NNAPI's quant8 operations (SRDHM, then a rounding shift);
    SINGLE rounds once, as newer runtimes do.
    """

    DOUBLE = 0
    SINGLE = 1


class Region(enum.IntEnum):
    """DRAM regions. Each has a base register; addresses in instructions are region + offset."""

    CODE = 0
    CONSTANTS = 1
    INPUT = 2
    OUTPUT = 3
    SCRATCH = 4
