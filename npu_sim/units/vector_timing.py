"""Closed-form cycles of the vector unit: lanes take elements in groups, each element a fixed number of steps.

An instruction with E output elements on L lanes costs startup + ceil(E/L) * steps + fixed, where a step is
one 8-bit MAC, one requantisation (32-bit fixed-point multiply with rounding), or one simple operation:

    DepthwiseConvolve  taps MACs + 1 requantisation
    Pool               taps compares or adds; + 1 division by the reciprocal for AVERAGE
    Copy, Lookup       1 operation
    Add                3 requantisations: one per input, one for the sum
    Softmax            20 steps, and per row 2 tree reductions over the lanes and 10 steps of reciprocal

Softmax counts the fixed-point algorithm of NNAPI: 14 multiplies (1 rescale, 5 of the exponential's
polynomial, 7 of its barrel, 1 by the reciprocal), 4 rounding shifts, a compare for the maximum and a
subtraction; the reciprocal is 7 multiplies (a first guess and three Newton steps of two), a half-sum, a
normalisation and a final shift.
"""

import functools
from typing import NamedTuple

from isa.instruction import Instruction
from isa.instructions.vector import Add, Copy, DepthwiseConvolve, Lookup, Pool, PoolMode, Softmax

SOFTMAX_MULTIPLIES = 14
SOFTMAX_OPERATIONS = 6
RECIPROCAL_MULTIPLIES = 7
RECIPROCAL_OPERATIONS = 3


class LaneSteps(NamedTuple):
    """Steps of each output element by kind, and steps that a whole row (softmax) takes once."""

    elements: int
    macs: int = 0
    requantisations: int = 0
    operations: int = 0
    rows: int = 0

    @property
    def per_element(self) -> int:
        """Steps of one element."""
        return self.macs + self.requantisations + self.operations


@functools.singledispatch
def lane_steps(instruction: Instruction) -> LaneSteps:
    """Steps of a vector instruction; TypeError for an instruction of another unit."""
    raise TypeError(f"{type(instruction).__name__} is no instruction of the vector unit")


@lane_steps.register
def _depthwise(instruction: DepthwiseConvolve) -> LaneSteps:
    elements = instruction.output_pixels * instruction.output_channels
    return LaneSteps(elements, macs=instruction.taps, requantisations=1)


@lane_steps.register
def _pool(instruction: Pool) -> LaneSteps:
    elements = instruction.output_pixels * instruction.output_channels
    divisions = 1 if instruction.mode is PoolMode.AVERAGE else 0
    return LaneSteps(elements, operations=instruction.taps, requantisations=divisions)


@lane_steps.register(Copy)
@lane_steps.register(Lookup)
def _move(instruction: Copy | Lookup) -> LaneSteps:
    return LaneSteps(instruction.elements, operations=1)


@lane_steps.register
def _add(instruction: Add) -> LaneSteps:
    return LaneSteps(instruction.elements, requantisations=3)


@lane_steps.register
def _softmax(instruction: Softmax) -> LaneSteps:
    return LaneSteps(
        instruction.elements,
        requantisations=SOFTMAX_MULTIPLIES,
        operations=SOFTMAX_OPERATIONS,
        rows=instruction.rows,
    )


def row_cycles(lanes: int) -> int:
    """Cycles of one softmax row besides its elements: two reductions over the lanes and the reciprocal."""
    return 2 * (lanes - 1).bit_length() + RECIPROCAL_MULTIPLIES + RECIPROCAL_OPERATIONS


def vector_cycles(steps: LaneSteps, lanes: int) -> int:
    """Cycles on `lanes` lanes, startup aside; a lower bound of the same work cut into tiles."""
    return -(-steps.elements // lanes) * steps.per_element + steps.rows * row_cycles(lanes)


def peak_cycles(steps: LaneSteps, lanes: int) -> float:
    """Element steps divided by one step per lane and cycle: MACs and requantisations, all unavoidable."""
    return steps.elements * steps.per_element / lanes
