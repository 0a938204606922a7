"""What all units share: take instructions in order, synchronise, execute, retire, account for every cycle."""

import abc
from typing import Any, ClassVar

import simpy

from isa.instruction import Instruction, Queue
from isa.instructions.control import Signal, Wait
from npu_sim.core.clock import Clock
from npu_sim.core.instruction_queue import InstructionQueue
from npu_sim.core.observation import Observation, UnitLog
from npu_sim.core.semaphore import Semaphore
from npu_sim.core.work import Work
from npu_sim.errors import InstructionError, MachineError
from npu_sim.events import StallReason
from npu_sim.functional.executor import InstructionExecutor
from npu_sim.units.machine_timing import MachineTiming
from npu_sim.units.shared_memories import Process, SharedMemories


class Unit(abc.ABC):
    """One execution unit with its queue; subclasses say how an instruction is executed.

    The run is over for a unit when it takes the end marker; `last_retirement` is the cycle in which the last
    instruction's results are visible. `tail_reason` names what the unit waits for when only results of
    executed instructions are outstanding.
    """

    tail_reason: ClassVar[StallReason]

    def __init__(
        self,
        env: Clock,
        place: Queue,
        queue: InstructionQueue,
        timing: MachineTiming,
        memories: SharedMemories,
        semaphores: list[Semaphore],
        executor: InstructionExecutor,
        observation: Observation,
    ) -> None:
        self.env = env
        self.place = place
        self.queue = queue
        self.timing = timing
        self.memories = memories
        self.observation = observation
        self.log = UnitLog(str(place))
        self.is_finished = False
        self.last_retirement = 0
        self._semaphores = semaphores
        self._executor = executor

    def run(self) -> Process:
        """Process: execute the queue until the end marker."""
        env, queue = self.env, self.queue
        while True:
            idle_since = env.now
            if not len(queue):
                yield queue.filled()
            entry = queue.pop()
            instruction = entry.instruction
            if instruction is None:
                yield from self._finish(idle_since)
                return
            self._account_gap(idle_since)
            if isinstance(instruction, Wait):
                yield from self._wait(instruction)
            elif isinstance(instruction, Signal):
                self._signal(self._semaphores[instruction.semaphore])
            else:
                yield from self._execute(entry.position, instruction)

    @abc.abstractmethod
    def _execute(self, index: int, instruction: Any) -> Process:
        """Process: occupy the unit with one instruction and schedule its retirement."""

    def _retire_at(self, cycle: int, index: int, instruction: Instruction, work: Work) -> None:
        """Apply and report an instruction at a cycle that is not before those of its predecessors."""
        self.last_retirement = cycle

        def retire(_: simpy.Event | None) -> None:
            try:
                self._executor.execute(instruction, self.place.index)
            except MachineError as error:
                raise InstructionError(str(error), index) from error
            self.observation.acted(cycle, self.log.name, index, work.activities)
            self.observation.retire(cycle, self.log, index)

        self._call_at(cycle, retire)

    def _wait(self, instruction: Wait) -> Process:
        semaphore = self._semaphores[instruction.semaphore]
        if semaphore.count >= instruction.count:
            return
        start = self.env.now
        source = yield semaphore.wait(self.env, self.log.name, instruction.count)
        self.observation.stalled(self.log, start, self.env.now, StallReason.SEMAPHORE)
        self.observation.released(
            self.env.now, source, self.log.name, instruction.semaphore, instruction.count
        )

    def _signal(self, semaphore: Semaphore) -> None:
        """Count up as soon as everything before has retired; the unit itself goes on."""
        self._call_at(self.last_retirement, lambda _: semaphore.signal(self.log.name))

    def _call_at(self, cycle: int, callback: Any) -> None:
        """Run a callback at a cycle; callbacks of the same cycle run in the order of these calls."""
        delay = cycle - self.env.now
        if delay <= 0:
            callback(None)
        else:
            self.env.timeout(delay).callbacks.append(callback)

    def _account_gap(self, start: int) -> None:
        """Charge the cycles without an instruction: outstanding results first, then missing instructions."""
        end = self.env.now
        settled = min(end, max(start, self.last_retirement))
        self.observation.stalled(self.log, start, settled, self.tail_reason)
        self.observation.stalled(self.log, settled, end, StallReason.INSTRUCTION)

    def _finish(self, start: int) -> Process:
        """Process: wait for outstanding results; what follows them is idle."""
        if self.last_retirement > self.env.now:
            yield self.env.timeout(self.last_retirement - self.env.now)
        self.observation.stalled(self.log, start, self.last_retirement, self.tail_reason)
        self.is_finished = True
