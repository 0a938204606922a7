"""The vector unit: one instruction after the other, no overlap."""

from typing import ClassVar

from isa.instruction import Instruction
from npu_sim.events import StallReason
from npu_sim.units.shared_memories import Process
from npu_sim.units.unit import Unit


class VectorUnit(Unit):
    """Executes what works on lanes: depthwise convolution, pooling, elements, rows, tables, gathers."""

    tail_reason: ClassVar[StallReason] = StallReason.INSTRUCTION

    def _execute(self, index: int, instruction: Instruction) -> Process:
        work = self.timing.vector_work(instruction)
        start = self.env.now
        lost = yield from self.memories.serve(work)
        self.observation.executed(self.log, start, self.env.now, lost, index, work)
        self._retire_at(self.env.now, index, instruction, work)
