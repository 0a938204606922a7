"""Placing stages in SRAM, and collecting the tasks of a program.

The builder knows where everything lives; `stage_tasks` makes the loads, work and stores of a stage with it.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from compiler.errors import PlacementError, TileCountError
from compiler.lower import LoweredGraph
from compiler.memory_plan.sram_map import SramMap, align
from compiler.memory_plan.storage import DramLayout, DramPlace, PlacedArray, Storage
from compiler.schedule.fragments import Fragment, StageSteps, plan_steps
from compiler.schedule.tasks import STREAM_LANE, TILE_LANE, Buffer, Lane, SramBuffers, Task, Use
from compiler.schedule.transfers import range_transfer, whole_parts
from compiler.stage import Stage
from compiler.tiling.search import StageHomes, TileSearch
from isa.dtypes import Region
from isa.instruction import Instruction, UnitKind
from isa.instructions.dma import Load
from isa.target import Target

STEP_BITS = 24
"""Logical time is stage << STEP_BITS | step."""
_STEP_MASK = (1 << STEP_BITS) - 1
MAX_TILES = 1 << 16
"""Tiles of one program: more would take minutes to plan, and hours for larger networks."""


@dataclasses.dataclass(frozen=True, slots=True)
class Places:
    """SRAM addresses by the step that needs them first."""

    fragments: dict[int, list[tuple[Fragment, int]]]
    staging: dict[int, int]


def tile_count_message(where: str, tiles: int) -> str:
    """Why a program is refused that would have too many tiles."""
    return (
        f"{where}: the program would have at least {tiles} tiles, at most {MAX_TILES} are planned; a machine"
        " with more SRAM, accumulators or array columns needs fewer"
    )


def misfit_message(
    lowered: LoweredGraph, stage: Stage, needed_bytes: int, free_bytes: int, target: Target
) -> str:
    """Why a stage cannot be tiled: the tensor, the bytes needed, the bytes there."""
    tensor = stage.output.tensor
    name = lowered.graph.operands[tensor].name or f"operand {tensor}"
    return (
        f"{lowered.graph.label(stage.operation)}: tensor “{name}” cannot be tiled: its smallest tile needs"
        f" {needed_bytes} bytes of SRAM, {max(free_bytes, 0)} of {target.sram_bytes} are free for it"
    )


class TaskBuilder:
    """Builds the tasks of one program. Use `add_stage` for every stage in order, then read `tasks`."""

    def __init__(
        self,
        lowered: LoweredGraph,
        storages: dict[int, Storage],
        addresses: dict[int, int],
        layout: DramLayout,
        target: Target,
        search: TileSearch,
    ) -> None:
        self.tasks: list[Task] = []
        self.dram_bytes = 0
        self._tiles = 0
        self.constants: list[PlacedArray] = []
        self._lowered = lowered
        self._storages = storages
        self._addresses = addresses
        self._layout = layout
        self._target = target
        self._search = search
        self._sram = SramMap(target.sram_bytes)
        self._recent = SramBuffers()
        self._resident: dict[int, Buffer] = {}
        self._unloaded: dict[int, list[tuple[int, int]]] = {}
        self._in_dram: dict[int, tuple[DramPlace, Buffer]] = {}
        self._earliest = {STREAM_LANE: 0, TILE_LANE: 0}
        self._read = {self._root(item.tensor) for stage in lowered.stages for item in stage.inputs}
        self._last_writer = {
            lowered.storage_of[stage.output.tensor]: i for i, stage in enumerate(lowered.stages)
        }
        for root, address in addresses.items():
            storage = storages[root]
            self._sram.add(
                address,
                storage.size_bytes,
                storage.first << STEP_BITS,
                storage.last << STEP_BITS | _STEP_MASK,
            )
        self._place_in_dram()

    def _place_in_dram(self) -> None:
        for root, storage in self._storages.items():
            place = storage.source or (storage.sinks[0] if storage.sinks else None)
            if root not in self._addresses and place is None:
                place = self._layout.place(Region.SCRATCH, storage.size_bytes)
            if place is not None:
                self._in_dram[root] = (place, Buffer(0, storage.size_bytes))
            value = self._lowered.graph.operands[root].value
            if value is not None and storage.source is not None:
                self.constants.append(PlacedArray(storage.source.offset_bytes, value))

    def homes(self, stage: Stage) -> StageHomes:
        """Which of a stage's tensors live in DRAM."""
        return StageHomes(
            inputs_in_dram=tuple(self._root(i.tensor) not in self._addresses for i in stage.inputs),
            output_in_dram=self._root(stage.output.tensor) not in self._addresses,
            output_is_read=self._root(stage.output.tensor) in self._read,
        )

    def place_stage(self, index: int) -> tuple[StageSteps, Places]:
        """Tile the next stage, place its fragments, and begin the lives of the tensors born at it.

        Raises PlacementError if nothing fits. Stages are placed in order, each followed by its tasks.
        """
        stage = self._lowered.stages[index]
        # Tiles of a tensor in DRAM are loaded when it has been made, which the stage before may still do.
        self._earliest[TILE_LANE] = max(self._earliest[TILE_LANE], index - 1 << STEP_BITS)
        self._sram.forget(min(self._earliest.values()))
        alive = sum(
            align(s.size_bytes)
            for root, s in self._storages.items()
            if root in self._addresses and s.first <= index <= s.last
        )
        budget = self._sram.capacity_bytes - alive
        homes = self.homes(stage)
        while True:
            candidate = self._search.best(stage, homes, budget)
            if candidate is None:
                needed = self._search.smallest_workspace(stage, homes)
                raise PlacementError(misfit_message(self._lowered, stage, needed, budget, self._target))
            if self._tiles + candidate.tiles > MAX_TILES:
                raise TileCountError(tile_count_message(self._name(stage), self._tiles + candidate.tiles))
            steps = plan_steps(stage, candidate.tiling, homes)
            places = self._place(index, steps)
            if places is not None:
                break
            budget = min(budget, candidate.workspace_bytes) * 3 // 4
        self._tiles += len(steps.tiles)
        self._make_resident(index)
        return steps, places

    def _name(self, stage: Stage) -> str:
        return self._lowered.graph.label(stage.operation)

    def _root(self, operand: int) -> int:
        return self._lowered.storage_of[operand]

    def _place(self, index: int, steps: StageSteps) -> "Places | None":
        """Addresses of fragments and staging buffers; None (and nothing recorded) if one does not fit."""
        mark, earliest = self._sram.mark(), dict(self._earliest)
        base = index << STEP_BITS
        fragments: dict[int, list[tuple[Fragment, int]]] = {}
        staging: dict[int, int] = {}
        waiting: dict[int, list[Fragment]] = {}
        for fragment in steps.fragments:
            waiting.setdefault(fragment.first, []).append(fragment)
        for step in range(len(steps.tiles)):
            for fragment in waiting.get(step, ()):
                lane = STREAM_LANE if fragment.slot is None else TILE_LANE
                found = self._sram.place(
                    fragment.size_bytes, self._earliest[lane], base + step, base + fragment.last
                )
                if found is None:
                    self._give_up(mark, earliest)
                    return None
                self._earliest[lane] = found.free_from
                fragments.setdefault(step, []).append((fragment, found.address))
            size = steps.staging[step]
            if size:
                # The buffer is kept for one step more, so that its store overlaps the next tile.
                found = self._sram.place(size, base + step, base + step, base + step + 1)
                if found is None:
                    self._give_up(mark, earliest)
                    return None
                staging[step] = found.address
        return Places(fragments, staging)

    def _give_up(self, mark: int, earliest: dict[Lane, int]) -> None:
        self._sram.rollback(mark)
        self._earliest = earliest

    def _make_resident(self, index: int) -> None:
        """Start the life of SRAM storages born at this stage; bytes from DRAM load on demand."""
        for root, address in self._addresses.items():
            storage = self._storages[root]
            if storage.first != index or root in self._resident:
                continue
            buffer = self._recent.new(address, storage.size_bytes)
            self._resident[root] = buffer
            if storage.source is not None:
                self._unloaded[root] = whole_parts(storage.size_bytes)

    def channel_mask(self, lane: Lane) -> int:
        """Mask of the DMA channel that serves a lane."""
        return 1 << lane.number % self._target.dma_channels

    def add(
        self,
        lane: Lane,
        instruction: Instruction,
        stage: int,
        reads: list[tuple[Buffer, Use]] | None = None,
        writes: list[tuple[Buffer, Use]] | None = None,
    ) -> None:
        """Append a task with the parts of buffers that it reads and writes."""
        after: dict[Lane, int] = {}
        index = len(self.tasks)
        for buffer, use in reads or ():
            buffer.read(use, lane, index, after)
        for buffer, use in writes or ():
            buffer.write(use, lane, index, after)
        after.pop(lane, None)
        self.dram_bytes += self._search.cost.dram_bytes(instruction)
        self.tasks.append(Task(index, lane, instruction, stage, after))

    def load_resident(self, operand: int, high: int, stage: int) -> None:
        """Load what a task reads of a tensor in SRAM, up to byte `high`, if it comes from DRAM."""
        root = self._root(operand)
        parts = self._unloaded.get(root, [])
        while parts and parts[0][0] < high:
            low, end = parts.pop(0)
            source, buffer = self._storages[root].source, self._resident[root]
            assert source is not None
            mask = self.channel_mask(STREAM_LANE)
            instruction = range_transfer(Load, mask, low, end, source, buffer.address)
            self.add(STREAM_LANE, instruction, stage, writes=[(buffer, Use(low, end))])

    def new_buffer(self, address: int, size_bytes: int) -> Buffer:
        """Start the life of a fragment or staging buffer."""
        return self._recent.new(address, size_bytes)

    def add_constants(self, arrays: Sequence[npt.NDArray[np.generic]], size_bytes: int) -> DramPlace:
        """Put arrays into the CONSTANTS region, one behind the other, each aligned as in SRAM."""
        place = self._layout.place(Region.CONSTANTS, size_bytes)
        offset = place.offset_bytes
        for array in arrays:
            self.constants.append(PlacedArray(offset, array))
            offset += align(array.nbytes)
        return place

    def resident(self, operand: int) -> tuple[int, Buffer] | None:
        """Address and buffer of an operand that lives in SRAM."""
        root = self._root(operand)
        if root not in self._addresses:
            return None
        return self._addresses[root], self._resident[root]

    def dram(self, operand: int) -> tuple[DramPlace, Buffer]:
        """Place and buffer of an operand that has a place in DRAM."""
        return self._in_dram[self._root(operand)]

    def sinks(self, operand: int) -> tuple[DramPlace, ...]:
        """Where an operand's bytes must end up in DRAM."""
        return self._storages[self._root(operand)].sinks

    def is_last_writer(self, operand: int, stage: int) -> bool:
        """True if no later stage writes the operand's storage."""
        return self._last_writer[self._root(operand)] == stage

    def least_busy(self, kind: UnitKind, busy: dict[int, int]) -> int:
        """The unit of a kind with the fewest cycles so far."""
        units = self._target.matrix_units if kind is UnitKind.MATRIX else self._target.vector_units
        return min(range(units), key=lambda unit: (busy.get(unit, 0), unit))

    def cycles(self, instruction: Instruction) -> int:
        """Estimated cycles of an instruction."""
        return self._search.cost.cycles(instruction)
