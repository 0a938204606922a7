"""SRAM over time: who occupies which addresses during which steps.

Time is the compiler's logical step count. Blocks never overlap in address and time together. A new block
is placed where the space becomes free earliest, so that its load can be issued as far ahead of its use
as SRAM allows: weights stream through whatever the activations leave free, across layer borders.
"""

import dataclasses

import numpy as np

ALIGNMENT_BYTES = 16
_GROWTH = 256


def align(value: int, alignment: int = ALIGNMENT_BYTES) -> int:
    """`value` rounded up to a multiple of `alignment`."""
    return -(-value // alignment) * alignment


@dataclasses.dataclass(frozen=True, slots=True)
class Placement:
    """Where a block lies, and from which step on the space is free for it."""

    address: int
    free_from: int


class SramMap:
    """Blocks of one SRAM. Times are inclusive steps; sizes are rounded up to the alignment."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes // ALIGNMENT_BYTES * ALIGNMENT_BYTES
        self._blocks = np.zeros((4, _GROWTH), np.int64)  # rows: start, end (addresses), birth, death
        self._count = 0

    def add(self, address: int, size_bytes: int, birth: int, death: int) -> None:
        """Record a block whose place is already decided."""
        if self._count == self._blocks.shape[1]:
            self._blocks = np.concatenate([self._blocks, np.zeros_like(self._blocks)], axis=1)
        self._blocks[:, self._count] = (address, address + align(size_bytes), birth, death)
        self._count += 1

    def forget(self, before: int) -> None:
        """Drop the blocks that died before a step that no later search reaches back to."""
        alive = self._blocks[:, : self._count]
        alive = alive[:, alive[3] >= before]
        self._count = alive.shape[1]
        self._blocks[:, : self._count] = alive

    def find(self, size_bytes: int, earliest: int, use: int, death: int) -> Placement | None:
        """Find space from some step in [earliest, use] until `death`.

        Returns the place that is free earliest (then the lowest address), or None if none is free by
        step `use`.
        """
        size = align(size_bytes)
        blocks = self._blocks[:, : self._count]
        start, end, _, dies = blocks[:, (blocks[3] >= earliest) & (blocks[2] <= death)]
        places = np.concatenate([[0], end, start - size])
        places = places[(places >= 0) & (places <= self.capacity_bytes - size)]
        if not places.size:
            return None
        collides = (start < places[:, None] + size) & (end > places[:, None])
        free_from = np.where(collides, dies + 1, earliest).max(axis=1, initial=earliest)
        best = np.lexsort((places, free_from))[0]
        if free_from[best] > use:
            return None
        return Placement(int(places[best]), int(free_from[best]))

    def place(self, size_bytes: int, earliest: int, use: int, death: int) -> Placement | None:
        """`find`, and record the block if there is room."""
        found = self.find(size_bytes, earliest, use, death)
        if found is not None:
            self.add(found.address, size_bytes, found.free_from, death)
        return found

    def mark(self) -> int:
        """A point to which `rollback` can return."""
        return self._count

    def rollback(self, mark: int) -> None:
        """Forget the blocks recorded since `mark`."""
        self._count = mark
