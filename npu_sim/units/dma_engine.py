"""A DMA channel: descriptors in order, with requests of the next one behind outstanding ones.

A channel issues a descriptor, then moves its bytes at the lowest of its own rate, window / latency, the rate
of the SRAM banks, and DRAM; the transfer retires one DRAM latency after its last byte was requested. The
channel goes on with the next descriptor meanwhile, so latency delays results, not the channel. Loads and
stores have the same latency, hence retire in order.
"""

from typing import ClassVar

from isa.instructions.dma import Transfer
from npu_sim.events import StallReason
from npu_sim.units.shared_memories import Process
from npu_sim.units.unit import Unit


class DmaChannel(Unit):
    """Executes Load and Store."""

    tail_reason: ClassVar[StallReason] = StallReason.DRAM

    def _execute(self, index: int, instruction: Transfer) -> Process:
        work = self.timing.transfer_work(instruction)
        start = self.env.now
        if work.setup_cycles:
            yield self.env.timeout(work.setup_cycles)
        lost = yield from self.memories.serve(work)
        self.observation.executed(self.log, start, self.env.now, lost, index, work)
        self._retire_at(self.env.now + work.tail_cycles, index, instruction, work)
