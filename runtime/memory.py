"""ANeuralNetworksMemory: bytes that models and executions refer to instead of copying them."""

import mmap
import os
import stat
import weakref
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from runtime.errors import BadDataError, UnexpectedNullError, UnmappableError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MAX_BYTES = 2**63 - 1
"""No size or offset is larger: the system counts bytes of files in signed 64-bit numbers."""


class Memory:
    """A region of memory that stays the caller's, who must not change what a model refers to.

    `buffer` exposes contiguous bytes: bytes, a bytearray, an array, a mapped file.
    """

    def __init__(self, buffer: "ReadableBuffer") -> None:
        try:
            self._bytes = memoryview(buffer).cast("B")
        except (TypeError, ValueError) as error:
            raise BadDataError(f"Memory: the buffer must expose contiguous bytes: {error}") from error

    @classmethod
    def from_file(cls, descriptor: int, size_bytes: int, offset_bytes: int = 0) -> "Memory":
        """Map part of an open file for reading, from a multiple of the system's page size on.

        Raises BadDataError if the file or the range cannot be mapped.
        """
        return FileMemory(size_bytes, mmap.PROT_READ, descriptor, offset_bytes)

    @classmethod
    def create_from_fd(
        cls, size_bytes: int, protect: int, descriptor: int, offset_bytes: int = 0
    ) -> "Memory":
        """Map part of an open file with protection PROT_*; the descriptor may be closed afterwards.

        Raises BadDataError if the file or the range cannot be mapped, UnexpectedNullError if the descriptor
        cannot be duplicated, UnmappableError if the file forbids the protection.
        """
        return FileMemory(size_bytes, protect, descriptor, offset_bytes)

    @property
    def size_bytes(self) -> int:
        """Size of the region."""
        return len(self._bytes)

    def check_range(self, offset_bytes: int, length_bytes: int) -> None:
        """Refuse a range that is empty or not within the region (BadDataError)."""
        if not 0 <= offset_bytes <= offset_bytes + length_bytes <= self.size_bytes:
            raise BadDataError(
                f"offset {offset_bytes} and length {length_bytes} must lie within the memory's"
                f" {self.size_bytes} bytes"
            )
        if length_bytes == 0:
            raise BadDataError("length is 0 bytes, must not be 0")

    def read(self, offset_bytes: int, length_bytes: int) -> memoryview:
        """A read-only view of a range; UnmappableError if it cannot be read."""
        return self._bytes[offset_bytes : offset_bytes + length_bytes].toreadonly()

    def write(self, offset_bytes: int, data: "ReadableBuffer") -> None:
        """Change the bytes of a range; UnmappableError if it cannot be written."""
        if self._bytes.readonly:
            raise UnmappableError("the memory is read-only")
        view = memoryview(data).cast("B")
        self._bytes[offset_bytes : offset_bytes + len(view)] = view

    def array(self, type_: OperandType, offset_bytes: int, length_bytes: int) -> npt.NDArray[np.generic]:
        """A read-only array of an operand's type that lies in the region.

        Raises BadDataError if the range is not within the region or not of the operand's size,
        UnmappableError if it cannot be read.
        """
        self.check_range(offset_bytes, length_bytes)
        if length_bytes != type_.size_bytes:
            raise BadDataError(
                f"length is {length_bytes} bytes, must be {type_.size_bytes} for {type_.code.name}"
                f" {list(type_.dimensions)}"
            )
        return np.frombuffer(self.read(offset_bytes, length_bytes), type_.dtype).reshape(type_.dimensions)


class FileMemory(Memory):
    """Part of a file, mapped; see `Memory.create_from_fd`."""

    def __init__(self, size_bytes: int, protect: int, descriptor: int, offset_bytes: int) -> None:
        place = f"Memory.create_from_fd: {size_bytes} bytes at offset {offset_bytes} of file {descriptor}"
        if descriptor < 0 or not 0 < size_bytes <= MAX_BYTES or not 0 <= offset_bytes <= MAX_BYTES:
            raise BadDataError(f"{place} cannot be mapped: no number may be negative, and size not 0")
        if protect & ~(mmap.PROT_READ | mmap.PROT_WRITE):
            raise BadDataError(f"{place}: protection is {protect}, must be of PROT_READ and PROT_WRITE")
        try:
            self._descriptor = os.dup(descriptor)
        except OSError as error:
            raise UnexpectedNullError(f"{place}: the file cannot be duplicated: {error.strerror}") from error
        self._closing = weakref.finalize(self, os.close, self._descriptor)
        self._protect = protect
        self._end_bytes = offset_bytes + size_bytes
        try:
            # The mapping itself is readable, so that looking at it never ends the process.
            mapped = mmap.mmap(
                self._descriptor,
                size_bytes,
                flags=mmap.MAP_SHARED,
                prot=protect | mmap.PROT_READ,
                offset=offset_bytes,
            )
        except PermissionError as error:
            raise UnmappableError(f"{place} cannot be mapped with protection {protect}: {error}") from error
        except (OSError, ValueError, OverflowError) as error:
            raise BadDataError(f"{place} cannot be mapped: {error}") from error
        super().__init__(mapped)

    def read(self, offset_bytes: int, length_bytes: int) -> memoryview:
        """See `Memory.read`; a file that has become shorter cannot be read either."""
        self._check_access(mmap.PROT_READ, "read")
        return super().read(offset_bytes, length_bytes)

    def write(self, offset_bytes: int, data: "ReadableBuffer") -> None:
        """See `Memory.write`; a file that has become shorter cannot be written either."""
        self._check_access(mmap.PROT_WRITE, "written")
        super().write(offset_bytes, data)

    def _check_access(self, needed: int, verb: str) -> None:
        if not self._protect & needed:
            raise UnmappableError(f"the memory has protection {self._protect}, it cannot be {verb}")
        status = os.fstat(self._descriptor)
        # Beyond the end of a file the mapping exists, but touching it would end the process.
        if stat.S_ISREG(status.st_mode) and status.st_size < self._end_bytes:
            raise UnmappableError(
                f"the memory's file has {status.st_size} bytes now, the mapping ends at {self._end_bytes}"
            )
