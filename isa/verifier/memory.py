"""Bounds and permissions of memory accesses."""

import math
from typing import NamedTuple

import numpy as np

from isa.accesses import Access, accesses
from isa.dtypes import Region
from isa.errors import VerificationError
from isa.instruction import Instruction
from isa.program import Program, Symbol

INITIALISED_REGIONS = frozenset({Region.CODE, Region.CONSTANTS, Region.INPUT})
"""Regions that are filled before the program starts and that it must not change."""


class Operand(NamedTuple):
    """An access as the instruction states it, and its bytes in the fewest dimensions."""

    access: Access
    footprint: Access


class MemoryLimits:
    """The sizes of a program's memories."""

    def __init__(self, program: Program) -> None:
        self.sizes: dict[Region | None, int] = {None: program.target.sram_bytes}
        self.sizes |= {region: program.region_bytes.get(region, 0) for region in Region}
        self.sizes[Region.CONSTANTS] = len(program.constants)

    def ordered_operands(self, instruction: Instruction) -> tuple[Operand, ...]:
        """Return the operands in memories that the program changes, after checking all of them.

        Raises VerificationError for an address outside its memory and for a write that is not allowed.
        """
        found = []
        for access in accesses(instruction):
            footprint = access.footprint()
            if footprint.run_bytes == 0:
                continue
            self._check(access, footprint)
            if access.region not in INITIALISED_REGIONS:
                found.append(Operand(access, footprint))
        return tuple(found)

    def symbol_access(self, symbol: Symbol) -> Access | None:
        """Return the bytes of a symbol that the program must write; None if there are none.

        Raises VerificationError if the symbol leaves its region.
        """
        size_bytes = math.prod(symbol.shape) * np.dtype(symbol.dtype).itemsize
        if not size_bytes:
            return None
        access = Access(f"symbol {symbol.name!r}", symbol.region, False, symbol.offset_bytes, size_bytes)
        self._check(access, access)
        return None if symbol.region in INITIALISED_REGIONS else access

    def _check(self, access: Access, footprint: Access) -> None:
        """Check one access; reads that overlap themselves must stay within reason."""
        size_bytes = self.sizes[access.region]
        if footprint.end > size_bytes:
            raise VerificationError(
                f"{access.operand}: bytes {access.address} … {access.end - 1} of {access.memory}, "
                f"which has {size_bytes} bytes"
            )
        if footprint.total_bytes > size_bytes:
            raise VerificationError(
                f"{access.operand}: the strides name {footprint.total_bytes} bytes, "
                f"more than the {size_bytes} of {access.memory}"
            )
        if not access.write:
            return
        if access.region in INITIALISED_REGIONS:
            raise VerificationError(f"{access.operand}: {access.memory} must not be written")
        if access.total_bytes != footprint.run_bytes and access.names_a_byte_twice():
            raise VerificationError(
                f"{access.operand}: the strides write some bytes of {access.memory} twice"
            )
