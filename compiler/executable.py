"""What a compilation returns."""

import dataclasses

from compiler.bounds import ProgramBounds
from isa.program import Program


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """A program and what the compiler knows about it.

    `estimated_cycles` is the list scheduler's estimate; `dram_bytes` are the bytes its transfers
    move, whole bursts (code not included).
    """

    program: Program
    bounds: ProgramBounds
    estimated_cycles: int
    dram_bytes: int

    @property
    def lb_peak_cycles(self) -> int:
        """Lower bound at peak rates."""
        return self.bounds.lb_peak_cycles

    @property
    def lb_mapped_cycles(self) -> int:
        """Lower bound with this machine's fastest mappings."""
        return self.bounds.lb_mapped_cycles
