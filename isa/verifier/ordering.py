"""What every queue knows of the others: one vector clock per queue, moved by signals and waits."""

from typing import NamedTuple

from isa.errors import VerificationError
from isa.instruction import Queue, UnitKind
from isa.instructions.control import SEMAPHORES, Signal, Wait
from isa.target import Target
from isa.verifier.rules import unit_count

Clock = list[int]
"""Per queue number: the last instruction of that queue known to have retired; -1 for none."""

NEVER = -1


class _Increment(NamedTuple):
    """One signal: its instruction, and what its queue knew then."""

    position: int
    clock: Clock


class Ordering:
    """Vector clocks of all queues of a target, advanced in program order.

    A queue executes in order, so its clock bounds everything before it. A wait for count n learns what the
    n-th signal's queue knew; a semaphore has one signalling queue, so earlier signals add nothing. Cost
    is the number of queues per signal or wait.
    """

    def __init__(self, target: Target) -> None:
        self.queues = [Queue(kind, index) for kind in UnitKind for index in range(unit_count(target, kind))]
        self._numbers = {queue: number for number, queue in enumerate(self.queues)}
        self._clocks: list[Clock] = [[NEVER] * len(self.queues) for _ in self.queues]
        self._signals: list[list[_Increment]] = [[] for _ in range(SEMAPHORES)]
        self._signaller: list[Queue | None] = [None] * SEMAPHORES
        self._largest_wait = [0] * SEMAPHORES

    def advance(self, index: int, queue: Queue) -> tuple[int, Clock]:
        """Move a queue to its instruction `index`; return the queue's number and clock.

        The clock has `index` at the queue's own place; it changes with the next call.
        """
        number = self._numbers[queue]
        clock = self._clocks[number]
        clock[number] = index
        return number, clock

    def signal(self, index: int, queue: Queue, instruction: Signal) -> None:
        """Record a signal; raise VerificationError if another queue signals the same semaphore."""
        semaphore = instruction.semaphore
        signaller = self._signaller[semaphore]
        if signaller is not None and signaller != queue:
            raise VerificationError(
                f"unmatched synchronisation: semaphore {semaphore} is signalled by {signaller} (instruction "
                f"{self._signals[semaphore][-1].position}); one queue only may signal it, not also {queue}"
            )
        self._signaller[semaphore] = queue
        _, clock = self.advance(index, queue)
        self._signals[semaphore].append(_Increment(index, clock.copy()))

    def wait(self, index: int, queue: Queue, instruction: Wait) -> None:
        """Pass on what the awaited signal knew; raise VerificationError if it is not an earlier one."""
        semaphore, count = instruction.semaphore, instruction.count
        signals = self._signals[semaphore]
        if count > len(signals):
            raise VerificationError(
                f"unmatched synchronisation: waits for semaphore {semaphore} to reach {count}, "
                f"but only {len(signals)} signals stand before it in program order"
            )
        self._largest_wait[semaphore] = max(self._largest_wait[semaphore], count)
        _, clock = self.advance(index, queue)
        for number, known in enumerate(signals[count - 1].clock):
            if known > clock[number]:
                clock[number] = known

    def unawaited_signal(self) -> tuple[int, str] | None:
        """Return the last signal that no wait covers, with the reason; None if there is none."""
        for semaphore, signals in enumerate(self._signals):
            largest = self._largest_wait[semaphore]
            if largest < len(signals):
                awaited = f"the largest count waited for is {largest}" if largest else "nothing waits for it"
                return signals[-1].position, (
                    f"unmatched synchronisation: raises semaphore {semaphore} to {len(signals)}, "
                    f"but {awaited}"
                )
        return None
