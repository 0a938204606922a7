"""The bounded in-order queue between dispatch and one unit."""

from collections import deque
from typing import NamedTuple

import simpy

from isa.instruction import Instruction
from npu_sim.core.clock import Clock


class Entry(NamedTuple):
    """A dispatched instruction and its position in the program; instruction None ends the queue."""

    position: int
    instruction: Instruction | None


class InstructionQueue:
    """A queue with one writer and one reader, each of which may wait for the other."""

    __slots__ = ("_depth", "_entries", "_env", "_reader", "_writer")

    def __init__(self, env: Clock, depth: int) -> None:
        self._env = env
        self._depth = depth
        self._entries: deque[Entry] = deque()
        self._reader: simpy.Event | None = None
        self._writer: simpy.Event | None = None

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_full(self) -> bool:
        """True if a writer must wait for space."""
        return len(self._entries) >= self._depth

    def push(self, entry: Entry) -> None:
        """Append an entry; the writer has made sure that there is space."""
        self._entries.append(entry)
        if self._reader is not None:
            self._reader.succeed()
            self._reader = None

    def pop(self) -> Entry:
        """Remove the oldest entry; the reader has made sure that there is one."""
        entry = self._entries.popleft()
        if self._writer is not None:
            self._writer.succeed()
            self._writer = None
        return entry

    def filled(self) -> simpy.Event:
        """Return an event that succeeds at the next push."""
        self._reader = self._env.event()
        return self._reader

    def drained(self) -> simpy.Event:
        """Return an event that succeeds at the next pop."""
        self._writer = self._env.event()
        return self._writer
