"""Graph to stages: each operation's own lowering, and the storage its tensors share.

A view (a reshape, say) shares its source's bytes and costs nothing, except where both must exist as
tensors of their own: then it becomes a copy.
"""

import dataclasses
from collections.abc import Sequence

from compiler.copying import copy_stage
from compiler.errors import UnsupportedError
from compiler.graph import Graph
from compiler.operation import REGISTRY, OperationView
from compiler.options import CompileOptions
from compiler.stage import LoweringContext, Stage, View


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LoweredGraph:
    """Stages in order; `storage_of` maps every operand to the operand whose bytes it shares."""

    graph: Graph
    stages: tuple[Stage, ...]
    storage_of: dict[int, int]


def lower_graph(graph: Graph, context: LoweringContext, options: CompileOptions) -> LoweredGraph:
    """Lower every operation; UnsupportedError says why the NPU cannot run one."""
    storage_of = {operand: operand for operand in range(len(graph.operands))}
    stages: list[Stage] = []
    for number, operation in enumerate(graph.operations):
        view = OperationView(graph, operation, options.numerics)
        for part in _lowered(view, context):
            if isinstance(part, Stage):
                stages.append(part)
            elif _needs_copy(graph, part, storage_of, options):
                size_bytes = graph.operands[part.target].type.size_bytes
                stages.append(copy_stage(number, part.source, part.target, size_bytes))
            else:
                storage_of[part.target] = storage_of[part.source]
    return LoweredGraph(graph=graph, stages=tuple(stages), storage_of=storage_of)


def _lowered(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    spec = REGISTRY[view.operation.code]
    reason = spec.npu_refusal(view, context.target)
    if reason is not None:
        raise UnsupportedError(f"{view.label}: {reason}")
    assert spec.lower is not None, f"{view.label}: neither refused nor lowered"
    return spec.lower(view, context)


def _needs_copy(graph: Graph, view: View, storage_of: dict[int, int], options: CompileOptions) -> bool:
    if options.keep_tensors:
        return True
    if view.target not in graph.outputs:
        return False
    root = storage_of[view.source]
    shared = {operand for operand, storage in storage_of.items() if storage == root}
    given = root in graph.inputs or graph.operands[root].is_constant
    return given or any(operand in graph.outputs for operand in shared)
