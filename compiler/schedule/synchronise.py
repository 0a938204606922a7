"""Waits and signals: the fewest that make every dependency hold.

Each queue has one semaphore, which counts its signals. A vector clock per queue tells what a queue already
knows to be done; a wait is only emitted for what it does not.
"""

import dataclasses

from compiler.schedule.order import physical_queue
from compiler.schedule.tasks import Task
from isa.instruction import Instruction, Queue
from isa.instructions.control import Halt, Signal, Wait


@dataclasses.dataclass(frozen=True, slots=True)
class Stream:
    """The finished instruction stream; `stage_of[i]` is the stage instruction i works for."""

    instructions: tuple[Instruction, ...]
    stage_of: tuple[int, ...]


def synchronise(tasks: list[Task], order: list[int]) -> Stream:
    """Insert waits and signals into the tasks' instructions in program order, and end with a halt."""
    needed = _needed_waits(tasks, order)
    signalling = {earlier for waits in needed.values() for earlier in waits}
    semaphores = {queue: number for number, queue in enumerate(sorted({physical_queue(t) for t in tasks}))}
    instructions: list[Instruction] = []
    stages: list[int] = []
    signals: dict[int, int] = {}
    counts = dict.fromkeys(semaphores, 0)
    stage = 0
    for index in order:
        task = tasks[index]
        queue = physical_queue(task)
        stage = task.stage
        for earlier in needed[index]:
            source = physical_queue(tasks[earlier])
            instructions.append(
                Wait(
                    unit_kind=queue.kind,
                    unit_mask=1 << queue.index,
                    semaphore=semaphores[source],
                    count=signals[earlier],
                )
            )
        instructions.append(task.instruction)
        if index in signalling:
            counts[queue] += 1
            signals[index] = counts[queue]
            instructions.append(
                Signal(unit_kind=queue.kind, unit_mask=1 << queue.index, semaphore=semaphores[queue])
            )
        stages += [stage] * (len(instructions) - len(stages))
    instructions.append(Halt())
    stages.append(stage)
    return Stream(tuple(instructions), tuple(stages))


def _needed_waits(tasks: list[Task], order: list[int]) -> dict[int, list[int]]:
    """For each task the tasks of other queues it must explicitly wait for."""
    position: dict[int, int] = {}
    lengths: dict[Queue, int] = {}
    for index in order:
        queue = physical_queue(tasks[index])
        position[index] = lengths[queue] = lengths.get(queue, 0) + 1
    rank = {index: place for place, index in enumerate(order)}
    clocks: dict[Queue, dict[Queue, int]] = {queue: {} for queue in lengths}
    known_at: dict[int, dict[Queue, int]] = {}
    needed: dict[int, list[int]] = {}
    for index in order:
        task = tasks[index]
        queue = physical_queue(task)
        clock = clocks[queue]
        waits = []
        for earlier in sorted(task.after.values(), key=rank.__getitem__, reverse=True):
            source = physical_queue(tasks[earlier])
            if source == queue or clock.get(source, 0) >= position[earlier]:
                continue
            waits.append(earlier)
            for other, count in known_at[earlier].items():
                if clock.get(other, 0) < count:
                    clock[other] = count
        clock[queue] = position[index]
        known_at[index] = dict(clock)
        needed[index] = waits
    return needed
