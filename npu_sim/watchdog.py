"""The deadlock report: who waits for what, and who could have helped."""

from collections.abc import Iterable, Sequence

from isa.instruction import Instruction
from isa.instructions.control import Signal
from npu_sim.core.semaphore import Semaphore
from npu_sim.errors import DeadlockError
from npu_sim.frontend.dispatch import Dispatcher
from npu_sim.units.unit import Unit


def check_finished(
    instructions: Sequence[Instruction],
    units: Iterable[Unit],
    dispatcher: Dispatcher,
    semaphores: Sequence[Semaphore],
) -> None:
    """Raise DeadlockError if a unit still has work although nothing can happen any more."""
    lines = []
    for number, semaphore in enumerate(semaphores):
        for waiter in semaphore.waiters:
            lines.append(
                f"{waiter.unit} waits for semaphore {number} to reach {waiter.needed}, it is at "
                f"{semaphore.count}, {_signallers(instructions, number)}"
            )
    if dispatcher.halted_at is None:
        place = dispatcher.blocked_by
        reason = f"the queue of {place} is full" if place is not None else "its code does not arrive"
        lines.append(f"dispatch waits at instruction {dispatcher.position} of {len(instructions)}: {reason}")
    if lines or not all(unit.is_finished for unit in units):
        raise DeadlockError("deadlock: " + "; ".join(lines))


def _signallers(instructions: Sequence[Instruction], semaphore: int) -> str:
    """Which queues signal a semaphore, and how often in the whole program."""
    counts: dict[str, int] = {}
    for instruction in instructions:
        if isinstance(instruction, Signal) and instruction.semaphore == semaphore:
            name = str(instruction.queue)
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        return "nobody signals it"
    return "signalled by " + ", ".join(f"{name} ({count} in the program)" for name, count in counts.items())
