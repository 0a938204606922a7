"""Closed-form cycle counts of a systolic array with R rows and C columns.

A matrix product has M output pixels, K products per output and N output channels. Unused rows and columns
take part as zeros, so every fold costs the whole array.

Weight stationary: K lies over the rows, N over the columns, and a fold streams M pixels. Weights shift down
R registers; pixel m meets row r, column c in cycle m + r + c of its fold, so a fold that starts at s ends
at s + M + R + C - 2. Serial load: the next fold's weights enter when this one has drained. Hidden load:
every element has a second weight register. Row r of column c takes over its next weight as the new fold's
first pixel arrives, in cycle s + r + c, and that is when its second register is free again; so the weights
of the fold after enter column c from cycle s + c on, R of them, and that fold starts at s + max(M, R).

Output stationary: M lies over the rows, N over the columns, and a fold streams K products in K + R + C - 2
cycles. Serial: the next fold starts after the last product. Hidden: the next fold follows the skewed wave.
Either way a finished column moves to a chain of R drain registers, which the next fold needs empty as its
own sums finish; so hidden folds follow each other by max(K, R).

Output stage: the sums of a column fold (its last K fold, if weight stationary) leave the array one pixel
after the other, column c delayed by c cycles, and pass in this order through a stage that takes
`output_elements_per_cycle`. The array works on the next column fold meanwhile, in the other half of the
accumulators. Holding it back until the half it needs is drained delays only sums that the stage, busy until
then, could not have taken earlier: no total changes for arrays of up to 2R columns, and wider ones are
taken to have room for the skew. So waiting for the stage has no term of its own here.

All of this is checked, bits and cycles, against a model of every register (tests/npu_sim/units).
"""

import dataclasses
import functools
from collections.abc import Iterator
from typing import NamedTuple

from isa.target import Dataflow


@dataclasses.dataclass(frozen=True, slots=True)
class ArrayShape:
    """One matrix unit as its timing sees it.

    `hidden_load`: weight stationary, the next weights load behind the running fold; output stationary, the
    next fold follows before the running one has left the array.
    """

    rows: int
    cols: int
    dataflow: Dataflow
    hidden_load: bool
    output_elements_per_cycle: int

    def __post_init__(self) -> None:
        for name in ("rows", "cols", "output_elements_per_cycle"):
            value = getattr(self, name)
            if value < 1:
                raise ValueError(f"matrix unit: {name} is {value}, must be at least 1")


class ConvolveCycles(NamedTuple):
    """Cycles of one matrix product.

    `array_cycles`: the array is occupied. `output_cycles`: the output stage is busy. `total_cycles`: from
    the first weight or product that enters until the last result has left the output stage.
    """

    array_cycles: int
    output_cycles: int
    total_cycles: int


class _ColumnFold(NamedTuple):
    """Sums that reach the output stage together: element (m, c) is there in cycle first + m + c."""

    first_cycle: int
    pixels: int
    channels: int


def fold_count(shape: ArrayShape, pixels: int, depth: int, channels: int) -> int:
    """Passes of the array that an M x K x N product takes."""
    _check_product(pixels, depth, channels)
    unrolled = depth if shape.dataflow is Dataflow.WEIGHT_STATIONARY else pixels
    return -(-unrolled // shape.rows) * -(-channels // shape.cols)


def array_cycles(shape: ArrayShape, pixels: int, depth: int, channels: int) -> int:
    """Cycles an M x K x N product (pixels, depth, channels) occupies the array.

    Weight stationary: until the whole array has drained. Output stationary: until the last product; the
    drain of the last fold is not the array's.
    """
    folds = fold_count(shape, pixels, depth, channels)
    start, step = _first_fold(shape), _fold_step(shape, pixels, depth)
    return start + (folds - 1) * step + _stream(shape, pixels, depth) + shape.rows + shape.cols - 2


@functools.lru_cache(maxsize=16384)
def convolve_cycles(shape: ArrayShape, pixels: int, depth: int, channels: int) -> ConvolveCycles:
    """Cycles of an M x K x N product (pixels, depth, channels) whose sums go through the output stage.

    The stage takes elements in order, at most `output_elements_per_cycle` = E in a cycle and none before it
    has left the array; so it ends at the largest, over all elements, of arrival + ceil(remaining / E), the
    element itself included. Within a column fold this is largest for the last column of the first pixel
    (E < columns) or of the last one. A weight-stationary array with E >= columns never waits: total = array.
    An output-stationary one is followed by the drain of its last fold, which takes R cycles more.
    """
    array = array_cycles(shape, pixels, depth, channels)
    rate = shape.output_elements_per_cycle
    remaining = pixels * channels
    output = -(-remaining // rate)
    total = array
    for fold in _column_folds(shape, pixels, depth, channels):
        first_left = remaining - fold.channels + 1
        last_left = remaining - fold.pixels * fold.channels + 1
        last_column = fold.first_cycle + fold.channels - 1
        total = max(
            total,
            last_column - -first_left // rate,
            last_column + fold.pixels - 1 - -last_left // rate,
        )
        remaining -= fold.pixels * fold.channels
    return ConvolveCycles(array, output, total)


def mapped_bound_cycles(shape: ArrayShape, pixels: int, depth: int, channels: int) -> int:
    """Fewest cycles a layer of M x K x N occupies units of this shape, summed over its tiles.

    A true lower bound however the layer is cut along M, K and N, over as many units as there are: a cut
    never saves a fold and never shortens a stream below its floor, and adds a fill; and every output passes
    the output stage once.
    """
    output = -(-pixels * channels // shape.output_elements_per_cycle)
    return max(array_cycles(shape, pixels, depth, channels), output)


def peak_cycles(shape: ArrayShape, pixels: int, depth: int, channels: int) -> float:
    """M x K x N products divided by R x C products per cycle."""
    _check_product(pixels, depth, channels)
    return pixels * depth * channels / (shape.rows * shape.cols)


def _check_product(pixels: int, depth: int, channels: int) -> None:
    if min(pixels, depth, channels) < 1:
        raise ValueError(
            f"matrix product of {pixels} pixels x {depth} products x {channels} channels: "
            "each must be at least 1"
        )


def _first_fold(shape: ArrayShape) -> int:
    """Cycle in which the first stream starts: stationary weights load first."""
    return shape.rows if shape.dataflow is Dataflow.WEIGHT_STATIONARY else 0


def _stream(shape: ArrayShape, pixels: int, depth: int) -> int:
    """Operands that one fold streams past a row."""
    return pixels if shape.dataflow is Dataflow.WEIGHT_STATIONARY else depth


def _fold_step(shape: ArrayShape, pixels: int, depth: int) -> int:
    """Cycles from the start of one fold's stream to the start of the next one's."""
    stream = _stream(shape, pixels, depth)
    if shape.hidden_load:
        return max(stream, shape.rows)
    return _first_fold(shape) + stream + shape.rows + shape.cols - 2


def _column_folds(shape: ArrayShape, pixels: int, depth: int, channels: int) -> Iterator[_ColumnFold]:
    """Groups of finished sums in the order in which they leave the array; channels outside, pixels inside."""
    step = _fold_step(shape, pixels, depth)
    if shape.dataflow is Dataflow.WEIGHT_STATIONARY:
        depth_folds = -(-depth // shape.rows)
        first = _first_fold(shape) + (depth_folds - 1) * step + shape.rows - 1
        for channel in range(0, channels, shape.cols):
            yield _ColumnFold(first, pixels, min(shape.cols, channels - channel))
            first += depth_folds * step
        return
    # The bottom row leaves first, in the cycle after the last sum of its column is finished: K - 1 + R.
    first = depth - 1 + shape.rows
    for channel in range(0, channels, shape.cols):
        for pixel in range(0, pixels, shape.rows):
            used = min(shape.rows, pixels - pixel)
            yield _ColumnFold(first + shape.rows - used, used, min(shape.cols, channels - channel))
            first += step
