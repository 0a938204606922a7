"""Timing of the scratchpad: words, banks, and what strided access patterns make of them.

Byte a lies in word a // word_bytes, and word w in bank w mod banks. A bank serves one word per cycle; all
streams together move at most min(banks, ports) words per cycle. A run that is not aligned moves whole words.
"""

import functools
import math

from isa.accesses import Access
from npu_sim.config import SramConfig


@functools.lru_cache(maxsize=65536)
def _mean_words_numerator(offset: int, run_bytes: int, step: int, word_bytes: int) -> int:
    """Words touched by a run, summed over the word_bytes // step alignments that its repetitions take."""
    return sum(
        (start + run_bytes - 1) // word_bytes - start // word_bytes + 1
        for start in range(offset % step, word_bytes, step)
    )


def access_words(access: Access, word_bytes: int) -> int:
    """Words that an access moves.

    Exact when every stride is a multiple of the word or repeats a whole number of times through all
    alignments; otherwise the mean over the alignments, rounded up.
    """
    step = math.gcd(word_bytes, *(d.stride_bytes for d in access.dimensions))
    runs = math.prod(d.repeats for d in access.dimensions)
    if step == word_bytes:
        start = access.address % word_bytes
        return runs * ((start + access.run_bytes - 1) // word_bytes + 1)
    numerator = _mean_words_numerator(access.address % step, access.run_bytes, step, word_bytes)
    return -(-runs * numerator * step // word_bytes)


def traffic_bytes(access: Access, word_bytes: int) -> int:
    """Bytes of whole words that an access moves; bytes named again (stride 0) come from a lane's register."""
    return access_words(access.footprint(), word_bytes) * word_bytes


def bank_cycles(access: Access, sram: SramConfig) -> int:
    """Cycles that the banks need for an access after the first, in which the unit is only starting.

    A stride of s words walks through banks / gcd(s, banks) banks; words that share a bank take turns. Exact
    for one strided dimension that passes its period a whole number of times, a lower bound otherwise.
    """
    footprint = access.footprint()
    words = access_words(footprint, sram.word_bytes)
    ring_bytes = sram.banks * sram.word_bytes
    reached = -(-footprint.run_bytes // sram.word_bytes)
    for dimension in footprint.dimensions:
        if reached >= sram.banks:
            break
        positions = ring_bytes // math.gcd(dimension.stride_bytes, ring_bytes)
        reached *= min(dimension.repeats, positions)
    return max(0, words - 1) // min(reached, sram.banks, sram.ports)
