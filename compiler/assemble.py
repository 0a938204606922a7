"""From a plan and an ordered instruction stream to a program with its symbols and layers."""

import numpy as np

from compiler.bounds import ProgramBounds, stage_constant_bytes
from compiler.lower import LoweredGraph
from compiler.memory_plan.storage import TensorPlaces
from compiler.options import CompileOptions
from compiler.planning import Plan
from compiler.schedule.synchronise import Stream
from isa.dtypes import Region
from isa.program import LayerInfo, Program, Symbol
from isa.target import Target


def assemble(
    lowered: LoweredGraph,
    target: Target,
    options: CompileOptions,
    bounds: ProgramBounds,
    plan: Plan,
    stream: Stream,
) -> Program:
    """The program of a plan; layers are the operations that do work."""
    layers, layer_of_stage = _layers(lowered, bounds)
    region_bytes = dict(plan.layout.region_bytes)
    region_bytes[Region.CODE] = sum(i.size_bytes for i in stream.instructions)
    return Program(
        target=target,
        instructions=stream.instructions,
        constants=_constants(plan),
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


def _constants(plan: Plan) -> memoryview:
    """The CONSTANTS region, the only copy that a compilation makes of weights."""
    content = np.zeros(plan.layout.region_bytes[Region.CONSTANTS], np.uint8)
    for offset, array in plan.constants:
        place = content[offset : offset + array.nbytes]
        place.view(array.dtype).reshape(array.shape)[...] = array
    return content.data.toreadonly()


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
