"""The exact shadow of one memory: for every byte, who wrote it last and who has read it since.

Each byte has a cell with the number of its history; bytes with the same past share one. An access moves
the bytes it names, and no others, from their histories to new ones. So ordering is checked once per
distinct history while cells move in whole-array operations: linear in the bytes accessed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from isa.accesses import Access
from isa.verifier.ordering import Clock

Cells = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]


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
        self._place = np.zeros(1, dtype=np.int64)

    def read(self, footprint: Access, reader: Event, clock: Clock) -> None:
        """Record a read; raise Conflict unless every byte is written and its last write is ordered before."""
        view = self._view(footprint)
        flat = view.reshape(-1)
        changes = _changes(flat)
        if not changes.size:
            view.fill(self._after_read(int(flat[0]), footprint, reader, clock))
            return
        lasts = np.concatenate((changes, (flat.size - 1,)))
        numbers = flat[lasts]
        winner = self._winners(numbers)
        is_winner = winner == np.arange(numbers.size)
        moved = np.empty_like(numbers)
        moved[is_winner] = [
            self._after_read(number, footprint, reader, clock) for number in numbers[is_winner].tolist()
        ]
        lengths = lasts.copy()
        lengths[1:] -= changes
        lengths[0] += 1
        view[...] = np.repeat(moved[winner], lengths).reshape(view.shape)

    def write(self, footprint: Access, writer: Event, clock: Clock) -> None:
        """Record a write; raise Conflict unless the last write and all reads since are ordered before."""
        view = self._view(footprint)
        flat = view.reshape(-1)
        changes = _changes(flat)
        numbers = np.concatenate((flat[:1], flat[changes + 1]))
        if numbers.size > 1:
            numbers = numbers[self._winners(numbers) == np.arange(numbers.size)]
        for number in numbers.tolist():
            before = self._histories[number]
            if before.writer is not None and not before.writer.is_known_to(clock):
                raise self._conflict(footprint, number, before.writer, earlier_writes=True)
            for reader in before.readers:
                if not reader.is_known_to(clock):
                    raise self._conflict(footprint, number, reader, earlier_writes=False)
        view.fill(self._add(History(writer, ())))

    def first_unwritten(self, access: Access) -> int | None:
        """Return the first byte of a contiguous access that nothing has written, or None."""
        cells = self._cells[access.address : access.end]
        return None if cells.all() else access.address + int(np.argmin(cells != 0))

    def _after_read(self, number: int, footprint: Access, reader: Event, clock: Clock) -> int:
        """Check a read of bytes with this history; return the number of the new one."""
        writer, readers = self._histories[number]
        if writer is None or not writer.is_known_to(clock):
            raise self._conflict(footprint, number, writer, earlier_writes=True)
        concurrent = [r for r in readers if not r.is_known_to(clock)]
        return self._add(History(writer, (*concurrent, reader)))

    def _add(self, history: History) -> int:
        self._histories.append(history)
        return len(self._histories) - 1

    def _winners(self, numbers: Cells) -> Indices:
        """For each number the position of one representative among all that are equal to it."""
        if self._place.size < len(self._histories):
            self._place = np.zeros(2 * len(self._histories), dtype=np.int64)
        self._place[numbers] = np.arange(numbers.size)
        return self._place[numbers]

    def _view(self, footprint: Access) -> Cells:
        """Return the footprint's cells, outermost dimension first, the contiguous run last."""
        if not footprint.dimensions:
            return self._cells[footprint.address : footprint.address + footprint.run_bytes]
        item = self._cells.itemsize
        outer = footprint.dimensions[::-1]
        return np.ndarray(
            (*(d.repeats for d in outer), footprint.run_bytes),
            np.int32,
            buffer=self._cells,
            offset=footprint.address * item,
            strides=(*(d.stride_bytes * item for d in outer), item),
        )

    def _conflict(
        self, footprint: Access, number: int, earlier: Event | None, *, earlier_writes: bool
    ) -> Conflict:
        """Find the first byte of the footprint with this history."""
        view = self._view(footprint)
        place = np.unravel_index(int(np.argmax(view == number)), view.shape)
        strides = (*(d.stride_bytes for d in footprint.dimensions[::-1]), 1)
        byte = footprint.address + sum(int(p) * stride for p, stride in zip(place, strides, strict=True))
        return Conflict(byte, earlier, earlier_writes)


def _changes(flat: Cells) -> Indices:
    """Return the positions whose next cell differs."""
    changes: Indices = (flat[1:] != flat[:-1]).nonzero()[0]
    return changes
