"""Closed-form cycles of the vector unit: lanes take elements in groups, each element a fixed number of steps.

An instruction with E output elements on L lanes costs startup + ceil(E/L) * steps + fixed, where a step is
one 8-bit MAC, one requantisation (32-bit fixed-point multiply with rounding), or one simple operation:

    DepthwiseConvolve  taps MACs + 1 requantisation
    Pool               taps compares or adds; + 1 division by the reciprocal for AVERAGE
    Copy, Lookup       1 operation
    Add                3 requantisations: one per input, one for the sum
    Multiply           1 MAC + 1 requantisation
    Softmax            20 steps, and per row 2 tree reductions over the lanes and 10 steps of reciprocal
    L2Normalize        1 MAC, 1 requantisation, 2 operations (less the zero point, times 128), and per row
                       1 tree reduction and 39 steps of inverse square root
    ResizeBilinear     8 multiplies and 9 operations
    Gather             1 operation per byte, and per lookup 2: read the number, check it
    HashGather         the same, and 2 per probe of the search: read a key, compare it
    HashHits           1 operation per key (their order) and lookup, and per lookup 2 per probe and 1

A ResizeBilinear multiplies and adds in single precision: a lane's 32-bit multiplier and adder take a step for
each of its 8 products, 3 sums, the half that is added, and 5 conversions. Coordinates and weights come from
the address generator. A search over n keys reads bit_length(n) of them, whatever it looks for.

Softmax counts the fixed-point algorithm of NNAPI: 14 multiplies (1 rescale, 5 of the exponential's
polynomial, 7 of its barrel, 1 by the reciprocal), 4 rounding shifts, a compare for the maximum and a
subtraction; the reciprocal is 7 multiplies (a first guess and three Newton steps of two), a half-sum, a
normalisation and a final shift. The inverse square root is 5 Newton steps of 4 multiplies, 2 saturating
shifts and a subtraction, a last multiply, and 3 operations that bring the sum to a power of 4 and back.
"""

import functools
from typing import NamedTuple

from isa.instruction import Instruction
from isa.instructions.gather import Gather, HashGather, HashHits
from isa.instructions.resize import ResizeBilinear
from isa.instructions.vector import (
    Add,
    Copy,
    DepthwiseConvolve,
    L2Normalize,
    Lookup,
    Multiply,
    Pool,
    PoolMode,
    Softmax,
)
from isa.row_norms import NEWTON_STEPS
from npu_sim.actions import Action
from npu_sim.core.work import Activities
from npu_sim.units.sram_streams import probes

SOFTMAX_MULTIPLIES = 14
SOFTMAX_OPERATIONS = 6
RESIZE_MULTIPLIES = 8
RESIZE_OPERATIONS = 9
_PICK_OPERATIONS = 2
_PROBE_OPERATIONS = 2


class RowSteps(NamedTuple):
    """Steps that a whole row takes once, besides its elements; a reduction is a tree over all lanes."""

    reductions: int = 0
    multiplies: int = 0
    operations: int = 0


SOFTMAX_ROW = RowSteps(reductions=2, multiplies=7, operations=3)
L2_ROW = RowSteps(reductions=1, multiplies=4 * NEWTON_STEPS + 1, operations=3 * NEWTON_STEPS + 3)


class LaneSteps(NamedTuple):
    """Steps of each element by kind, and steps that each of `rows` rows (or lookups) takes once."""

    elements: int
    macs: int = 0
    requantisations: int = 0
    operations: int = 0
    rows: int = 0
    row: RowSteps = RowSteps()

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
        row=SOFTMAX_ROW,
    )


@lane_steps.register
def _multiply(instruction: Multiply) -> LaneSteps:
    return LaneSteps(instruction.elements, macs=1, requantisations=1)


@lane_steps.register
def _l2_normalize(instruction: L2Normalize) -> LaneSteps:
    i = instruction
    return LaneSteps(i.elements, macs=1, requantisations=1, operations=2, rows=i.rows, row=L2_ROW)


@lane_steps.register
def _resize(instruction: ResizeBilinear) -> LaneSteps:
    return LaneSteps(instruction.elements, requantisations=RESIZE_MULTIPLIES, operations=RESIZE_OPERATIONS)


@lane_steps.register
def _gather(instruction: Gather) -> LaneSteps:
    row = RowSteps(operations=_PICK_OPERATIONS)
    return LaneSteps(instruction.output_bytes, operations=1, rows=instruction.lookups, row=row)


@lane_steps.register
def _hash_gather(instruction: HashGather) -> LaneSteps:
    row = RowSteps(operations=_PICK_OPERATIONS + _PROBE_OPERATIONS * probes(instruction.keys))
    return LaneSteps(instruction.output_bytes, operations=1, rows=instruction.lookups, row=row)


@lane_steps.register
def _hash_hits(instruction: HashHits) -> LaneSteps:
    i = instruction
    row = RowSteps(operations=1 + _PROBE_OPERATIONS * probes(i.keys))
    return LaneSteps(i.keys + i.lookups, operations=1, rows=i.lookups, row=row)


def row_cycles(row: RowSteps, lanes: int) -> int:
    """Cycles of one row besides its elements."""
    return row.reductions * (lanes - 1).bit_length() + row.multiplies + row.operations


def vector_cycles(steps: LaneSteps, lanes: int) -> int:
    """Cycles on `lanes` lanes, startup aside; a lower bound of the same work cut into tiles."""
    return -(-steps.elements // lanes) * steps.per_element + steps.rows * row_cycles(steps.row, lanes)


def lane_activities(steps: LaneSteps, lanes: int) -> Activities:
    """The countable actions of an instruction on `lanes` lanes."""
    multiplies = steps.elements * steps.requantisations + steps.rows * steps.row.multiplies
    row_operations = steps.rows * (row_cycles(steps.row, lanes) - steps.row.multiplies)
    return (
        (Action.VECTOR_MAC_U8, steps.elements * steps.macs),
        (Action.VECTOR_REQUANTISE, multiplies),
        (Action.VECTOR_OPERATION, steps.elements * steps.operations + row_operations),
    )


def peak_cycles(steps: LaneSteps, lanes: int) -> float:
    """Element steps divided by one step per lane and cycle: MACs and requantisations, all unavoidable."""
    return steps.elements * steps.per_element / lanes
