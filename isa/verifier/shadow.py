"""The exact shadow of one memory: for every byte, who wrote it last and who has read it since.

Each byte holds the number of a history; bytes with the same past share one. An access moves the bytes it
names, and no others, from their histories to new ones. So ordering is checked once per distinct history
while bytes move in whole-array operations: linear in the bytes accessed.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from isa.accesses import Access
from isa.verifier.ordering import Clock

Cells = npt.NDArray[np.int32]


class Event(NamedTuple):
    """An instruction: the number of its queue and its position in the program."""

    queue: int
    position: int

    def is_known_to(self, clock: Clock) -> bool:
        """Whether a queue with this clock starts only after the event."""
        return self.position <= clock[self.queue]


class History(NamedTuple):
    """The last writer of a byte and its readers since; readers that another reader follows are left out."""

    writer: Event | None
    readers: tuple[Event, ...]


class Conflict(Exception):  # noqa: N818  (an answer of the shadow, turned into an error by its caller)
    """An access that nothing orders behind an earlier one, or a read of a byte that nothing wrote."""

    def __init__(self, byte: int, earlier: Event | None, earlier_writes: bool) -> None:
        super().__init__(byte, earlier, earlier_writes)
        self.byte = byte
        self.earlier = earlier
        self.earlier_writes = earlier_writes


class Shadow:
    """The shadow of a memory of `size_bytes` bytes that nothing has written."""

    def __init__(self, size_bytes: int) -> None:
        self._cells: Cells = np.zeros(size_bytes, dtype=np.int32)
        self._histories = [History(None, ())]

    def read(self, access: Access, reader: Event, clock: Clock) -> None:
        """Record a read; raise Conflict unless every byte is written and its last write is ordered before."""

        def after(number: int) -> int:
            writer, readers = self._histories[number]
            if writer is None or not writer.is_known_to(clock):
                raise self._conflict(access, number, writer, earlier_writes=True)
            concurrent = tuple(r for r in readers if not r.is_known_to(clock))
            return self._add(History(writer, (*concurrent, reader)))

        self._move(access, after)

    def write(self, access: Access, writer: Event, clock: Clock) -> None:
        """Record a write; raise Conflict unless the last write and all reads since are ordered before."""
        written = self._add(History(writer, ()))

        def after(number: int) -> int:
            before = self._histories[number]
            if before.writer is not None and not before.writer.is_known_to(clock):
                raise self._conflict(access, number, before.writer, earlier_writes=True)
            for reader in before.readers:
                if not reader.is_known_to(clock):
                    raise self._conflict(access, number, reader, earlier_writes=False)
            return written

        self._move(access, after)

    def first_unwritten(self, access: Access) -> int | None:
        """Address of the first byte of a contiguous access that nothing has written, or None."""
        cells = self._cells[access.address : access.end]
        return None if cells.all() else access.address + int(np.argmin(cells != 0))

    def _add(self, history: History) -> int:
        self._histories.append(history)
        return len(self._histories) - 1

    def _move(self, access: Access, after: Callable[[int], int]) -> None:
        """Replace every history number n in the accessed bytes by after(n), called once per distinct n."""
        cells = self._view(access)
        flat = cells.reshape(-1)
        changes = np.flatnonzero(flat[1:] != flat[:-1])
        if not changes.size:
            cells[...] = after(int(flat[0]))
            return
        starts = np.concatenate(([0], changes + 1))
        distinct, which = np.unique(flat[starts], return_inverse=True)
        replaced = np.array([after(number) for number in distinct.tolist()], dtype=np.int32)
        lengths = np.diff(starts, append=flat.size)
        cells[...] = np.repeat(replaced[which], lengths).reshape(cells.shape)

    def _view(self, access: Access) -> Cells:
        """Return the accessed cells, outermost dimension first, the contiguous run last."""
        if not access.dimensions:
            return self._cells[access.address : access.address + access.run_bytes]
        item = self._cells.itemsize
        outer = access.dimensions[::-1]
        return np.ndarray(
            (*(d.repeats for d in outer), access.run_bytes),
            np.int32,
            buffer=self._cells,
            offset=access.address * item,
            strides=(*(d.stride_bytes * item for d in outer), item),
        )

    def _conflict(
        self, access: Access, number: int, earlier: Event | None, *, earlier_writes: bool
    ) -> Conflict:
        """Find the first accessed byte with this history."""
        cells = self._view(access)
        place = np.unravel_index(int(np.argmax(cells == number)), cells.shape)
        strides = (*(d.stride_bytes for d in access.dimensions[::-1]), 1)
        byte = access.address + sum(int(p) * stride for p, stride in zip(place, strides, strict=True))
        return Conflict(byte, earlier, earlier_writes)
