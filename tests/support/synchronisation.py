"""Deleted synchronisation, and whether it mattered: an independent, brute-force judgement.

Happens-before is the transitive closure of queue order and of the edges from signals to waits, computed as
bit sets; conflicts are found by intersecting the byte sets of every pair of accesses. Nothing here is
shared with the verifier except the declaration of what an instruction accesses.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from isa.accesses import Access, accesses
from isa.dtypes import Region
from isa.instruction import Instruction
from isa.instructions.control import Signal, Wait
from isa.program import Program

_READ_ONLY = {Region.CODE, Region.CONSTANTS, Region.INPUT}


def without(program: Program, index: int) -> Program:
    """The program without instruction `index`."""
    return dataclasses.replace(
        program,
        instructions=program.instructions[:index] + program.instructions[index + 1 :],
        layer_of=program.layer_of[:index] + program.layer_of[index + 1 :],
    )


def mutations(program: Program) -> Iterator[tuple[int, Program]]:
    """Every program that lacks one Wait or one Signal, with the index of what was deleted."""
    for index, instruction in enumerate(program.instructions):
        if isinstance(instruction, Wait | Signal):
            yield index, without(program, index)


def predecessors(instructions: Sequence[Instruction]) -> list[int] | None:
    """For each instruction the bit set of those that have retired when it starts.

    None if some wait has no signal before it in program order.
    """
    before: list[int] = []
    last_of_queue: dict[object, int] = {}
    signals: dict[int, list[int]] = defaultdict(list)
    for index, instruction in enumerate(instructions):
        queue = instruction.queue
        known = 0
        if queue in last_of_queue:
            last = last_of_queue[queue]
            known |= before[last] | 1 << last
        if isinstance(instruction, Wait):
            if instruction.count > len(signals[instruction.semaphore]):
                return None
            for signal in signals[instruction.semaphore][: instruction.count]:
                known |= before[signal] | 1 << signal
        if isinstance(instruction, Signal):
            signals[instruction.semaphore].append(index)
        before.append(known)
        last_of_queue[queue] = index
    return before


@dataclasses.dataclass(frozen=True, slots=True)
class _ByteSet:
    """Bytes of one access: bit b of `bits` stands for address `first` + b."""

    index: int
    write: bool
    first: int
    end: int
    bits: int

    def meets(self, other: "_ByteSet") -> bool:
        if self.first >= other.end or other.first >= self.end:
            return False
        if self.first <= other.first:
            return self.bits >> (other.first - self.first) & other.bits != 0
        return other.meets(self)


def _byte_set(index: int, access: Access) -> _ByteSet:
    offsets = np.zeros(1, dtype=np.int64)
    for repeats, stride in access.dimensions:
        offsets = np.add.outer(offsets, np.arange(repeats) * stride).reshape(-1)
    member = np.zeros(access.end - access.address, dtype=np.uint8)
    for within in range(access.run_bytes) if access.run_bytes < offsets.size else ():
        member[offsets + within] = 1
    for offset in offsets.tolist() if access.run_bytes >= offsets.size else ():
        member[offset : offset + access.run_bytes] = 1
    bits = int.from_bytes(np.packbits(member, bitorder="little").tobytes(), "little")
    return _ByteSet(index, access.write, access.address, access.end, bits)


def conflicts(program: Program) -> list[int]:
    """For each instruction the bit set of earlier ones with which it must be ordered.

    Two accesses conflict if they share a byte and one of them writes. Instructions of the same queue
    are included; they are always ordered.
    """
    seen: dict[Region | None, list[_ByteSet]] = defaultdict(list)
    found: list[int] = []
    for index, instruction in enumerate(program.instructions):
        met = 0
        mine = [
            (access.region, _byte_set(index, access))
            for access in accesses(instruction)
            if access.region not in _READ_ONLY and access.total_bytes
        ]
        for region, byte_set in mine:
            for earlier in seen[region]:
                known = met >> earlier.index & 1
                if not known and (byte_set.write or earlier.write) and byte_set.meets(earlier):
                    met |= 1 << earlier.index
        for region, byte_set in mine:
            seen[region].append(byte_set)
        found.append(met)
    return found


def reads_only_written_bytes(program: Program) -> bool:
    """Whether, executed in program order, no instruction reads a byte that nothing wrote."""
    written: dict[Region | None, int] = defaultdict(int)
    for index, instruction in enumerate(program.instructions):
        for access in accesses(instruction):
            if access.region in _READ_ONLY or not access.total_bytes:
                continue
            byte_set = _byte_set(index, access)
            bits = byte_set.bits << byte_set.first
            if access.write:
                written[access.region] |= bits
            elif bits & ~written[access.region]:
                return False
    return True


def is_race_free(instructions: Sequence[Instruction], conflicts_of: Sequence[int]) -> bool:
    """Whether every wait is satisfiable and all conflicting instructions are ordered."""
    before = predecessors(instructions)
    if before is None:
        return False
    return all(conflict & ~known == 0 for conflict, known in zip(conflicts_of, before, strict=True))


def _delete_bit(bits: int, index: int) -> int:
    low = bits & ((1 << index) - 1)
    return low | bits >> (index + 1) << index


class RedundancyJudge:
    """Judges deletions from one program; finds its conflicts once, since deletions leave them as they are."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._conflicts = conflicts(program)

    def is_redundant(self, index: int) -> bool:
        """Whether the program without this Wait or Signal is as safe as with it."""
        mutated = without(self._program, index)
        kept = self._conflicts[:index] + self._conflicts[index + 1 :]
        return is_race_free(mutated.instructions, [_delete_bit(bits, index) for bits in kept])


def is_redundant(program: Program, index: int) -> bool:
    """Whether the program without this Wait or Signal is as safe as with it."""
    return RedundancyJudge(program).is_redundant(index)
