"""What a vector instruction asks of the lanes it runs on: the integer ones, or the float ones."""

import functools
from typing import NamedTuple

from isa.instruction import Instruction
from isa.instructions.float_vector import Dequantize, FloatBinary, FloatPool, FloatRows, FloatUnary
from npu_sim.config import VectorConfig
from npu_sim.core.work import Activities
from npu_sim.units import float_timing, vector_timing


class LaneWork(NamedTuple):
    """Cycles on all lanes of one unit, startup aside; the same at the peak rate; and the actions to count."""

    cycles: int
    peak_cycles: float
    activities: Activities


@functools.singledispatch
def lane_work(instruction: Instruction, vector: VectorConfig) -> LaneWork:
    """The lanes' part of a vector instruction; TypeError for an instruction of another unit."""
    steps, lanes = vector_timing.lane_steps(instruction), vector.lanes
    return LaneWork(
        vector_timing.vector_cycles(steps, lanes),
        vector_timing.peak_cycles(steps, lanes),
        vector_timing.lane_activities(steps, lanes),
    )


@lane_work.register(FloatBinary)
@lane_work.register(FloatUnary)
@lane_work.register(FloatPool)
@lane_work.register(FloatRows)
@lane_work.register(Dequantize)
def _float_work(
    instruction: FloatBinary | FloatUnary | FloatPool | FloatRows | Dequantize, vector: VectorConfig
) -> LaneWork:
    """Raise TypeError on a machine without float lanes."""
    if not vector.float_lanes:
        raise TypeError(f"{type(instruction).__name__} needs float lanes; vector.float_lanes = 0")
    steps, lanes = float_timing.float_steps(instruction), vector.float_lanes
    return LaneWork(
        float_timing.float_cycles(steps, lanes),
        float_timing.peak_float_cycles(steps, lanes),
        float_timing.float_activities(steps, lanes),
    )
