"""The tasks of one stage: loads, work and stores, tile by tile."""

import dataclasses
import math

from compiler.memory_plan.sram_map import align
from compiler.schedule.builder import Places, TaskBuilder
from compiler.schedule.fragments import Fragment, StageSteps
from compiler.schedule.tasks import STORE_LANE, STREAM_LANE, TILE_LANE, Buffer, Lane, Use
from compiler.schedule.transfers import (
    box_transfer,
    dense_access,
    range_transfer,
    whole_access,
    whole_parts,
)
from compiler.stage import Access, Stage, StageInput, Tile
from compiler.tiling.tiling import box_range
from isa.instructions.dma import Load, Store


def add_stage(builder: TaskBuilder, index: int, stage: Stage) -> None:
    """Place a stage and add its tasks; PlacementError if its tiles do not fit."""
    steps, places = builder.place_stage(index)
    _StageTasks(builder, index, stage, steps, places).make()


@dataclasses.dataclass(frozen=True, slots=True)
class _Placed:
    """A fragment's buffer and the layout of what is in it."""

    fragment: Fragment
    buffer: Buffer


class _StageTasks:
    """Makes the tasks of one stage."""

    def __init__(
        self, builder: TaskBuilder, index: int, stage: Stage, steps: StageSteps, places: Places
    ) -> None:
        self._builder = builder
        self._index = index
        self._stage = stage
        self._steps = steps
        self._places = places
        self._current: dict[int | None, list[_Placed]] = {}
        self._busy: dict[int, int] = {}

    def make(self) -> None:
        """Loads, work and stores, tile by tile."""
        unit, staged = 0, None
        for step, tile in enumerate(self._steps.tiles):
            for fragment, address in self._places.fragments.get(step, ()):
                self._load(fragment, address, tile)
            if step in self._places.staging:
                staged = self._builder.new_buffer(self._places.staging[step], self._steps.staging[step])
            if tile.k0 == 0:
                unit = self._builder.least_busy(self._stage.kind, self._busy)
            self._work(step, tile, unit, staged)
        if not self._stores_by_tile():
            self._store_whole()

    def _load(self, fragment: Fragment, address: int, tile: Tile) -> None:
        builder, stage = self._builder, self._stage
        buffer = builder.new_buffer(address, fragment.size_bytes)
        kept = [p for p in self._current.get(fragment.slot, ()) if p.fragment.last >= fragment.first]
        self._current[fragment.slot] = [*kept, _Placed(fragment, buffer)]
        lane = STREAM_LANE if fragment.slot is None else TILE_LANE
        mask = builder.channel_mask(lane)
        reads = []
        if fragment.slot is None:
            parts = [constant.part(tile) for constant in stage.constants]
            size_bytes = sum(align(part.nbytes) for part in parts)
            place = builder.add_constants(parts, size_bytes)
            instruction = range_transfer(Load, mask, 0, size_bytes, place, address)
        else:
            item, box = stage.inputs[fragment.slot], fragment.box
            assert box is not None
            place, source = builder.dram(item.tensor)
            access = dense_access(address, box, item.element_bytes)
            instruction = box_transfer(Load, mask, box, item.shape, item.element_bytes, place, access)
            low, high = box_range(box, item.shape, item.element_bytes)
            reads = [(source, Use(low, high, box, item.shape))]
        writes = [(buffer, Use(0, fragment.size_bytes))]
        builder.add(lane, instruction, self._index, reads, writes)

    def _work(self, step: int, tile: Tile, unit: int, staged: Buffer | None) -> None:
        builder, stage = self._builder, self._stage
        lane = Lane(stage.kind, unit)
        reads, accesses = [], []
        for slot, item in enumerate(stage.inputs):
            access, read = self._input(lane, step, slot, item, tile)
            accesses.append(access)
            reads.append(read)
        constants: list[int] = []
        if stage.constants:
            chunk = self._fragment(None, step)
            address = chunk.buffer.address
            for constant in stage.constants:
                constants.append(address)
                address += align(constant.part(tile).nbytes)
            reads.append((chunk.buffer, Use(0, chunk.fragment.size_bytes)))
        box, element = stage.output.box(tile), stage.output.element_bytes
        resident = builder.resident(stage.output.tensor)
        finishes = tile.k1 == stage.reduction
        writes = []
        if resident is not None:
            access = whole_access(resident[0], box, stage.output.shape, element)
            low, high = box_range(box, stage.output.shape, element)
            writes = [(resident[1], Use(low, high, box, stage.output.shape))]
        elif staged is not None and finishes:
            access = dense_access(staged.address, box, element)
            writes = [(staged, Use(0, staged.size_bytes))]
        else:
            access = dense_access(0, box, element)
        instruction = stage.emit(tile, 1 << unit, tuple(accesses), access, tuple(constants))
        self._busy[unit] = self._busy.get(unit, 0) + builder.cycles(instruction)
        builder.add(lane, instruction, self._index, reads, writes if finishes else [])
        if finishes:
            self._store_tile(tile, access, staged)

    def _input(
        self, lane: Lane, step: int, slot: int, item: StageInput, tile: Tile
    ) -> tuple[Access, tuple[Buffer, Use]]:
        resident = self._builder.resident(item.tensor)
        box = item.footprint(tile)
        if resident is None:
            placed = self._fragment(slot, step)
            access = dense_access(placed.buffer.address, box, item.element_bytes)
            return access, (placed.buffer, Use(0, placed.fragment.size_bytes))
        low, high = box_range(box, item.shape, item.element_bytes)
        self._builder.load_resident(item.tensor, high, self._index)
        access = whole_access(resident[0], box, item.shape, item.element_bytes)
        return access, (resident[1], Use(low, high, box, item.shape))

    def _fragment(self, slot: int | None, step: int) -> _Placed:
        """The fragment of a slot that serves a step."""
        if slot is None:
            owner = self._steps.constant_owner[step]
            return next(p for p in self._current[None] if p.fragment.first == owner)
        return next(p for p in self._current[slot] if p.fragment.first <= step <= p.fragment.last)

    def _stores_by_tile(self) -> bool:
        """True if each tile's part of the output is stored as soon as it is done."""
        resident = self._builder.resident(self._stage.output.tensor)
        tile = self._steps.tiles[0]
        _, _, width, channels = self._stage.output.shape
        rows_whole = tile.width == width and tile.channels == channels
        part_of_tensor = self._stage.domain != self._stage.output.shape
        return resident is None or rows_whole or part_of_tensor

    def _store_tile(self, tile: Tile, access: Access, staged: Buffer | None) -> None:
        builder, stage = self._builder, self._stage
        output = stage.output
        if not self._stores_by_tile():
            return
        resident = builder.resident(output.tensor)
        box = stage.output.box(tile)
        low, high = box_range(box, output.shape, output.element_bytes)
        places = builder.sinks(output.tensor)
        if resident is None and not places:
            places = (builder.dram(output.tensor)[0],)
        for place in places:
            mask = builder.channel_mask(STORE_LANE)
            store = box_transfer(Store, mask, box, output.shape, output.element_bytes, place, access)
            if resident is not None:
                read = (resident[1], Use(low, high, box, output.shape))
            else:
                assert staged is not None
                read = (staged, Use(0, staged.size_bytes))
            self._add_store(store, read, low, high, Use(low, high, box, output.shape))

    def _store_whole(self) -> None:
        builder, output = self._builder, self._stage.output
        resident = builder.resident(output.tensor)
        if resident is None or not builder.is_last_writer(output.tensor, self._index):
            return
        size = math.prod(output.shape) * output.element_bytes
        for place in builder.sinks(output.tensor):
            for low, high in whole_parts(size):
                mask = builder.channel_mask(STORE_LANE)
                store = range_transfer(Store, mask, low, high, place, resident[0])
                use = Use(low, high)
                self._add_store(store, (resident[1], use), low, high, use)

    def _add_store(self, store: Store, read: tuple[Buffer, Use], low: int, high: int, use: Use) -> None:
        """Append a store; where the tensor lives in DRAM, later loads must follow it."""
        builder, operand = self._builder, self._stage.output.tensor
        writes = [] if builder.resident(operand) else [(builder.dram(operand)[1], use)]
        builder.add(STORE_LANE, store, self._index, [read], writes)
