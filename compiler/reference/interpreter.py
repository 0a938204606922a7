"""Running a graph with the reference functions: the golden model, and the runtime's CPU device."""

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, Operation
from compiler.nnapi import Numerics, ResultCode
from compiler.reference.registry import Argument, Array, Call, references


def run_graph(
    graph: Graph, inputs: Sequence[Array | None], numerics: Numerics = Numerics.NNAPI
) -> dict[int, Array]:
    """Values of every model input and every operation's outputs, by operand number.

    `inputs` are in the order of `graph.inputs`, with the operands' dtypes and dimensions (a dimension of 0
    in the operand's type takes any size); None leaves out an optional input of the operations that read it.
    Shapes of outputs follow from the inputs; what the output operands declare must agree with them.
    Raises GraphError where the rules of `numerics` refuse the model or an input does not fit, and
    UnsupportedError for operations without a reference, those that came after level 27.
    """
    values = {
        number: _checked_input(graph, number, value)
        for number, value in zip(graph.inputs, _complete(graph, inputs), strict=True)
    }
    functions = references()
    for index, operation in enumerate(graph.operations):
        call = _call(graph, operation, graph.label(index), values, numerics)
        function = functions.get(operation.code)
        if function is None:
            raise UnsupportedError(f"{call.label}: the reference does not compute {operation.code.name}")
        # Infinities and NaN are values of the float operations like any other.
        with np.errstate(all="ignore"):
            results = function(call)
        for position, value in enumerate(results):
            _check_declared(call, position, value)
            values[operation.outputs[position]] = value
    return {number: value for number, value in values.items() if value is not None}


def _complete(graph: Graph, inputs: Sequence[Array | None]) -> Sequence[Array | None]:
    if len(inputs) != len(graph.inputs):
        raise GraphError(f"model “{graph.name}” has {len(graph.inputs)} inputs, {len(inputs)} given")
    return inputs


def _checked_input(graph: Graph, number: int, value: Array | None) -> Array | None:
    kind = graph.operands[number].type
    if value is not None and (value.dtype != kind.dtype or not _agrees(kind.dimensions, value.shape)):
        raise GraphError(
            f"input operand {number} is {value.dtype} {list(value.shape)}; "
            f"the model wants {kind.dtype} {list(kind.dimensions)}"
        )
    return value


def _agrees(declared: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Tell whether `shape` is what `declared` says, where 0 says nothing about a dimension."""
    return len(declared) == len(shape) and all(
        expected in (0, actual) for expected, actual in zip(declared, shape, strict=True)
    )


def _call(
    graph: Graph,
    operation: Operation,
    label: str,
    values: Mapping[int, Array | None],
    numerics: Numerics,
) -> Call:
    arguments = []
    for number in operation.inputs:
        operand = graph.operands[number]
        if not (operand.is_constant or operand.omitted or number in values):
            raise GraphError(f"{label}: nothing produces operand {number} before this operation")
        value = operand.value if operand.is_constant else values.get(number)
        arguments.append(Argument(operand.type, value))
    results = tuple(graph.operands[number].type for number in operation.outputs)
    return Call(label, tuple(arguments), results, numerics)


def _check_declared(call: Call, position: int, value: Array) -> None:
    """Refuse an output of other dimensions than its operand declares; without any, it declares nothing."""
    declared = call.results[position].dimensions
    if declared and not _agrees(declared, value.shape):
        raise call.error(
            f"output {position} is declared as {list(declared)}, but the operation gives {list(value.shape)}",
            ResultCode.OP_FAILED,
        )
