"""Which operations of a graph can run at all, found by checking each on its own."""

import compiler.ops  # noqa: F401  (fills the registry)
from compiler.errors import CompilerError
from compiler.graph import Graph
from compiler.nnapi import Numerics
from compiler.operation import REGISTRY, OperationView


def supported_operations(graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
    """For each operation, whether it is implemented and passes its checks.

    Types of operands must be known; an operation that reads an operand of unspecified size fails.
    """
    return tuple(_passes(OperationView(graph, operation, numerics)) for operation in graph.operations)


def _passes(view: OperationView) -> bool:
    spec = REGISTRY.get(view.operation.code)
    if spec is None:
        return False
    try:
        spec.infer(view)
    except CompilerError:
        return False
    return True
