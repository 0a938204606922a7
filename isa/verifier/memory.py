"""Bounds, permissions and races of all memory accesses."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from isa.accesses import Access
from isa.assembly import format_instruction
from isa.dtypes import Region
from isa.errors import VerificationError
from isa.instruction import Queue
from isa.program import Program, Symbol
from isa.verifier.ordering import Clock
from isa.verifier.shadow import Conflict, Event, Shadow

INITIALISED_REGIONS = frozenset({Region.CODE, Region.CONSTANTS, Region.INPUT})
"""Regions that are filled before the program starts and that it must not change."""


class MemoryCheck:
    """Checks accesses in program order against the memories' sizes and their shadows."""

    def __init__(self, program: Program, queues: Sequence[Queue]) -> None:
        self._program = program
        self._queues = queues
        self._sizes: dict[Region | None, int] = {None: program.target.sram_bytes}
        self._sizes |= {region: program.region_bytes.get(region, 0) for region in Region}
        self._sizes[Region.CONSTANTS] = len(program.constants)
        self._shadows = {
            memory: Shadow(size) for memory, size in self._sizes.items() if memory not in INITIALISED_REGIONS
        }

    def check(self, index: int, queue: int, clock: Clock, accesses: Iterable[Access]) -> None:
        """Check the accesses of instruction `index`; raise VerificationError for the first that is wrong."""
        event = Event(queue, index)
        for access in accesses:
            if access.total_bytes == 0:
                continue
            footprint = access.footprint()
            self._check_bounds(access, footprint)
            if access.write:
                self._check_write(access)
            try:
                if access.write:
                    self._shadows[access.region].write(footprint, event, clock)
                elif access.region not in INITIALISED_REGIONS:
                    self._shadows[access.region].read(footprint, event, clock)
            except Conflict as conflict:
                raise VerificationError(self._describe(access, queue, clock, conflict)) from None

    def check_symbol(self, symbol: Symbol) -> None:
        """Raise VerificationError if a symbol leaves its region or names bytes that nothing wrote."""
        size_bytes = math.prod(symbol.shape) * np.dtype(symbol.dtype).itemsize
        access = Access(f"symbol {symbol.name!r}", symbol.region, False, symbol.offset_bytes, size_bytes)
        if not size_bytes:
            return
        self._check_bounds(access, access)
        if symbol.region in INITIALISED_REGIONS:
            return
        byte = self._shadows[symbol.region].first_unwritten(access)
        if byte is not None:
            raise VerificationError(
                f"{access.operand} ({symbol.role}): nothing writes byte {byte} of {access.memory}"
            )

    def _check_bounds(self, access: Access, footprint: Access) -> None:
        """Check the range, and that reads which overlap themselves stay within reason."""
        size_bytes = self._sizes[access.region]
        if access.end > size_bytes:
            raise VerificationError(
                f"{access.operand}: bytes {access.address} … {access.end - 1} of {access.memory}, "
                f"which has {size_bytes} bytes"
            )
        if footprint.total_bytes > size_bytes:
            raise VerificationError(
                f"{access.operand}: the strides name {footprint.total_bytes} bytes, "
                f"more than the {size_bytes} of {access.memory}"
            )

    def _check_write(self, access: Access) -> None:
        if access.region in INITIALISED_REGIONS:
            raise VerificationError(f"{access.operand}: {access.memory} must not be written")
        if access.names_a_byte_twice():
            raise VerificationError(
                f"{access.operand}: the strides write some bytes of {access.memory} twice"
            )

    def _describe(self, access: Access, queue: int, clock: Clock, conflict: Conflict) -> str:
        verb = "writes" if access.write else "reads"
        what = f"{access.operand}: {verb} byte {conflict.byte} of {access.memory}"
        earlier = conflict.earlier
        if earlier is None:
            return f"{what}, which nothing wrote"
        other, me = self._queues[earlier.queue], self._queues[queue]
        known = clock[earlier.queue]
        waited = (
            f"only waited for {other} up to instruction {known}" if known >= 0 else f"not waited for {other}"
        )
        return (
            f"race: {what} without waiting for instruction {earlier.position} "
            f"({format_instruction(self._program.instructions[earlier.position])}), which "
            f"{'writes' if conflict.earlier_writes else 'reads'} it in {other}; {me} has {waited}"
        )
