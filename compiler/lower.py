"""Graph to stages: each operation's own lowering, and the storage its tensors share.

A view (a reshape, say) shares its source's bytes and costs nothing, except where both must exist as
tensors of their own: then it becomes a copy.
"""

import dataclasses

from compiler.copying import copy_stage
from compiler.errors import UnsupportedError
from compiler.graph import Graph
from compiler.nnapi import OperationCode
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
    """Lower every operation; UnsupportedError names an operation that has no lowering."""
    storage_of = {operand: operand for operand in range(len(graph.operands))}
    stages: list[Stage] = []
    for number, operation in enumerate(graph.operations):
        view = OperationView(graph, operation, options.numerics)
        spec = REGISTRY.get(OperationCode(operation.code))
        if spec is None:
            raise UnsupportedError(f"{view.label}: this operation is not implemented")
        for part in spec.lower(view, context):
            if isinstance(part, Stage):
                stages.append(part)
            elif _needs_copy(graph, part, storage_of, options):
                size_bytes = graph.operands[part.target].type.size_bytes
                stages.append(copy_stage(number, part.source, part.target, size_bytes))
            else:
                storage_of[part.target] = storage_of[part.source]
    return LoweredGraph(graph=graph, stages=tuple(stages), storage_of=storage_of)


def _needs_copy(graph: Graph, view: View, storage_of: dict[int, int], options: CompileOptions) -> bool:
    if options.keep_tensors:
        return True
    if view.target not in graph.outputs:
        return False
    root = storage_of[view.source]
    shared = {operand for operand, storage in storage_of.items() if storage == root}
    given = root in graph.inputs or graph.operands[root].is_constant
    return given or any(operand in graph.outputs for operand in shared)
