"""Dispatch: one instruction per cycle, in program order, to the queue of its unit."""

from collections.abc import Mapping, Sequence

from isa.instruction import WORD_BYTES, Instruction, Queue
from npu_sim.actions import Action
from npu_sim.core.clock import Clock
from npu_sim.core.instruction_queue import Entry, InstructionQueue
from npu_sim.core.observation import Observation
from npu_sim.errors import MachineError
from npu_sim.frontend.fetch import InstructionFetch
from npu_sim.units.shared_memories import Process

LANE = "dispatch"


class Dispatcher:
    """Sends every instruction to its queue and ends all queues at Halt.

    A full queue holds all later instructions. `position` is the number of dispatched instructions;
    `halted_at` the cycle in which Halt was dispatched, or None.
    """

    def __init__(
        self,
        env: Clock,
        instructions: Sequence[Instruction],
        queues: Mapping[Queue, InstructionQueue],
        fetch: InstructionFetch,
        ends: Sequence[int],
        observation: Observation,
    ) -> None:
        self._env = env
        self._instructions = instructions
        self._queues = queues
        self._fetch = fetch
        self._ends = ends
        self._observation = observation
        self.position = 0
        self.halted_at: int | None = None
        self.blocked_by: Queue | None = None

    def run(self) -> Process:
        """Process: dispatch until Halt."""
        env, fetch, observation = self._env, self._fetch, self._observation
        for index, instruction in enumerate(self._instructions):
            end = self._ends[index]
            while fetch.available_bytes < end:
                yield fetch.arrival()
            yield env.timeout(1)
            fetch.consume(end)
            words = instruction.size_bytes // WORD_BYTES
            observation.acted(env.now, LANE, index, ((Action.INSTRUCTION_DISPATCH, words),))
            place = instruction.queue
            if place is None:
                break
            queue = self._queues.get(place)
            if queue is None:
                raise MachineError(f"instruction {index} is for {place}, which this machine does not have")
            if queue.is_full:
                self.blocked_by = place
                yield queue.drained()
                self.blocked_by = None
            queue.push(Entry(index, instruction))
            self.position = index + 1
        self.halted_at = env.now
        for queue in self._queues.values():
            queue.push(Entry(len(self._instructions), None))
