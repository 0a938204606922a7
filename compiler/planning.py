"""A plan: where everything lives, how every layer is tiled, and the tasks that follow from it."""

import dataclasses
from collections.abc import Callable

from compiler.errors import PlacementError, TileCountError
from compiler.lower import LoweredGraph
from compiler.memory_plan.sram_map import align
from compiler.memory_plan.storage import (
    DramLayout,
    PlacedArray,
    Storage,
    TensorPlaces,
    choose_sram_storages,
    collect_storages,
    place_tensors,
)
from compiler.options import CompileOptions, Objective
from compiler.schedule.builder import MAX_TILES, TaskBuilder, misfit_message, tile_count_message
from compiler.schedule.stage_tasks import add_stage
from compiler.schedule.tasks import Task
from compiler.stage import CostModel, Stage, Tile
from compiler.tiling.search import StageHomes, TileSearch
from compiler.tiling.tiling import constant_bytes
from isa.target import Target

_RESERVE_PARTS = 8
"""At each layer at least one part in so many of SRAM is kept for what streams through it."""

_SRAM_STEPS_BYTES = tuple(sorted(part << shift for part in (2, 3) for shift in range(13, 24)))
"""SRAM sizes, two per octave from 16 KiB, for which plans are tried when traffic is minimised: a plan for a
smaller SRAM fits a larger one, so from one of these sizes to the next the best of all never gets worse."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A complete set of tasks. `dram_bytes` is their traffic, whole bursts."""

    tasks: list[Task]
    constants: list[PlacedArray]
    layout: DramLayout
    places: TensorPlaces
    dram_bytes: int


Progress = Callable[[int, int], None]
"""Called with the layers planned so far and the layers in all; a plan may start over."""


class _OverLimitError(Exception):
    """A plan under construction already moves more bytes than another one."""


def best_plan(
    lowered: LoweredGraph,
    target: Target,
    cost: CostModel,
    options: CompileOptions,
    progress: Progress | None = None,
) -> Plan:
    """The plan for the whole SRAM; for the objective BYTES the one with least traffic among all SRAM sizes.

    Raises PlacementError if a tensor cannot be tiled into the SRAM, TileCountError if the network takes
    too many tiles.
    """
    search = TileSearch(target=target, cost=cost, options=options)
    _check_feasible(lowered, target, search)
    best = _plan(lowered, target, search, options, None, progress)
    if options.objective is not Objective.BYTES:
        return best
    for size in reversed(_SRAM_STEPS_BYTES):
        if size >= target.sram_bytes:
            continue
        smaller = dataclasses.replace(target, sram_bytes=size)
        try:
            other = _plan(lowered, smaller, search, options, best.dram_bytes)
        except _OverLimitError:
            continue
        except (PlacementError, TileCountError):
            break
        if other.dram_bytes < best.dram_bytes:
            best = other
    return best


def _plan(
    lowered: LoweredGraph,
    target: Target,
    search: TileSearch,
    options: CompileOptions,
    limit_bytes: int | None,
    progress: Progress | None = None,
) -> Plan:
    """Place and tile everything; storages that stand in the way of a layer's tiles move to DRAM.

    Raises _OverLimitError as soon as the traffic is bound to exceed `limit_bytes`.
    """
    banned: frozenset[int] = frozenset()
    reserves = [_reserve(stage, target) for stage in lowered.stages]
    while True:
        layout = DramLayout()
        places = place_tensors(lowered, layout, options)
        storages = collect_storages(lowered, layout, places)
        addresses = choose_sram_storages(storages, reserves, target.sram_bytes, banned)
        builder = TaskBuilder(lowered, storages, addresses, layout, target, search)
        blocked = _add_stages(builder, lowered.stages, limit_bytes, progress)
        if blocked is None:
            return Plan(
                tasks=builder.tasks,
                constants=builder.constants,
                layout=layout,
                places=places,
                dram_bytes=builder.dram_bytes,
            )
        stage, error = blocked
        victim = _largest_alive(storages, addresses, stage)
        if victim is None:
            raise error
        banned |= {victim}


def _add_stages(
    builder: TaskBuilder,
    stages: tuple[Stage, ...],
    limit_bytes: int | None,
    progress: Progress | None,
) -> tuple[int, PlacementError] | None:
    """Add every stage; the number of the first that does not fit, and why, or None."""
    remaining = sum(c.array.nbytes for stage in stages for c in stage.constants)
    for index, stage in enumerate(stages):
        try:
            add_stage(builder, index, stage)
        except PlacementError as error:
            return index, error
        if progress is not None:
            progress(index + 1, len(stages))
        remaining -= sum(c.array.nbytes for c in stage.constants)
        if limit_bytes is not None and builder.dram_bytes + remaining > limit_bytes:
            raise _OverLimitError
    return None


def _check_feasible(lowered: LoweredGraph, target: Target, search: TileSearch) -> None:
    """Refuse, before any search, a layer whose smallest tile exceeds the whole SRAM, and too many tiles."""
    tiles = sum(search.fewest_tiles(stage) for stage in lowered.stages)
    if tiles > MAX_TILES:
        raise TileCountError(tile_count_message("the network", tiles))
    for stage in lowered.stages:
        homes = StageHomes(inputs_in_dram=(True,) * len(stage.inputs), output_in_dram=True)
        needed = search.smallest_workspace(stage, homes)
        if needed > target.sram_bytes:
            raise PlacementError(misfit_message(lowered, stage, needed, target.sram_bytes, target))


def _reserve(stage: Stage, target: Target) -> int:
    """SRAM to keep free for a stage: two of its smallest constant chunks, or some room to stream them."""
    if not stage.constants:
        return 0
    channels = min(stage.domain[3], max(stage.channel_step, target.array_cols))
    tile = Tile(0, 0, 1, 0, 1, 0, channels, 0, stage.reduction)
    total = sum(align(c.array.nbytes) for c in stage.constants)
    return min(total, max(2 * constant_bytes(stage, tile), target.sram_bytes // _RESERVE_PARTS))


def _largest_alive(storages: dict[int, Storage], addresses: dict[int, int], stage: int) -> int | None:
    alive = [r for r in addresses if storages[r].first <= stage <= storages[r].last]
    return max(alive, key=lambda r: (storages[r].size_bytes, r), default=None)
