"""What an execution's inputs are read from and its outputs are written to."""

import dataclasses
import math
from typing import Protocol

import numpy as np

from compiler.graph import OperandType
from compiler.specialise import fits, is_specified
from runtime.device import Array
from runtime.device_memory import DeviceMemory
from runtime.errors import BadDataError, OutputInsufficientSizeError
from runtime.memory import Memory


class Store(Protocol):
    """Where the value of an input or an output lies."""

    def check(self, type_: OperandType) -> None:
        """Refuse a store that a value of the type, as far as it is known, does not fit (BadDataError)."""
        ...

    def check_room(self, type_: OperandType) -> None:
        """Refuse a store that has too little room (OutputInsufficientSizeError) or another shape."""
        ...

    def read(self, type_: OperandType) -> Array:
        """The value, as a contiguous array of the type's dtype and dimensions."""
        ...

    def write(self, value: Array) -> None:
        """Put an output's value there; `check_room` has passed."""
        ...

    def fail(self) -> None:
        """The run that should have written an output failed."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """An input or output of an execution: its type as far as it is known, and its store; None: left out."""

    type: OperandType
    store: Store | None


@dataclasses.dataclass(frozen=True, slots=True)
class ArrayStore:
    """A NumPy array."""

    array: Array

    def check(self, type_: OperandType) -> None:
        """See `Store`."""
        if self.array.dtype != type_.dtype:
            raise BadDataError(f"the array has dtype {self.array.dtype}, must have {type_.dtype}")
        if not fits(self.array.shape, type_):
            raise BadDataError(
                f"the array has shape {list(self.array.shape)}, must have {list(type_.dimensions)}"
            )

    def check_room(self, type_: OperandType) -> None:
        """See `Store`."""
        if self.array.shape == type_.dimensions:
            return
        _check_bytes(self.array.nbytes, type_)
        raise BadDataError(
            f"the array has shape {list(self.array.shape)}, must have {list(type_.dimensions)}"
        )

    def read(self, type_: OperandType) -> Array:
        """See `Store`."""
        return np.ascontiguousarray(self.array)

    def write(self, value: Array) -> None:
        """See `Store`."""
        self.array[...] = value

    def fail(self) -> None:
        """An array keeps what it has."""


@dataclasses.dataclass(frozen=True, slots=True)
class BytesStore:
    """A range of a memory."""

    memory: Memory
    offset_bytes: int
    length_bytes: int

    def check(self, type_: OperandType) -> None:
        """The length is exact where the size is known; an output of unknown size may have any room."""
        if is_specified(type_) and self.length_bytes != type_.size_bytes:
            raise BadDataError(
                f"the buffer has {self.length_bytes} bytes, must have {type_.size_bytes} for"
                f" {type_.code.name} {list(type_.dimensions)}"
            )

    def check_room(self, type_: OperandType) -> None:
        """See `Store`."""
        _check_bytes(self.length_bytes, type_)

    def read(self, type_: OperandType) -> Array:
        """A copy: the caller may change the bytes as soon as the run has started."""
        data = self.memory.read(self.offset_bytes, self.length_bytes)
        return np.frombuffer(data, type_.dtype).reshape(type_.dimensions).copy()

    def write(self, value: Array) -> None:
        """See `Store`."""
        self.memory.write(self.offset_bytes, value.tobytes())

    def fail(self) -> None:
        """See `Store`."""
        if isinstance(self.memory, DeviceMemory):
            self.memory.invalidate()


def _check_bytes(room_bytes: int, type_: OperandType) -> None:
    needed = math.prod(type_.dimensions) * type_.dtype.itemsize
    if room_bytes < needed:
        raise OutputInsufficientSizeError(
            f"the output has room for {room_bytes} bytes, needs {needed} for {list(type_.dimensions)}"
        )
