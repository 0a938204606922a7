"""Lower bounds against which compiled code is judged.

`lb_peak` is the largest, over matrix units, vector units and DRAM, of the unavoidable work over the peak
rate; `lb_mapped` counts each layer at the rate of the fastest mapping that the machine has for it. Layers
may overlap across units, so the sums are per unit kind.
"""

import dataclasses
import math

from compiler.lower import LoweredGraph
from compiler.stage import Access, Box, CostModel, Stage, Tile
from isa.instruction import Instruction, UnitKind


@dataclasses.dataclass(frozen=True, slots=True)
class StageBound:
    """Cycles of one stage's arithmetic on the units of its kind, together."""

    peak_cycles: float
    mapped_cycles: float


@dataclasses.dataclass(frozen=True, slots=True)
class ProgramBounds:
    """Lower bounds of a whole program, in cycles; `stages` in order."""

    lb_peak_cycles: int
    lb_mapped_cycles: int
    compulsory_bytes: int
    stages: tuple[StageBound, ...]


def program_bounds(lowered: LoweredGraph, cost: CostModel) -> ProgramBounds:
    """Bounds of a lowered graph on the machine behind `cost`."""
    stages = tuple(_stage_bound(stage, cost) for stage in lowered.stages)
    compulsory = compulsory_bytes(lowered)
    dram = cost.dram_cycles(compulsory)
    peak, mapped = [dram], [dram]
    for kind in (UnitKind.MATRIX, UnitKind.VECTOR):
        bounds = [b for s, b in zip(lowered.stages, stages, strict=True) if s.kind is kind]
        peak.append(sum(b.peak_cycles for b in bounds))
        mapped.append(sum(b.mapped_cycles for b in bounds))
    return ProgramBounds(math.floor(max(peak)), math.floor(max(mapped)), compulsory, stages)


def stage_constant_bytes(lowered: LoweredGraph, stage: Stage) -> int:
    """Bytes of the constants a stage reads, each once."""
    operands = lowered.graph.operands
    given = sum(operands[i.tensor].type.size_bytes for i in stage.inputs if operands[i.tensor].is_constant)
    return given + sum(c.array.nbytes for c in stage.constants)


def compulsory_bytes(lowered: LoweredGraph) -> int:
    """DRAM bytes that must move: inputs that are read, outputs, and constants, each once."""
    graph = lowered.graph
    read = {lowered.storage_of[i.tensor] for stage in lowered.stages for i in stage.inputs}
    constants = {i for i in read if graph.operands[i].is_constant}
    moved = [*(i for i in graph.inputs if i in read), *graph.outputs, *constants]
    tensors = sum(graph.operands[i].type.size_bytes for i in moved)
    return tensors + sum(c.array.nbytes for stage in lowered.stages for c in stage.constants)


def _stage_bound(stage: Stage, cost: CostModel) -> StageBound:
    instruction = whole_instruction(stage)
    images = stage.domain[0]
    return StageBound(images * cost.peak_cycles(instruction), images * cost.mapped_cycles(instruction))


def whole_instruction(stage: Stage) -> Instruction:
    """A stage's work on one image as a single instruction (its fields may exceed their widths)."""
    _, h, w, c = stage.domain
    tile = Tile(0, 0, h, 0, w, 0, c, 0, stage.reduction)

    def access(box: Box, element_bytes: int) -> Access:
        _, height, width, channels = box.shape
        pixel = channels * element_bytes
        return Access(0, height * width * pixel, width * pixel, pixel)

    return stage.emit(
        tile,
        1,
        tuple(access(i.footprint(tile), i.element_bytes) for i in stage.inputs),
        access(Box(0, 1, 0, h, 0, w, 0, c), stage.output.element_bytes),
        (0,) * len(stage.constants),
    )
