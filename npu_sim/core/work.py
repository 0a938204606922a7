"""The demand of one instruction, in numbers."""

from typing import NamedTuple

from npu_sim.actions import Action

Activities = tuple[tuple[Action, int], ...]


class Work(NamedTuple):
    """One instruction's demand.

    `cycles`: it occupies its unit alone, with all memories to itself. `setup_cycles`: before that, without
    traffic. `tail_cycles`: from the end of its occupation to its retirement. `sram_bytes` and `dram_ps` are
    asked for evenly during `cycles`. `output_cycles` and `last_output_cycles`: the output stage is busy with
    all, and with the last group, of its sums. `sram_end` is the end of the highest SRAM address used.
    """

    cycles: int
    setup_cycles: int
    tail_cycles: int
    sram_bytes: int
    dram_ps: int
    activities: Activities
    sram_end: int
    output_cycles: int = 0
    last_output_cycles: int = 0
