"""The matrix unit: an array, two halves of accumulators, and an output stage behind it.

The array may start an instruction while the output stage drains the one before, as long as no more than the
last group of sums of that one is left: one half of the accumulators drains while the other fills. An
instruction retires when its last output has left the output stage.
"""

from typing import ClassVar

from isa.instructions.matrix import Convolve
from npu_sim.events import StallReason
from npu_sim.units.shared_memories import Process
from npu_sim.units.unit import Unit


class MatrixUnit(Unit):
    """Executes Convolve."""

    tail_reason: ClassVar[StallReason] = StallReason.OUTPUT_STAGE

    _drained_at = 0
    _last_output_cycles = 0

    def _execute(self, index: int, instruction: Convolve) -> Process:
        work = self.timing.matrix_work(instruction)
        env = self.env
        half_free = self._drained_at - self._last_output_cycles
        if half_free > env.now:
            waited_from = env.now
            yield env.timeout(half_free - env.now)
            self.observation.stalled(self.log, waited_from, env.now, StallReason.OUTPUT_STAGE)
        start = env.now
        lost = yield from self.memories.serve(work)
        self.observation.executed(self.log, start, env.now, lost, index, work)
        retirement = env.now
        if instruction.finish:
            self._drained_at = max(env.now + work.tail_cycles, self._drained_at + work.output_cycles)
            self._last_output_cycles = work.last_output_cycles
            retirement = self._drained_at
        self._retire_at(max(retirement, self.last_retirement), index, instruction, work)
