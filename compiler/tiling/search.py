"""Choice of a tiling: every candidate that fits is costed with the machine's own closed forms."""

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from compiler.memory_plan.sram_map import align
from compiler.options import CompileOptions, Objective
from compiler.stage import Access, Box, CostModel, Shape4, Stage, Tile
from compiler.tiling.tiling import LoopOrder, Tiling, constant_bytes
from isa.instruction import Instruction, UnitKind
from isa.target import Target

_PARTS = (1, 2, 3, 4, 5, 7, 8, 12, 14, 16, 24, 28, 32, 56, 64, 128, 256)
_INSTRUCTION_BYTES = 192
"""Code a tile costs, roughly: its instruction, a transfer and their synchronisation."""
_RUN_BYTES = 64
"""Shorter runs in DRAM cost as much as this (a burst of common DRAMs)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StageHomes:
    """Where a stage's tensors live: True for those in DRAM, which need tile buffers."""

    inputs_in_dram: tuple[bool, ...]
    output_in_dram: bool
    output_is_read: bool = True
    """False if no later stage reads the output: then nothing but memory can overlap with the work."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A tiling with its costs."""

    tiling: Tiling
    workspace_bytes: int
    traffic_bytes: int
    compute_cycles: int
    tile_cycles: int
    tiles: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TileSearch:
    """Chooses tilings for one target."""

    target: Target
    cost: CostModel
    options: CompileOptions
    _known: dict[Hashable, list[Candidate]] = dataclasses.field(default_factory=dict)

    def best(self, stage: Stage, homes: StageHomes, budget_bytes: int) -> Candidate | None:
        """The best candidate whose workspace fits the budget; None if none fits."""
        fitting = [c for c in self._ranked(stage, homes) if c.workspace_bytes <= budget_bytes]
        return fitting[0] if fitting else None

    def smallest_workspace(self, stage: Stage, homes: StageHomes) -> int:
        """Workspace of the smallest tiles, whether or not they fit."""
        height, width = min(self._spatial(stage))
        channels = min(self._channels(stage))
        reduction = min(self._reductions(stage, height * width, channels))
        cut = _cut(stage, height, width, channels, reduction)
        return min(cost.workspace_bytes for order in LoopOrder for cost in cut.costs(order, homes))

    def fewest_tiles(self, stage: Stage) -> int:
        """A lower bound of a stage's tiles: the image in the largest parts that the machine takes."""
        n, h, w, _ = stage.domain
        return n * min(-(-h // height) * -(-w // width) for height, width in self._spatial(stage))

    def _ranked(self, stage: Stage, homes: StageHomes) -> list[Candidate]:
        """All candidates, best first. Stages of equal shape share them."""
        key = (stage.kind, stage.domain, stage.shape_key or stage, homes)
        if key not in self._known:
            exposed = homes.output_is_read
            self._known[key] = sorted(
                self.candidates(stage, homes), key=lambda candidate: self._score(candidate, exposed)
            )
        return self._known[key]

    def _score(self, candidate: Candidate, output_is_read: bool) -> tuple[float, ...]:
        """Fewest cycles first, or fewest bytes.

        What waits for the first tile (a later stage, or the memories if there is none) waits the longer the
        larger the tile: that much of the work is not overlapped.
        """
        moved_bytes = candidate.traffic_bytes + candidate.tiles * _INSTRUCTION_BYTES
        memory_cycles = self.cost.dram_cycles(moved_bytes)
        waiting = candidate.tile_cycles if output_is_read else min(candidate.tile_cycles, memory_cycles)
        cycles = candidate.compute_cycles + waiting + memory_cycles
        tie = (candidate.workspace_bytes, candidate.tiles)
        if self.options.objective is Objective.BYTES:
            return (candidate.traffic_bytes, cycles, *tie)
        return (cycles, candidate.traffic_bytes, *tie)

    def candidates(self, stage: Stage, homes: StageHomes) -> Iterator[Candidate]:
        """All candidates; the reduction is only cut as far as given by `_reductions`."""
        for height, width in self._spatial(stage):
            for channels in self._channels(stage):
                for reduction in self._reductions(stage, height * width, channels):
                    yield from self._orders(stage, homes, height, width, channels, reduction)

    def _spatial(self, stage: Stage) -> Iterator[tuple[int, int]]:
        """Heights and widths; the width is cut only where single rows are too long."""
        limits = self.options.tile_limits
        _, h, w, _ = stage.domain
        max_pixels = self.target.max_tile_pixels if stage.kind is UnitKind.MATRIX else None
        max_height, max_width = limits.height or h, limits.width or w
        widths = [min(w, max_width)]
        if max_pixels is not None:
            widths = [min(widths[0], max_pixels)]
        seen = set()
        for height in _cuts(h, stage.height_step, max_height):
            fits = max_pixels is None or height * widths[0] <= max_pixels
            if not fits:
                height = max(1, (max_pixels or 1) // widths[0])
            seen.add((height, widths[0]))
        if stage.width_step:
            seen.update((1, width) for width in _cuts(w, stage.width_step, widths[0]))
        yield from sorted(seen, reverse=True)

    def _channels(self, stage: Stage) -> list[int]:
        channels = stage.domain[3]
        if not stage.channel_step:
            return [channels]
        step = stage.channel_step
        if stage.kind is UnitKind.MATRIX:
            step = math.lcm(step, min(self.target.array_cols, channels))
        limit = self.options.tile_limits.channels or channels
        sizes = _cuts(channels, step, limit)
        if stage.kind is UnitKind.MATRIX and self.options.tile_limits.channels:
            sizes = sorted({*sizes, *_cuts(channels, stage.channel_step, limit)}, reverse=True)
        return sizes

    def _reductions(self, stage: Stage, pixels: int, channels: int) -> list[int]:
        """Cuts of the reduction: sums that stay in the accumulators limit pixels and channels."""
        limit = self.options.tile_limits.reduction or stage.reduction
        whole = [stage.reduction] if limit >= stage.reduction else []
        if stage.reduction == 1:
            return [1]
        if pixels > self.target.max_partial_pixels or channels > self.target.array_cols:
            return whole
        return sorted({*whole, *_cuts(stage.reduction, stage.reduction_step, limit)}, reverse=True)

    def _orders(
        self, stage: Stage, homes: StageHomes, height: int, width: int, channels: int, reduction: int
    ) -> Iterator[Candidate]:
        shape = _cut(stage, height, width, channels, reduction)
        costs = [
            cost
            for order in LoopOrder
            for cost in shape.costs(order, homes)
            if cost.workspace_bytes <= self.target.sram_bytes
        ]
        if not costs:
            return
        cycles = self.cost.cycles(_representative(stage, homes, shape.tile))
        units = self.target.matrix_units if stage.kind is UnitKind.MATRIX else self.target.vector_units
        chains = shape.spatial * shape.slices
        for cost in costs:
            yield Candidate(
                tiling=Tiling(
                    height=height,
                    width=width,
                    channels=channels,
                    reduction=reduction,
                    order=cost.order,
                    hold_constants=cost.hold_constants,
                ),
                workspace_bytes=cost.workspace_bytes,
                traffic_bytes=cost.traffic_bytes,
                compute_cycles=-(-chains // units) * shape.parts * cycles,
                tile_cycles=cycles * shape.parts,
                tiles=chains * shape.parts,
            )


class _MemoryCost(NamedTuple):
    """What a loop order, with or without constants held, needs of SRAM and DRAM."""

    order: LoopOrder
    hold_constants: bool
    workspace_bytes: int
    traffic_bytes: int


class _Cut:
    """Loop counts of a cut stage, and how often something that depends on some loops is loaded."""

    def __init__(
        self, stage: Stage, tile: Tile, height: int, width: int, channels: int, reduction: int
    ) -> None:
        n, h, w, c = stage.domain
        self.stage = stage
        self.tile = tile
        self.spatial = n * -(-h // height) * -(-w // width)
        self.slices = -(-c // channels)
        self.parts = -(-stage.reduction // reduction)

    def costs(self, order: LoopOrder, homes: StageHomes) -> Iterator[_MemoryCost]:
        """Costs of a loop order; none if it is the same as the other one."""
        if order is LoopOrder.CHANNEL_OUTER and (self.slices == 1 or self.spatial == 1):
            return
        stage, tile = self.stage, self.tile
        staged = traffic = 0
        for item, in_dram in zip(stage.inputs, homes.inputs_in_dram, strict=True):
            if in_dram:
                box = item.footprint(tile)
                loads = self.loads(order, self.dependence(item.footprint))
                staged += align(box.elements * item.element_bytes) * min(2, loads)
                traffic += _padded_runs(box, item.shape, item.element_bytes) * loads
        if homes.output_in_dram:
            staged += 2 * align(tile.height * tile.width * tile.channels * stage.output.element_bytes)
            traffic += _run_cost(stage, tile) * self.spatial * self.slices
        loads, chunks = self.constant_loads(order)
        chunk, total = constant_bytes(stage, tile), _whole_constant_bytes(stage)
        held = total if order is LoopOrder.SPATIAL_OUTER else chunk * min(chunks, self.parts + 1)
        yield _MemoryCost(order, True, staged + held, traffic + total)
        passing = chunk * min(2, chunks)
        if loads > chunks or passing < held:
            reloaded = total * loads // max(1, chunks)
            yield _MemoryCost(order, False, staged + passing, traffic + reloaded)

    def loads(self, order: LoopOrder, depends: str) -> int:
        """Loads of what depends on the loops named: s(patial), c(hannels), k.

        It stays in SRAM while consecutive tiles share it, so it is loaded again at each turn of every
        loop outside the innermost one it depends on.
        """
        loops = [("s", self.spatial), ("c", self.slices), ("k", self.parts)]
        if order is LoopOrder.CHANNEL_OUTER:
            loops[:2] = loops[1::-1]
        loads = turns = 1
        for name, count in loops:
            turns *= count
            if name in depends and count > 1:
                loads = turns
        return loads

    def dependence(self, footprint: Callable[[Tile], Box]) -> str:
        """The loops that a footprint depends on, found by moving the tile."""
        tile, here = self.tile, footprint(self.tile)
        c = tile.c1 if tile.c1 < self.stage.domain[3] else 0
        k = tile.k1 if tile.k1 < self.stage.reduction else 0
        moved = {
            "s": tile._replace(n=1, h0=0, h1=1, w0=0, w1=1),
            "c": tile._replace(c0=c, c1=c + 1),
            "k": tile._replace(k0=k, k1=k + 1),
        }
        return "".join(name for name, other in moved.items() if footprint(other) != here)

    def constant_loads(self, order: LoopOrder) -> tuple[int, int]:
        """Loads of constant chunks that are dropped after use, and the number of distinct chunks."""
        by_channel = any(c.channel_axis is not None for c in self.stage.constants)
        by_reduction = any(c.reduction_axis is not None for c in self.stage.constants)
        depends = ("c" if by_channel else "") + ("k" if by_reduction else "")
        chunks = (self.slices if by_channel else 1) * (self.parts if by_reduction else 1)
        return self.loads(order, depends), chunks


def _cut(stage: Stage, height: int, width: int, channels: int, reduction: int) -> _Cut:
    """A cut with its typical tile: the second along each axis, where there is one, has a full halo."""
    _, h, w, _ = stage.domain
    h0, w0 = (height if 2 * height <= h else 0), (width if 2 * width <= w else 0)
    tile = Tile(0, h0, h0 + height, w0, w0 + width, 0, channels, 0, reduction)
    return _Cut(stage, tile, height, width, channels, reduction)


def _cuts(extent: int, step: int, limit: int) -> list[int]:
    """Sizes, descending, that cut `extent` into nearly equal parts, in multiples of `step`."""
    if not step:
        return [extent]
    sizes = {min(extent, align(-(-extent // parts), step)) for parts in _PARTS if parts <= extent}
    smallest = min(extent, step)
    sizes = {size for size in sizes if size <= limit} | {max(smallest, min(extent, limit // step * step))}
    return sorted({*sizes, smallest}, reverse=True)


def _representative(stage: Stage, homes: StageHomes, tile: Tile) -> Instruction:
    """The tile's instruction as the cost model needs it: the layouts are right, the addresses are not."""
    accesses = tuple(
        _layout(i.footprint(tile).shape if in_dram else i.shape, i.element_bytes)
        for i, in_dram in zip(stage.inputs, homes.inputs_in_dram, strict=True)
    )
    tile_shape = (1, tile.height, tile.width, tile.channels)
    output_shape = tile_shape if homes.output_in_dram else stage.output.shape
    output = _layout(output_shape, stage.output.element_bytes)
    return stage.emit(tile, 1, accesses, output, (0,) * len(stage.constants))


def _layout(shape: Shape4, element_bytes: int) -> Access:
    """Pitches of a row-major image."""
    _, height, width, channels = shape
    pixel = channels * element_bytes
    return Access(0, height * width * pixel, width * pixel, pixel)


def _whole_constant_bytes(stage: Stage) -> int:
    return sum(align(c.array.nbytes) for c in stage.constants)


def _run_cost(stage: Stage, tile: Tile) -> int:
    box = Box(0, 1, 0, tile.height, 0, tile.width, 0, tile.channels)
    return _padded_runs(box, stage.output.shape, stage.output.element_bytes)


def _padded_runs(box: Box, shape: Shape4, element_bytes: int) -> int:
    """DRAM bytes of a box, each contiguous run counted with at least a burst."""
    run, runs = box.c1 - box.c0, box.elements // max(1, box.c1 - box.c0)
    if run == shape[3]:
        run, runs = run * (box.w1 - box.w0), (box.n1 - box.n0) * (box.h1 - box.h0)
        if box.w1 - box.w0 == shape[2]:
            run, runs = run * (box.h1 - box.h0), box.n1 - box.n0
    return runs * max(run * element_bytes, _RUN_BYTES)
