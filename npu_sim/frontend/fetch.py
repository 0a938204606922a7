"""Instruction fetch: code is read from DRAM in blocks, a few ahead of dispatch."""

from collections.abc import Sequence

import simpy

from npu_sim.core.clock import Clock
from npu_sim.core.observation import Observation, UnitLog
from npu_sim.units.machine_timing import MachineTiming
from npu_sim.units.shared_memories import Process, SharedMemories

LANE = "fetch"


class InstructionFetch:
    """Reads the code region from its start; `available_bytes` of it have arrived.

    `fetched_bytes` counts whole bursts. Blocks compete for DRAM like any transfer; latency delays their
    arrival, not the next request. `ends` are the end offsets of the instructions, ascending.
    """

    def __init__(
        self,
        env: Clock,
        timing: MachineTiming,
        memories: SharedMemories,
        observation: Observation,
        ends: Sequence[int],
    ) -> None:
        self._env = env
        self._timing = timing
        self._memories = memories
        self._observation = observation
        self._ends = ends
        self._consumed_bytes = 0
        self._space: simpy.Event | None = None
        self._arrival: simpy.Event | None = None
        self.log = UnitLog(LANE)
        self.available_bytes = 0
        self.fetched_bytes = 0

    def run(self) -> Process:
        """Process: fetch all blocks, never more than `prefetch_blocks` ahead of dispatch."""
        frontend = self._timing.config.frontend
        block_bytes, total_bytes = frontend.fetch_block_bytes, self._ends[-1]
        first = 0
        for offset in range(0, total_bytes, block_bytes):
            while offset - self._consumed_bytes >= frontend.prefetch_blocks * block_bytes:
                self._space = self._env.event()
                yield self._space
            end = min(offset + block_bytes, total_bytes)
            while self._ends[first] <= offset:
                first += 1
            work = self._timing.fetch_work(offset, end - offset)
            start = self._env.now
            lost = yield from self._memories.serve(work)
            self._observation.executed(self.log, start, self._env.now, lost, first, work)
            self._observation.acted(self._env.now, LANE, first, work.activities)
            self.fetched_bytes += work.activities[0][1]
            self._arrive_after(work.tail_cycles, end)

    def consume(self, end: int) -> None:
        """Release the buffer of all blocks before code offset `end`."""
        block_bytes = self._timing.config.frontend.fetch_block_bytes
        consumed = end // block_bytes * block_bytes
        if consumed > self._consumed_bytes:
            self._consumed_bytes = consumed
            if self._space is not None:
                self._space.succeed()
                self._space = None

    def arrival(self) -> simpy.Event:
        """Return an event that succeeds when the next block arrives."""
        self._arrival = self._env.event()
        return self._arrival

    def _arrive_after(self, delay: int, end: int) -> None:
        def arrive(_: simpy.Event | None) -> None:
            self.available_bytes = end
            if self._arrival is not None:
                self._arrival.succeed()
                self._arrival = None

        if delay:
            self._env.timeout(delay).callbacks.append(arrive)
        else:
            arrive(None)
