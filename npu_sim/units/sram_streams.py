"""What vector instructions move through the SRAM ports, where that is not each named byte once.

Which rows of a table an instruction picks depends on data, the time must not. So it is charged the worst:
every picked row begins in the same bank as the one before, and every key is read from that bank alone.
"""

import functools
import math

from isa.accesses import KEY_BYTES, Access, Dimension, accesses
from isa.instruction import Instruction
from isa.instructions.gather import Gather, HashGather, HashHits, RowPick
from npu_sim.config import SramConfig


def probes(keys: int) -> int:
    """Keys that a search reads: the range is halved until it is empty."""
    return keys.bit_length()


@functools.singledispatch
def sram_streams(instruction: Instruction, sram: SramConfig) -> tuple[Access, ...]:
    """The accesses whose words the ports and banks carry."""
    return accesses(instruction)


@sram_streams.register
def _gather(instruction: Gather, sram: SramConfig) -> tuple[Access, ...]:
    return tuple(
        _picked_rows(instruction, sram) if access.operand == "values" else access
        for access in accesses(instruction)
    )


@sram_streams.register
def _hash_gather(instruction: HashGather, sram: SramConfig) -> tuple[Access, ...]:
    searches = _searches(instruction.lookups, instruction.keys, sram)
    return (
        *(a for a in accesses(instruction) if a.operand not in ("values", "keys")),
        searches,
        _picked_rows(instruction, sram),
    )


@sram_streams.register
def _hash_hits(instruction: HashHits, sram: SramConfig) -> tuple[Access, ...]:
    """The keys once, to check their order, and for every search."""
    return (*accesses(instruction), _searches(instruction.lookups, instruction.keys, sram))


def _picked_rows(i: RowPick, sram: SramConfig) -> Access:
    """As many rows as lookups, in one bank, at the least favourable alignment that the pitch allows."""
    step = math.gcd(sram.word_bytes, i.value_row_pitch)
    start = sram.word_bytes - step + i.value_address % step
    ring_bytes = sram.banks * sram.word_bytes
    stride = -(-(start + i.row_bytes) // ring_bytes) * ring_bytes
    return Access("values", None, False, start, i.row_bytes, (Dimension(i.lookups, stride),))


def _searches(lookups: int, keys: int, sram: SramConfig) -> Access:
    reads = Dimension(lookups * probes(keys), sram.banks * sram.word_bytes)
    return Access("searches", None, False, 0, KEY_BYTES, (reads,))
