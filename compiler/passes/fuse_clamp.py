"""Fuse a stage that only clamps raw values into the stage that makes them.

Sound because both clamp the same raw codes: a clamp after a clamp is the clamp to the intersection
(in that order: the later bounds win).
"""

import dataclasses

from compiler.lower import LoweredGraph
from compiler.stage import Access, Emit, Stage, Tile
from isa.instruction import Instruction


def fuse_clamps(lowered: LoweredGraph) -> LoweredGraph:
    """The graph without the clamp stages whose producer can clamp and whose input nobody else sees."""
    stages = list(lowered.stages)
    index = 0
    while index < len(stages):
        producer = _fusable_producer(lowered, stages, index)
        if producer is None:
            index += 1
            continue
        stages[producer] = _with_clamp(stages[producer], stages[index])
        del stages[index]
    return dataclasses.replace(lowered, stages=tuple(stages))


def _fusable_producer(lowered: LoweredGraph, stages: list[Stage], index: int) -> int | None:
    stage = stages[index]
    if stage.clamp is None:
        return None
    tensor = stage.inputs[0].tensor
    shared = [o for o, root in lowered.storage_of.items() if root == lowered.storage_of[tensor]]
    if len(shared) > 1 or tensor in lowered.graph.outputs:
        return None
    producers = [i for i, s in enumerate(stages) if s.output.tensor == tensor]
    readers = [i for i, s in enumerate(stages) for item in s.inputs if item.tensor == tensor]
    if len(producers) != 1 or readers != [index]:
        return None
    candidate = stages[producers[0]]
    return producers[0] if candidate.can_clamp else None


def _with_clamp(producer: Stage, stage: Stage) -> Stage:
    assert stage.clamp is not None
    return dataclasses.replace(
        producer,
        output=dataclasses.replace(producer.output, tensor=stage.output.tensor),
        emit=_clamping(producer.emit, *stage.clamp),
    )


def _clamping(emit: Emit, low: int, high: int) -> Emit:
    def clamped(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        instruction = emit(tile, unit_mask, inputs, output, constants)
        smallest: int = instruction.clamp_min  # type: ignore[attr-defined]
        largest: int = instruction.clamp_max  # type: ignore[attr-defined]
        return dataclasses.replace(
            instruction,
            clamp_min=min(max(smallest, low), high),  # type: ignore[call-arg]
            clamp_max=min(max(largest, low), high),
        )

    return clamped
