"""Fragments: what must be brought to SRAM for a stage's tiles, from which tile to which."""

import dataclasses
from collections.abc import Hashable, Sequence

from compiler.memory_plan.sram_map import align
from compiler.stage import Box, Stage, Tile
from compiler.tiling.search import StageHomes
from compiler.tiling.tiling import Tiling, constant_bytes, constant_key


@dataclasses.dataclass(frozen=True, slots=True)
class Fragment:
    """A part of input `slot` (or the constants, slot None) that is in SRAM for steps [first, last]."""

    slot: int | None
    first: int
    last: int
    size_bytes: int
    box: Box | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class StageSteps:
    """The tiles of a stage in order, the fragments by first use, and the staging of outputs in DRAM.

    `constant_owner` gives for each step the first step that uses the same constants fragment;
    `staging` for each step that finishes an output tile its buffer size (0: output in SRAM).
    """

    tiles: tuple[Tile, ...]
    fragments: tuple[Fragment, ...]
    constant_owner: tuple[int, ...]
    staging: tuple[int, ...]


def plan_steps(stage: Stage, tiling: Tiling, homes: StageHomes) -> StageSteps:
    """Which fragments each tile of a stage needs under a tiling."""
    tiles = tuple(tiling.tiles(stage))
    fragments: list[Fragment] = []
    for slot, (item, in_dram) in enumerate(zip(stage.inputs, homes.inputs_in_dram, strict=True)):
        if not in_dram:
            continue
        boxes = [item.footprint(tile) for tile in tiles]
        for first, last in _runs(boxes):
            size = align(boxes[first].elements * item.element_bytes)
            fragments.append(Fragment(slot, first, last, size, boxes[first]))
    owner = [0] * len(tiles)
    if stage.constants:
        keys = [constant_key(stage, tile) for tile in tiles]
        spans = _spans(keys) if tiling.hold_constants else _runs(keys)
        fragments += [Fragment(None, a, b, constant_bytes(stage, tiles[a])) for a, b in spans]
        owners = {keys[a]: a for a, _ in spans} if tiling.hold_constants else {}
        starts = {a for a, _ in spans}
        for step in range(len(tiles)):
            owner[step] = owners.get(keys[step], step if step in starts else owner[step - 1])
    fragments.sort(key=lambda f: f.first)
    staging = tuple(
        align(stage.output.box(tile).elements * stage.output.element_bytes)
        if homes.output_in_dram and tile.k1 == stage.reduction
        else 0
        for tile in tiles
    )
    return StageSteps(tiles, tuple(fragments), tuple(owner), staging)


def _runs(keys: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Maximal ranges of equal consecutive keys."""
    starts = [i for i, key in enumerate(keys) if i == 0 or key != keys[i - 1]]
    return [(a, b - 1) for a, b in zip(starts, [*starts[1:], len(keys)], strict=True)]


def _spans(keys: Sequence[Hashable]) -> list[tuple[int, int]]:
    """First and last position of each key."""
    last = {key: i for i, key in enumerate(keys)}
    first: dict[Hashable, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    return [(i, last[key]) for key, i in first.items()]
