"""What units compete for: SRAM ports and DRAM time."""

from collections.abc import Generator
from typing import Any

import simpy

from npu_sim.core.clock import Clock
from npu_sim.core.contention import FluidScheduler, Resource, Stream
from npu_sim.core.work import Work
from npu_sim.events import StallReason
from npu_sim.units.machine_timing import MachineTiming

Process = Generator[simpy.Event, Any, None]
Lost = dict[StallReason, int]


class SharedMemories:
    """SRAM in bytes per cycle, and DRAM in picoseconds of its time per cycle."""

    def __init__(self, env: Clock, timing: MachineTiming) -> None:
        self._sram = Resource(StallReason.SRAM.value, float(timing.config.sram.bytes_per_cycle))
        self._dram = Resource(StallReason.DRAM.value, timing.cycle_ps)
        self._window = timing.config.sram.buffer_cycles
        self._scheduler = FluidScheduler(env, (self._sram, self._dram))

    def serve(self, work: Work) -> Generator[simpy.Event, Any, Lost]:
        """Process: let the data of `work` flow; return the cycles lost to each resource that others used."""
        if not work.cycles:
            return {}
        demands = {}
        if work.sram_bytes:
            demands[self._sram] = work.sram_bytes / work.cycles
        if work.dram_ps:
            demands[self._dram] = work.dram_ps / work.cycles
        stream = Stream(work=work.cycles, rate=1.0, demands=demands, window=self._window)
        completion = yield self._scheduler.start(stream)
        return {StallReason(name): cycles for name, cycles in completion.lost_cycles.items() if cycles}
