"""Ordering of all accesses to memories that the program changes."""

from collections.abc import Iterable, Sequence

from isa.accesses import Access
from isa.assembly import format_instruction
from isa.errors import VerificationError
from isa.instruction import Queue
from isa.program import Program
from isa.verifier.memory import INITIALISED_REGIONS, MemoryLimits, Operand
from isa.verifier.ordering import Clock
from isa.verifier.shadow import Conflict, Event, Shadow


class RaceDetector:
    """Checks accesses in program order against the shadows of their memories."""

    def __init__(self, program: Program, limits: MemoryLimits, queues: Sequence[Queue]) -> None:
        self._instructions = program.instructions
        self._queues = queues
        self._shadows = {
            memory: Shadow(size_bytes)
            for memory, size_bytes in limits.sizes.items()
            if memory not in INITIALISED_REGIONS
        }

    def check(self, operands: Iterable[Operand], event: Event, clock: Clock) -> None:
        """Order the operands of one instruction; raise VerificationError for the first that cannot be."""
        for access, footprint in operands:
            shadow = self._shadows[access.region]
            try:
                if access.write:
                    shadow.write(footprint, event, clock)
                else:
                    shadow.read(footprint, event, clock)
            except Conflict as conflict:
                raise VerificationError(self._describe(access, event, clock, conflict)) from None

    def first_unwritten(self, access: Access) -> int | None:
        """Return the first byte of an access that nothing has written, or None."""
        return self._shadows[access.region].first_unwritten(access)

    def _describe(self, access: Access, event: Event, clock: Clock, conflict: Conflict) -> str:
        verb = "writes" if access.write else "reads"
        what = f"{access.operand}: {verb} byte {conflict.byte} of {access.memory}"
        earlier = conflict.earlier
        if earlier is None:
            return f"{what}, which nothing wrote"
        other, me = self._queues[earlier.queue], self._queues[event.queue]
        known = clock[earlier.queue]
        waited = (
            f"only waited for {other} up to instruction {known}" if known >= 0 else f"not waited for {other}"
        )
        return (
            f"race: {what} without waiting for instruction {earlier.position} "
            f"({format_instruction(self._instructions[earlier.position])}), which "
            f"{'writes' if conflict.earlier_writes else 'reads'} it in {other}; {me} has {waited}"
        )
