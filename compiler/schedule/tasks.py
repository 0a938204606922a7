"""Tasks and the memory accesses that order them.

A task becomes one instruction. Tasks of one lane run in the order in which they were made; between lanes
only dependencies order them. Dependencies follow from buffers: a reader waits for the tasks that wrote the
part it reads, a writer for everyone who used the same addresses before.
"""

import dataclasses
from typing import NamedTuple

from compiler.stage import Box, Shape4
from isa.instruction import Instruction, UnitKind


class Lane(NamedTuple):
    """An in-order stream of tasks: the `number`-th unit of a kind, or one of the DMA streams below."""

    kind: UnitKind
    number: int


STREAM_LANE = Lane(UnitKind.DMA, 0)
"""Constants, and whole tensors that are loaded once: what can be fetched ahead."""
TILE_LANE = Lane(UnitKind.DMA, 1)
"""Tiles of tensors that live in DRAM."""
STORE_LANE = Lane(UnitKind.DMA, 2)
"""Stores."""


@dataclasses.dataclass(slots=True)
class Task:
    """One instruction to be. `after` holds, per lane, the last task it must wait for."""

    index: int
    lane: Lane
    instruction: Instruction
    stage: int
    after: dict[Lane, int]


class Use(NamedTuple):
    """An access to the bytes [low, high) of a buffer, and the part of the tensor it means."""

    low: int
    high: int
    box: Box | None = None
    shape: Shape4 | None = None


def _disjoint(one: Use, other: Use) -> bool:
    if one.low >= other.high or other.low >= one.high:
        return True
    if one.box is None or other.box is None or one.shape != other.shape:
        return False
    a, b = one.box, other.box
    return any(a[i] >= b[i + 1] or b[i] >= a[i + 1] for i in range(0, 8, 2))


@dataclasses.dataclass(slots=True)
class Buffer:
    """Bytes that hold one thing for one life. Uses are byte ranges from the buffer's start.

    `before` are the buffers that held these addresses earlier. The first `written_bytes` bytes are written
    (those that later tiles of the same tensor fill count with the first one).
    """

    address: int
    size_bytes: int
    before: tuple["Buffer", ...] = ()
    written_bytes: int = 0
    writes: list[tuple[Lane, int, Use]] = dataclasses.field(default_factory=list)
    reads: list[tuple[Lane, int, Use]] = dataclasses.field(default_factory=list)

    def read(self, use: Use, lane: Lane, task: int, after: dict[Lane, int]) -> None:
        """Record a task's read; add the tasks it must follow to `after`."""
        for earlier_lane, earlier, write in self.writes:
            if after.get(earlier_lane, -1) < earlier and not _disjoint(write, use):
                after[earlier_lane] = earlier
        self.reads.append((lane, task, use))

    def write(self, use: Use, lane: Lane, task: int, after: dict[Lane, int]) -> None:
        """Record a task's write; add the tasks it must follow to `after`."""
        for old in self.before:
            low, high = use.low + self.address - old.address, use.high + self.address - old.address
            for uses in (old.writes, old.reads):
                for earlier_lane, earlier, (first, end, _, _) in uses:
                    if first < high and low < end and after.get(earlier_lane, -1) < earlier:
                        after[earlier_lane] = earlier
        if use.low <= self.written_bytes:
            self.written_bytes = max(self.written_bytes, use.high)
        self.writes.append((lane, task, use))

    def followed(self) -> "tuple[Buffer, ...]":
        """What the next owner of these addresses must follow.

        The writers of a buffer that was written from end to end follow everything before it; otherwise the
        next owner has to.
        """
        return (self,) if self.written_bytes >= self.size_bytes else (self, *self.before)


class SramBuffers:
    """The buffers that last held each SRAM address."""

    def __init__(self) -> None:
        self._recent: list[Buffer] = []

    def new(self, address: int, size_bytes: int) -> Buffer:
        """A buffer at these addresses, following all that held any of them before."""
        end = address + size_bytes
        met = [b for b in self._recent if b.address < end and address < b.address + b.size_bytes]
        older = {id(b): b for last in met for b in last.followed()}
        buffer = Buffer(address, size_bytes, tuple(older.values()))
        self._recent = [b for b in self._recent if b.address < address or b.address + b.size_bytes > end]
        self._recent.append(buffer)
        return buffer
