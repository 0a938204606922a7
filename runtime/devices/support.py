"""Which operations of a graph can run at all, found by checking each on its own."""

import dataclasses
import math
from collections.abc import Callable

import compiler.ops  # noqa: F401  (fills the registry)
from compiler.errors import CompilerError, UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode
from compiler.operation import REGISTRY, OperationView
from compiler.specialise import is_specified

Refusal = Callable[[OperationView], str | None]
"""Why an operation that passes its checks cannot run; None if it can."""


MAX_REFERENCE_ELEMENTS = 40 << 20
"""Most elements of all operands of one operation that the reference computes.

It works in double precision, with up to 20 bytes per element at a time (measured): a run stays below 1 GiB.
"""


def check_reference_size(graph: Graph) -> None:
    """Refuse an operation too large for the reference (UnsupportedError)."""
    for number, operation in enumerate(graph.operations):
        operands = (graph.operands[operand] for operand in {*operation.inputs, *operation.outputs})
        elements = sum(math.prod(operand.type.dimensions) for operand in operands)
        if elements > MAX_REFERENCE_ELEMENTS:
            raise UnsupportedError(
                f"{operation.code.name} (operation {number} of its part of the model): its operands have"
                f" {elements} elements together; the reference takes at most {MAX_REFERENCE_ELEMENTS}"
            )


def no_refusal(view: OperationView) -> str | None:
    """Refuse nothing."""
    return None


def supported_operations(graph: Graph, numerics: Numerics, refusal: Refusal = no_refusal) -> tuple[bool, ...]:
    """For each operation, whether it is implemented, passes its checks, and is not refused.

    Dimensions that follow from an operation that passes are known to those behind it. An operation that
    depends on dimensions which the model leaves open passes if its operand types are implemented.
    """
    answers = []
    operands = list(graph.operands)
    for operation in graph.operations:
        view = OperationView(dataclasses.replace(graph, operands=tuple(operands)), operation, numerics)
        if _is_open(view):
            answers.append(_may_pass(view, refusal))
            continue
        types = _inferred(view)
        answers.append(types is not None and refusal(view) is None)
        for number, type_ in zip(operation.outputs, types or (), strict=False):
            operands[number] = dataclasses.replace(operands[number], type=type_)
    return tuple(answers)


def _is_open(view: OperationView) -> bool:
    inputs = (view.graph.operands[number] for number in view.operation.inputs)
    return any(not (operand.omitted or is_specified(operand.type)) for operand in inputs)


def _may_pass(view: OperationView, refusal: Refusal) -> bool:
    numbers = (*view.operation.inputs, *view.operation.outputs)
    if view.operation.code not in REGISTRY:
        return False
    if any(view.graph.operands[number].type.code > OperandCode.BOOL for number in numbers):
        return False
    try:
        return refusal(view) is None
    except (CompilerError, ArithmeticError, LookupError, ValueError):
        # The refusal depends on the dimensions too; it is asked again when they are known.
        return True


def _inferred(view: OperationView) -> tuple[OperandType, ...] | None:
    spec = REGISTRY.get(view.operation.code)
    if spec is None:
        return None
    try:
        return spec.infer(view)
    except CompilerError:
        return None
