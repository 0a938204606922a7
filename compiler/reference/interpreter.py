"""Running a graph with the reference functions: the golden model, and the runtime's CPU device."""

from collections.abc import Mapping, Sequence

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, Operation
from compiler.nnapi import Numerics
from compiler.reference.registry import Argument, Array, Call, references


def run_graph(graph: Graph, inputs: Sequence[Array], numerics: Numerics = Numerics.NNAPI) -> dict[int, Array]:
    """Values of every model input and every operation's outputs, by operand number.

    `inputs` are in the order of `graph.inputs`, with the operands' dtypes and dimensions (a dimension of 0
    in the operand's type takes any size). Shapes of outputs follow from the inputs, not from the operands.
    Raises GraphError where the rules of `numerics` refuse the model or an input does not fit, and
    UnsupportedError for operations and types without a reference.
    """
    values = {
        number: _checked_input(graph, number, value)
        for number, value in zip(graph.inputs, _complete(graph, inputs), strict=True)
    }
    functions = references()
    for index, operation in enumerate(graph.operations):
        label = _label(index, operation)
        function = functions.get(operation.code)
        if function is None:
            raise UnsupportedError(f"{label}: the reference does not compute {operation.code.name}")
        results = function(_call(graph, operation, label, values, numerics))
        values.update(zip(operation.outputs, results, strict=True))
    return values


def _complete(graph: Graph, inputs: Sequence[Array]) -> Sequence[Array]:
    if len(inputs) != len(graph.inputs):
        raise GraphError(f"model “{graph.name}” has {len(graph.inputs)} inputs, {len(inputs)} given")
    return inputs


def _checked_input(graph: Graph, number: int, value: Array) -> Array:
    kind = graph.operands[number].type
    fits = value.ndim == len(kind.dimensions) and all(
        expected in (0, actual) for expected, actual in zip(kind.dimensions, value.shape, strict=True)
    )
    if value.dtype != kind.dtype or not fits:
        raise GraphError(
            f"input operand {number} is {value.dtype} {list(value.shape)}; "
            f"the model wants {kind.dtype} {list(kind.dimensions)}"
        )
    return value


def _label(index: int, operation: Operation) -> str:
    name = f" “{operation.name}”" if operation.name else ""
    return f"{operation.code.name} (operation {index}{name})"


def _call(
    graph: Graph, operation: Operation, label: str, values: Mapping[int, Array], numerics: Numerics
) -> Call:
    arguments = []
    for number in operation.inputs:
        operand = graph.operands[number]
        value = operand.value if operand.is_constant else values.get(number)
        if value is None and not operand.omitted:
            raise GraphError(f"{label}: nothing produces operand {number} before this operation")
        arguments.append(Argument(operand.type, value))
    results = tuple(graph.operands[number].type for number in operation.outputs)
    return Call(label, tuple(arguments), results, numerics)
