"""Storages: the buffers that tensors live in, and the decision which of them live in SRAM.

A storage holds one tensor and its views. In SRAM it has one address for its whole life; in DRAM the
stages bring tiles of it in and out. Storages that exist in DRAM anyway (inputs, outputs, constants,
kept tensors) have DRAM places besides.
"""

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.lower import LoweredGraph
from compiler.memory_plan.sram_map import ALIGNMENT_BYTES, align
from compiler.options import CompileOptions
from isa.dtypes import Region

DRAM_ALIGNMENT_BYTES = 64
"""Tensors in DRAM start at multiples of this: no burst of common DRAMs serves two of them."""


@dataclasses.dataclass(frozen=True, slots=True)
class DramPlace:
    """A place in a DRAM region."""

    region: Region
    offset_bytes: int


class PlacedArray(NamedTuple):
    """A constant and where it starts in the CONSTANTS region; the program has the first copy."""

    offset_bytes: int
    array: npt.NDArray[np.generic]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """One buffer. `first` and `last` are the stages between which it is alive, inclusive.

    `source` is where its bytes come from if no stage writes it; `sinks` are where they must end up.
    """

    root: int
    size_bytes: int
    first: int
    last: int
    source: DramPlace | None
    sinks: tuple[DramPlace, ...]

    @property
    def round_trip_bytes(self) -> int:
        """DRAM bytes it costs, beyond what must move anyway, to keep the storage in DRAM."""
        written = 0 if self.source or self.sinks else self.size_bytes
        return written + self.size_bytes


class DramLayout:
    """Hands out places in the DRAM regions, one after the other."""

    def __init__(self) -> None:
        self.region_bytes: dict[Region, int] = dict.fromkeys(Region, 0)

    def place(self, region: Region, size_bytes: int) -> DramPlace:
        """The next free place of a region."""
        offset = self.region_bytes[region]
        self.region_bytes[region] = offset + align(size_bytes, DRAM_ALIGNMENT_BYTES)
        return DramPlace(region, offset)


@dataclasses.dataclass(frozen=True, slots=True)
class TensorPlaces:
    """DRAM places of the tensors that are visible from outside, by operand."""

    inputs: dict[int, DramPlace]
    outputs: dict[int, DramPlace]
    kept: dict[int, DramPlace]


def place_tensors(lowered: LoweredGraph, layout: DramLayout, options: CompileOptions) -> TensorPlaces:
    """Places for inputs and outputs, in model order, and for kept tensors."""
    graph = lowered.graph

    def place(region: Region, operands: Iterable[int]) -> dict[int, DramPlace]:
        return {o: layout.place(region, graph.operands[o].type.size_bytes) for o in operands}

    made = dict.fromkeys(stage.output.tensor for stage in lowered.stages)
    kept = [o for o in made if o not in graph.outputs] if options.keep_tensors else []
    return TensorPlaces(
        place(Region.INPUT, graph.inputs), place(Region.OUTPUT, graph.outputs), place(Region.SCRATCH, kept)
    )


def collect_storages(lowered: LoweredGraph, layout: DramLayout, places: TensorPlaces) -> dict[int, Storage]:
    """All storages that a stage touches, by root operand; constants get places in DRAM."""
    graph, storage_of = lowered.graph, lowered.storage_of
    lives: dict[int, list[int]] = {}
    for index, stage in enumerate(lowered.stages):
        for operand in (*(i.tensor for i in stage.inputs), stage.output.tensor):
            lives.setdefault(storage_of[operand], []).append(index)
    sinks: dict[int, list[DramPlace]] = {}
    for operand, place in (*places.outputs.items(), *places.kept.items()):
        sinks.setdefault(storage_of[operand], []).append(place)
    storages = {}
    for root, stages in lives.items():
        type_ = graph.operands[root].type
        source = places.inputs.get(root)
        if graph.operands[root].is_constant:
            source = layout.place(Region.CONSTANTS, type_.size_bytes)
        storages[root] = Storage(
            root=root,
            size_bytes=type_.size_bytes,
            first=min(stages),
            last=max(stages),
            source=source,
            sinks=tuple(sinks.get(root, ())),
        )
    return storages


def choose_sram_storages(
    storages: dict[int, Storage], reserve_bytes: list[int], capacity_bytes: int, banned: frozenset[int]
) -> dict[int, int]:
    """Addresses of the storages that live in SRAM; the others live in DRAM.

    At every stage the storages in SRAM leave at least `reserve_bytes[stage]` free. Where too much is
    alive, the storage whose stay in DRAM costs the fewest bytes goes; `banned` ones never enter.
    """
    chosen = {root: s for root, s in storages.items() if root not in banned and s.size_bytes}
    for stage, reserve in enumerate(reserve_bytes):
        while True:
            alive = [s for s in chosen.values() if s.first <= stage <= s.last]
            excess = sum(align(s.size_bytes) for s in alive) + reserve - capacity_bytes
            if excess <= 0 or not alive:
                break
            del chosen[_cheapest(alive, excess).root]
    while True:
        addresses, misfit = _assign(list(chosen.values()), capacity_bytes)
        if misfit is None:
            return addresses
        del chosen[misfit.root]


def _cheapest(alive: list[Storage], excess: int) -> Storage:
    enough = [s for s in alive if s.size_bytes >= excess]
    return min(enough or alive, key=lambda s: (s.round_trip_bytes / s.size_bytes, s.round_trip_bytes, s.root))


def _assign(chosen: list[Storage], capacity_bytes: int) -> tuple[dict[int, int], Storage | None]:
    """Lowest free address for each storage, largest first; and the first one that does not fit."""
    placed: list[tuple[int, int, Storage]] = []
    addresses: dict[int, int] = {}
    for storage in sorted(chosen, key=lambda s: (-s.size_bytes, s.first, s.root)):
        address = 0
        for start, end, other in sorted(placed, key=lambda p: p[0]):
            together = other.first <= storage.last and storage.first <= other.last
            if together and start < address + storage.size_bytes and end > address:
                address = end
        end = align(address + storage.size_bytes)
        if end > capacity_bytes // ALIGNMENT_BYTES * ALIGNMENT_BYTES:
            return {}, storage
        placed.append((address, end, storage))
        addresses[storage.root] = address
    return addresses, None
