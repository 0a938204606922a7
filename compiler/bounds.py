"""Lower bounds against which compiled code is judged.

`lb_peak` is the largest, over matrix units, vector units and DRAM, of the unavoidable work over the peak
rate; `lb_mapped` counts each layer at the rate of the fastest mapping that the machine has for it. Layers
may overlap across units, so the sums are per unit kind.
"""

import dataclasses
import math
from collections.abc import Collection

from compiler.lower import LoweredGraph
from compiler.stage import Access, Box, CostModel, Stage, StageInput, Tile
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
    """DRAM bytes that must move: what is read of inputs, outputs, and constants, each once."""
    graph = lowered.graph
    read: dict[int, int] = {}
    for stage in lowered.stages:
        for item in stage.inputs:
            root = lowered.storage_of[item.tensor]
            if root in graph.inputs or graph.operands[root].is_constant:
                read[root] = max(read.get(root, 0), _touched_elements(stage, item) * item.element_bytes)
    written = sum(graph.operands[i].type.size_bytes for i in graph.outputs)
    constants = sum(c.array.nbytes for stage in lowered.stages for c in stage.constants)
    return sum(read.values()) + written + constants


def _touched_elements(stage: Stage, item: StageInput) -> int:
    """Elements of an input that a stage reads: windows may step over rows and columns."""
    n, h, w, c = stage.domain
    whole = Tile(0, 0, h, 0, w, 0, c, 0, stage.reduction)
    images = {item.footprint(whole._replace(n=image))[:2] for image in range(n)}
    rows = {item.footprint(whole._replace(h0=row, h1=row + 1))[2:4] for row in range(h)}
    columns = {item.footprint(whole._replace(w0=x, w1=x + 1))[4:6] for x in range(w)}
    box = item.footprint(whole)
    return _covered(images) * _covered(rows) * _covered(columns) * (box.c1 - box.c0)


def _covered(ranges: Collection[tuple[int, int]]) -> int:
    """Size of the union of half-open ranges."""
    size = end = 0
    for low, high in sorted(ranges):
        size += max(0, high - max(low, end))
        end = max(end, high)
    return size


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
