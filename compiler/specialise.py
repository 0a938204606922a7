"""Give the inputs of a graph the dimensions that the model leaves open."""

import dataclasses
from collections.abc import Sequence

from compiler.errors import GraphError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics
from compiler.passes.legalise import legalise

InputShape = tuple[int, ...] | None
"""Dimensions of a model input in one execution; None: an optional input that is left out."""


def is_specified(type_: OperandType) -> bool:
    """True if an operand's size is known: a scalar, or a tensor of known rank without a 0 dimension."""
    return type_.code.is_scalar or (len(type_.dimensions) > 0 and 0 not in type_.dimensions)


def fits(shape: tuple[int, ...], type_: OperandType) -> bool:
    """True if a shape is one that a type admits: equal where the type's dimensions are not 0."""
    if not type_.code.is_scalar and not type_.dimensions:
        return True
    return len(shape) == len(type_.dimensions) and all(
        known in (0, n) for known, n in zip(type_.dimensions, shape, strict=True)
    )


def unspecified_inputs(graph: Graph) -> tuple[int, ...]:
    """Positions, in the list of inputs, of those whose size the model leaves open."""
    return tuple(
        position
        for position, number in enumerate(graph.inputs)
        if not is_specified(graph.operands[number].type)
    )


def specialise(graph: Graph, shapes: Sequence[InputShape]) -> Graph:
    """The graph for inputs of these shapes, in the order of its inputs.

    An input that is left out becomes an omitted operand and is no input of the new graph. Raises GraphError
    for a shape that is not known in full, or differs where the model leaves nothing open.
    """
    operands = list(graph.operands)
    given = []
    for number, shape in zip(graph.inputs, shapes, strict=True):
        operand = operands[number]
        if shape is None:
            operands[number] = dataclasses.replace(operand, omitted=True)
            continue
        type_ = dataclasses.replace(operand.type, dimensions=shape)
        if not (is_specified(type_) and fits(shape, operand.type)):
            raise GraphError(
                f"input operand {number} is given the dimensions {list(shape)};"
                f" they must be at least 1 and fit the model's {list(operand.type.dimensions)}"
            )
        operands[number] = dataclasses.replace(operand, type=type_)
        given.append(number)
    return dataclasses.replace(graph, operands=tuple(operands), inputs=tuple(given))


def legalise_known(graph: Graph, numerics: Numerics) -> Graph:
    """The graph with the dimensions that follow already, while some inputs are still open.

    Checks the operations that do not depend on an input of unknown size; raises what `legalise` raises.
    """
    produced = {number for operation in graph.operations for number in operation.outputs}
    known = {
        number
        for number, operand in enumerate(graph.operands)
        if operand.omitted or (number not in produced and is_specified(operand.type))
    }
    numbers = []
    for number, operation in enumerate(graph.operations):
        if known.issuperset(operation.inputs):
            numbers.append(number)
            known.update(operation.outputs)
    part = dataclasses.replace(
        graph,
        operations=tuple(graph.operations[number] for number in numbers),
        operation_numbers=tuple(numbers),
    )
    return dataclasses.replace(graph, operands=legalise(part, numerics).operands)
