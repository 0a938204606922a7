"""Memory that a device allocates for the roles of a descriptor (level 30)."""

import enum
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from runtime.errors import BadDataError, OpFailedError
from runtime.memory import Memory

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from runtime.compilation import Compilation


class Direction(enum.StrEnum):
    """Which side of an execution a memory is on."""

    INPUT = "input"
    OUTPUT = "output"


class MemoryRole(NamedTuple):
    """What a memory may be: an input or output, by position, of a compilation's executions."""

    compilation: "Compilation"
    direction: Direction
    position: int


class DeviceMemory(Memory):
    """Bytes for one operand, to be used in its roles only; unreadable until a run or a copy has written them.

    Executions use all of it: offset and length are 0.
    """

    def __init__(self, type_: OperandType, roles: frozenset[MemoryRole]) -> None:
        super().__init__(bytearray(type_.size_bytes))
        self.type = type_
        self._roles = roles
        self._is_initialised = False
        self._lock = threading.Lock()

    @property
    def is_initialised(self) -> bool:
        """True while the memory holds what a successful run or copy wrote."""
        return self._is_initialised

    def check_role(self, role: MemoryRole, offset_bytes: int, length_bytes: int) -> None:
        """Refuse a use that is no role of this memory, or does not use all of it (BadDataError)."""
        if (offset_bytes, length_bytes) != (0, 0):
            raise BadDataError(
                f"offset is {offset_bytes} and length {length_bytes}, must be 0 and 0 for memory made"
                " from a descriptor"
            )
        if role not in self._roles:
            raise BadDataError(
                f"the memory has no role as {role.direction} {role.position} of this compilation"
            )

    def read(self, offset_bytes: int, length_bytes: int) -> memoryview:
        """See `Memory.read`; OpFailedError if nothing has been written."""
        with self._lock:
            if not self._is_initialised:
                raise OpFailedError("the memory was not initialised by a successful run or copy")
            return super().read(offset_bytes, length_bytes)

    def write(self, offset_bytes: int, data: "ReadableBuffer") -> None:
        """See `Memory.write`; the memory is initialised then."""
        with self._lock:
            super().write(offset_bytes, data)
            self._is_initialised = True

    def invalidate(self) -> None:
        """Forget the content: a run or a copy that should have written it failed."""
        with self._lock:
            self._is_initialised = False

    def array(self, type_: OperandType, offset_bytes: int, length_bytes: int) -> npt.NDArray[np.generic]:
        """Never: memory of a device cannot hold a constant (BadDataError)."""
        raise BadDataError("memory that was made from a descriptor cannot hold a constant")


def copy_memory(source: Memory, destination: Memory) -> None:
    """ANeuralNetworksMemory_copy: make the bytes of `destination` those of `source`.

    Raises BadDataError if `source` is not initialised, or size or dimensions differ, and what reading and
    writing raise. A failed copy leaves a device's memory uninitialised.
    """
    if source is destination:
        return
    try:
        _check_copy(source, destination)
        destination.write(0, source.read(0, source.size_bytes))
    except Exception:
        if isinstance(destination, DeviceMemory):
            destination.invalidate()
        raise


def _check_copy(source: Memory, destination: Memory) -> None:
    if isinstance(source, DeviceMemory):
        if not source.is_initialised:
            raise BadDataError("Memory.copy: the source was not initialised by a successful run or copy")
        if isinstance(destination, DeviceMemory) and source.type.dimensions != destination.type.dimensions:
            raise BadDataError(
                f"Memory.copy: the source has dimensions {list(source.type.dimensions)}, the destination"
                f" {list(destination.type.dimensions)}; they must be equal"
            )
    if source.size_bytes != destination.size_bytes:
        raise BadDataError(
            f"Memory.copy: the source has {source.size_bytes} bytes, the destination"
            f" {destination.size_bytes}; they must have equal size"
        )
