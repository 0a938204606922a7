"""Stages: what an operation lowers to, before it is tiled.

A stage is one loop nest over an output image (n, h, w, c), done tile by tile on one kind of unit. It says
which part of each input a tile needs, which constants, and how a tile becomes an instruction. Tiling,
memory planning and scheduling work on stages only; they know no operation.
"""

import dataclasses
import math
from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from isa.instruction import Instruction, UnitKind
from isa.target import Target

Shape4 = tuple[int, int, int, int]


class Tile(NamedTuple):
    """Half-open ranges of one tile: output image n, rows, columns, channels; k is the reduction range."""

    n: int
    h0: int
    h1: int
    w0: int
    w1: int
    c0: int
    c1: int
    k0: int = 0
    k1: int = 1

    @property
    def height(self) -> int:
        """Output rows."""
        return self.h1 - self.h0

    @property
    def width(self) -> int:
        """Output columns."""
        return self.w1 - self.w0

    @property
    def channels(self) -> int:
        """Output channels."""
        return self.c1 - self.c0


class Box(NamedTuple):
    """Half-open ranges of a four-dimensional part of a tensor."""

    n0: int
    n1: int
    h0: int
    h1: int
    w0: int
    w1: int
    c0: int
    c1: int

    @property
    def shape(self) -> Shape4:
        """Extents."""
        return (self.n1 - self.n0, self.h1 - self.h0, self.w1 - self.w0, self.c1 - self.c0)

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


def same_place(tile: Tile) -> Box:
    """The tile itself, as a part of an image of the stage's domain."""
    return Box(tile.n, tile.n + 1, tile.h0, tile.h1, tile.w0, tile.w1, tile.c0, tile.c1)


class Access(NamedTuple):
    """Where the first element of a box lies in SRAM, and the byte pitches around it."""

    address: int
    batch_pitch: int
    row_pitch: int
    pixel_pitch: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StageInput:
    """A tensor that a stage reads.

    `tensor` is an operand number; `shape` is how this stage sees the tensor (same elements, row-major);
    `footprint` gives the part a tile needs, clipped to the tensor.
    """

    tensor: int
    shape: Shape4
    footprint: Callable[[Tile], Box]
    element_bytes: int = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StageOutput:
    """The tensor that a stage writes.

    `shape` is how this stage sees the whole tensor; `box` gives the part of it that a tile writes. Boxes
    of different tiles do not meet.
    """

    tensor: int
    shape: Shape4
    box: Callable[[Tile], Box] = same_place
    element_bytes: int = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StageConstant:
    """A constant array that a stage needs in SRAM.

    A tile needs the slice [c0:c1] of `channel_axis` and [k0:k1] of `reduction_axis`, where given.
    """

    array: npt.NDArray[np.generic]
    channel_axis: int | None = None
    reduction_axis: int | None = None

    def part(self, tile: Tile) -> npt.NDArray[np.generic]:
        """The slice that a tile needs."""
        index = [slice(None)] * self.array.ndim
        if self.channel_axis is not None:
            index[self.channel_axis] = slice(tile.c0, tile.c1)
        if self.reduction_axis is not None:
            index[self.reduction_axis] = slice(tile.k0, tile.k1)
        return self.array[tuple(index)]


class Emit(Protocol):
    """Makes the instruction of one tile."""

    def __call__(
        self,
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        """`inputs` locate the footprints in the order of Stage.inputs, `constants` are SRAM addresses."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """One loop nest.

    `domain` is the output image it computes; `reduction` the extent of k (1: nothing to split). Tiles cut
    h freely, w and c in multiples of the steps (0: never cut), k in multiples of `reduction_step`.
    `operation` is the number of the graph operation it belongs to.
    """

    operation: int
    kind: UnitKind
    domain: Shape4
    reduction: int = 1
    height_step: int = 1
    width_step: int = 1
    channel_step: int = 1
    reduction_step: int = 1
    inputs: tuple[StageInput, ...]
    output: StageOutput
    constants: tuple[StageConstant, ...] = ()
    emit: Emit
    macs: int = 0
    clamp: tuple[int, int] | None = None
    """Set if the stage only clamps raw values of its one input: fusion may move that into its producer."""
    shape_key: Hashable = None
    """Stages with equal domains and equal keys tile alike; None: like no other stage."""
    can_clamp: bool = False
    """True if its instructions have clamp_min and clamp_max."""


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """`target` is the same bytes as `source` under another shape."""

    source: int
    target: int


class CostModel(Protocol):
    """What the compiler asks of a machine model; the simulator implements it with its units' closed forms."""

    def cycles(self, instruction: Instruction) -> int:
        """Cycles the instruction occupies its unit when nothing else disturbs it."""
        ...

    def peak_cycles(self, instruction: Instruction) -> float:
        """Work of the instruction divided by the peak rate of all units of its kind together."""
        ...

    def mapped_cycles(self, instruction: Instruction) -> float:
        """A lower bound of the same, with the best mapping this machine has, over all units of its kind."""
        ...

    def dram_bytes(self, instruction: Instruction) -> int:
        """DRAM bytes that a transfer moves, whole bursts; 0 for other instructions."""
        ...

    def dram_cycles(self, total_bytes: int) -> float:
        """Cycles DRAM needs for `total_bytes` at its sustained sequential rate."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LoweringContext:
    """What an operation may look at while it is lowered."""

    target: Target
    cost: CostModel
