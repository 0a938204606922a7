"""Control and synchronisation.

A semaphore only ever counts up, from 0. SIGNAL adds one when every earlier instruction of its queue has
retired; WAIT holds its queue until the semaphore has reached a count. Program order is a legal
sequential execution: the signal that satisfies a wait stands before it.
"""

from isa.fields import bits
from isa.instruction import Instruction, UnitKind, instruction

SEMAPHORES = 64


@instruction(opcode=0x01, kind=None)
class Wait(Instruction):
    """Hold the queue until `semaphore` >= `count`."""

    unit_kind: UnitKind = bits(4, "kind of the unit that waits", enum=UnitKind)
    unit_mask: int = bits(16, "units that wait, one bit each")
    semaphore: int = bits(6, "semaphore number")
    count: int = bits(32, "smallest count that lets the queue go on")


@instruction(opcode=0x02, kind=None)
class Signal(Instruction):
    """Add one to `semaphore` when the instructions before it in its queue have retired."""

    unit_kind: UnitKind = bits(4, "kind of the unit that signals", enum=UnitKind)
    unit_mask: int = bits(16, "units that signal, one bit each")
    semaphore: int = bits(6, "semaphore number")


@instruction(opcode=0x03, kind=None)
class Halt(Instruction):
    """End of the program: the machine stops when every queue has drained."""
