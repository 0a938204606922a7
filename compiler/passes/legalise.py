"""Check every operation against NNAPI's rules and fill in the dimensions they imply."""

import dataclasses

from compiler import ops as _ops  # noqa: F401  (fills the registry)
from compiler.errors import UnsupportedError
from compiler.graph import Graph, Operand, OperandType
from compiler.nnapi import Numerics, ResultCode
from compiler.operation import REGISTRY, OperationView


def legalise(graph: Graph, numerics: Numerics) -> Graph:
    """The graph with all output dimensions known.

    Raises GraphError for what NNAPI rejects and UnsupportedError for what is not implemented.
    """
    operands: list[Operand] = list(graph.operands)
    for operation in graph.operations:
        current = dataclasses.replace(graph, operands=tuple(operands))
        view = OperationView(current, operation, numerics)
        spec = REGISTRY.get(operation.code)
        if spec is None:
            known = ", ".join(sorted(code.name for code in REGISTRY))
            raise UnsupportedError(f"{view.label}: not implemented; implemented are {known}")
        for position, inferred in enumerate(spec.infer(view)):
            _check_declared(view, position, inferred)
            number = operation.outputs[position]
            operands[number] = dataclasses.replace(operands[number], type=inferred)
    return dataclasses.replace(graph, operands=tuple(operands))


def _check_declared(view: OperationView, position: int, inferred: OperandType) -> None:
    declared = view.output(position).type.dimensions
    known = all(a in (0, b) for a, b in zip(declared, inferred.dimensions, strict=False))
    if not declared or (len(declared) == len(inferred.dimensions) and known):
        return
    raise view.error(
        f"output {position} is declared as {list(declared)}, the operation makes {list(inferred.dimensions)}",
        ResultCode.OP_FAILED,
    )
