"""The verifier: every static rule that a program must keep before a machine runs it."""

from isa.assembly import format_instruction
from isa.container_rules import check_contents
from isa.errors import ContainerError, FieldRangeError, VerificationError
from isa.instruction import Instruction, Queue
from isa.instructions.control import Halt, Signal, Wait
from isa.instructions.matrix import Convolve
from isa.program import Program, Symbol
from isa.verifier.memory import MemoryLimits
from isa.verifier.ordering import Ordering
from isa.verifier.races import RaceDetector
from isa.verifier.rules import check_instruction
from isa.verifier.sequences import AccumulatorSequences
from isa.verifier.shadow import Event


def verify(program: Program) -> None:
    """Raise VerificationError, naming instruction, value and limit, unless the program keeps all rules.

    Checked are: field ranges; units, shapes, types and alignment against the target; sums that are
    started, continued and finished in step; addresses within SRAM and regions, no store to a region
    that is read-only; waits whose signals stand before them, signals that are waited for; Halt once, at
    the end; no race: of two accesses to a byte, one of them a write, the later in program order waits for
    the earlier; no read of a byte that nothing wrote; output tensors written completely.
    """
    _check_tables(program)
    _check_halt(program)
    _Walk(program).run()


class _Walk:
    """One pass over the instructions in program order."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._limits = MemoryLimits(program)
        self._ordering = Ordering(program.target)
        self._races = RaceDetector(program, self._limits, self._ordering.queues)
        self._sequences = AccumulatorSequences()

    def run(self) -> None:
        """Check every instruction, then what must hold at the end."""
        for index, instruction in enumerate(self._program.instructions):
            try:
                check_instruction(instruction, self._program.target)
                if (queue := instruction.queue) is not None:
                    self._check_order(index, queue, instruction)
            except (VerificationError, FieldRangeError) as error:
                raise _located(self._program, index, str(error)) from None
        for unmatched in (self._sequences.unfinished(), self._ordering.unawaited_signal()):
            if unmatched is not None:
                raise _located(self._program, *unmatched)
        for symbol in self._program.symbols:
            self._check_written(symbol)

    def _check_order(self, index: int, queue: Queue, instruction: Instruction) -> None:
        if isinstance(instruction, Wait):
            self._ordering.wait(index, queue, instruction)
        elif isinstance(instruction, Signal):
            self._ordering.signal(index, queue, instruction)
        else:
            if isinstance(instruction, Convolve):
                self._sequences.check(index, queue, instruction)
            number, clock = self._ordering.advance(index, queue)
            operands = self._limits.ordered_operands(instruction)
            self._races.check(operands, Event(number, index), clock)

    def _check_written(self, symbol: Symbol) -> None:
        access = self._limits.symbol_access(symbol)
        byte = self._races.first_unwritten(access) if access is not None else None
        if access is not None and byte is not None:
            raise VerificationError(
                f"{access.operand} ({symbol.role}): nothing writes byte {byte} of {access.memory}"
            )


def _check_tables(program: Program) -> None:
    """Check that the parts of a program fit each other."""
    try:
        check_contents(program)
    except ContainerError as error:
        raise VerificationError(str(error)) from None


def _check_halt(program: Program) -> None:
    halts = [index for index, i in enumerate(program.instructions) if isinstance(i, Halt)]
    last = len(program.instructions) - 1
    if not halts:
        raise VerificationError(f"no Halt: it must be the last of the {last + 1} instructions")
    if halts != [last]:
        raise _located(program, halts[0], f"Halt must stand once, as the last instruction ({last})")


def _located(program: Program, index: int, what: str) -> VerificationError:
    return VerificationError(
        f"instruction {index} ({format_instruction(program.instructions[index])}): {what}"
    )
