"""Graph to program: legalise, lower, fuse, plan memory, tile, schedule, emit."""

import dataclasses

from compiler.bounds import ProgramBounds, program_bounds, stage_constant_bytes
from compiler.errors import PlacementError
from compiler.executable import Executable
from compiler.graph import Graph
from compiler.lower import LoweredGraph, lower_graph
from compiler.memory_plan.sram_map import align
from compiler.memory_plan.storage import (
    DramLayout,
    Storage,
    TensorPlaces,
    choose_sram_storages,
    collect_storages,
    place_tensors,
)
from compiler.options import CompileOptions, Objective
from compiler.passes.fuse_clamp import fuse_clamps
from compiler.passes.legalise import legalise
from compiler.schedule.builder import TaskBuilder
from compiler.schedule.order import order_tasks
from compiler.schedule.stage_tasks import add_stage
from compiler.schedule.synchronise import Stream, synchronise
from compiler.schedule.tasks import Task
from compiler.stage import CostModel, LoweringContext, Stage, Tile
from compiler.tiling.search import TileSearch
from compiler.tiling.tiling import constant_bytes
from isa.dtypes import Region
from isa.instructions.dma import Load, Store
from isa.program import LayerInfo, Program, Symbol
from isa.target import Target

_RESERVE_PARTS = 8
"""At each layer at least one part in so many of SRAM is kept for what streams through it."""

_SRAM_STEPS_BYTES = tuple(
    kib * 1024
    for kib in (
        16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768,
        1024, 1280, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 12288, 16384,
    )
)  # fmt: skip
"""SRAM sizes for which plans are tried when traffic is minimised: a plan for a smaller SRAM fits a larger
one, so the best of all that fit never gets worse with size."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A complete set of tasks for one SRAM budget."""

    tasks: list[Task]
    constants: list[tuple[int, bytes]]
    layout: DramLayout
    places: TensorPlaces
    dram_bytes: int


def compile_graph(graph: Graph, target: Target, cost: CostModel, options: CompileOptions) -> Executable:
    """Compile a graph for a target.

    Raises GraphError (the model breaks NNAPI's rules), UnsupportedError (not implemented) or
    PlacementError (a tensor cannot be tiled into SRAM).
    """
    legal = legalise(graph, options.numerics)
    lowered = lower_graph(legal, LoweringContext(target=target, cost=cost), options)
    if not options.keep_tensors:
        lowered = fuse_clamps(lowered)
    bounds = program_bounds(lowered, cost)
    plan = _best_plan(lowered, target, cost, options, bounds)
    order, estimated_cycles = order_tasks(plan.tasks, cost)
    stream = synchronise(plan.tasks, order)
    program = _assemble(lowered, target, options, bounds, plan, stream)
    return Executable(
        program=program, bounds=bounds, estimated_cycles=estimated_cycles, dram_bytes=plan.dram_bytes
    )


def _best_plan(
    lowered: LoweredGraph, target: Target, cost: CostModel, options: CompileOptions, bounds: ProgramBounds
) -> _Plan:
    """The plan for the whole SRAM, or for the objective BYTES the one with least traffic among all sizes."""
    plan = _plan(lowered, target, cost, options)
    if options.objective is not Objective.BYTES:
        return plan
    for size in reversed(_SRAM_STEPS_BYTES):
        if plan.dram_bytes <= bounds.compulsory_bytes:
            break
        if size >= target.sram_bytes:
            continue
        try:
            other = _plan(lowered, dataclasses.replace(target, sram_bytes=size), cost, options)
        except PlacementError:
            break
        if other.dram_bytes < plan.dram_bytes:
            plan = other
    return plan


def _plan(lowered: LoweredGraph, target: Target, cost: CostModel, options: CompileOptions) -> _Plan:
    """Place and tile everything; storages that stand in the way of a layer's tiles move to DRAM."""
    search = TileSearch(target=target, cost=cost, options=options)
    banned: frozenset[int] = frozenset()
    reserves = [_reserve(stage, target) for stage in lowered.stages]
    while True:
        layout = DramLayout()
        places = place_tensors(lowered, layout, options)
        storages = collect_storages(lowered, layout, places)
        addresses = choose_sram_storages(storages, reserves, target.sram_bytes, banned)
        builder = TaskBuilder(lowered, storages, addresses, layout, target, search)
        index = 0
        try:
            for index in range(len(lowered.stages)):
                add_stage(builder, index, lowered.stages[index])
        except PlacementError:
            victim = _largest_alive(storages, addresses, index)
            if victim is None:
                raise
            banned |= {victim}
            continue
        transfers = (t.instruction for t in builder.tasks if isinstance(t.instruction, Load | Store))
        return _Plan(
            tasks=builder.tasks,
            constants=builder.constants,
            layout=layout,
            places=places,
            dram_bytes=sum(t.total_bytes for t in transfers),
        )


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


def _assemble(
    lowered: LoweredGraph,
    target: Target,
    options: CompileOptions,
    bounds: ProgramBounds,
    plan: _Plan,
    stream: Stream,
) -> Program:
    constants = bytearray(plan.layout.region_bytes[Region.CONSTANTS])
    for offset, data in plan.constants:
        constants[offset : offset + len(data)] = data
    layers, layer_of_stage = _layers(lowered, bounds)
    region_bytes = dict(plan.layout.region_bytes)
    region_bytes[Region.CODE] = sum(i.size_bytes for i in stream.instructions)
    return Program(
        target=target,
        instructions=stream.instructions,
        constants=bytes(constants),
        symbols=_symbols(lowered, plan.places),
        layers=layers,
        layer_of=tuple(layer_of_stage[stage] for stage in stream.stage_of),
        region_bytes=region_bytes,
        notes={
            "model": lowered.graph.name,
            "objective": str(options.objective),
            "numerics": str(options.numerics),
            "keep_tensors": str(options.keep_tensors).lower(),
            "lb_peak_cycles": str(bounds.lb_peak_cycles),
            "lb_mapped_cycles": str(bounds.lb_mapped_cycles),
        },
    )


def _layers(lowered: LoweredGraph, bounds: ProgramBounds) -> tuple[tuple[LayerInfo, ...], list[int]]:
    """One layer per operation that does work, and the layer of each stage."""
    layers: list[LayerInfo] = []
    layer_of_stage: list[int] = []
    numbers: dict[int, int] = {}
    for stage in lowered.stages:
        if stage.operation not in numbers:
            numbers[stage.operation] = len(numbers)
        layer_of_stage.append(numbers[stage.operation])
    for operation, number in numbers.items():
        own = [i for i, stage in enumerate(lowered.stages) if stage.operation == operation]
        stages = [lowered.stages[i] for i in own]
        description = lowered.graph.operations[operation]
        layers.append(
            LayerInfo(
                index=number,
                op=description.code.name,
                name=description.name or lowered.graph.operands[description.outputs[0]].name,
                macs=sum(stage.macs for stage in stages),
                peak_cycles=round(sum(bounds.stages[i].peak_cycles for i in own)),
                mapped_cycles=round(sum(bounds.stages[i].mapped_cycles for i in own)),
                unit=stages[0].kind.name.lower(),
                compulsory_bytes=sum(stage_constant_bytes(lowered, stage) for stage in stages),
            )
        )
    return tuple(layers), layer_of_stage


def _symbols(lowered: LoweredGraph, places: TensorPlaces) -> tuple[Symbol, ...]:
    graph = lowered.graph
    names: set[str] = set()

    def symbol(role: str, position: int, operand: int) -> Symbol:
        declared, place = graph.operands[operand], getattr(places, f"{role}s" if role != "tensor" else "kept")
        name = declared.name or f"{role}_{position}"
        while name in names:
            name += "_"
        names.add(name)
        return Symbol(
            name=name,
            role=role,
            operand=operand,
            region=place[operand].region,
            offset_bytes=place[operand].offset_bytes,
            shape=declared.type.dimensions,
            dtype=declared.type.dtype.name,
            scale=declared.type.scale,
            zero_point=declared.type.zero_point,
        )

    return tuple(
        symbol(role, position, operand)
        for role, operands in (("input", graph.inputs), ("output", graph.outputs), ("tensor", places.kept))
        for position, operand in enumerate(operands)
    )
