"""Cut a network at some of its tensors: what is needed to compute them, and nothing behind."""

import difflib
from collections.abc import Collection, Mapping, Sequence

from compiler.graph import Operation
from runtime.errors import BadDataError
from runtime.model import Model

TensorKey = str | int
"""How a caller names a tensor: by its name, or by its number; text of digits that is no name is a number.

The first of several names that a converter joined will do, as reports show it.
"""

FUSED_NAME_SEPARATOR = ";"
"""Between the names of operations that a converter fused; the first one produced the tensor."""


def needed_operations(
    inputs: Sequence[Collection[int]], outputs: Sequence[Collection[int]], wanted: Collection[int]
) -> list[int]:
    """Numbers, in order, of the operations that `wanted` tensors depend on.

    `inputs` and `outputs` are the tensors that each operation reads and writes.
    """
    producers = {tensor: index for index, written in enumerate(outputs) for tensor in written}
    needed: set[int] = set()
    left = [producers[tensor] for tensor in wanted if tensor in producers]
    while left:
        index = left.pop()
        if index not in needed:
            needed.add(index)
            left += [producers[tensor] for tensor in inputs[index] if tensor in producers]
    return sorted(needed)


def find_tensors(keys: Sequence[TensorKey], names: Mapping[int, str], written: Collection[int]) -> list[int]:
    """Numbers of the tensors that the keys mean.

    `names` has the name of every tensor, `written` those that an operation makes. Raises BadDataError for a
    tensor that is unknown, ambiguous, named twice, or made by no operation.
    """
    found: list[int] = []
    for key in keys:
        number = _find(key, names)
        if number not in written:
            raise BadDataError(
                f"until {key!r}: tensor {number} “{names[number]}” is made by no operation; it must be"
            )
        if number in found:
            raise BadDataError(f"until {key!r}: tensor {number} “{names[number]}” is named twice")
        found.append(number)
    return found


def _find(key: TensorKey, names: Mapping[int, str]) -> int:
    if isinstance(key, int) or (key not in names.values() and key.isdecimal()):
        if int(key) not in names:
            raise BadDataError(
                f"until {key!r}: there is no tensor of this number, must be one of the model's"
            )
        return int(key)
    numbers = [number for number, name in names.items() if name == key]
    numbers = numbers or [n for n, name in names.items() if name.partition(FUSED_NAME_SEPARATOR)[0] == key]
    if len(numbers) > 1:
        raise BadDataError(f"until {key!r}: tensors {numbers} have this name; give a number")
    if not numbers:
        near = difflib.get_close_matches(key, sorted(set(names.values())), n=3)
        hint = f"; near are {', '.join(near)}" if near else ""
        raise BadDataError(f"until {key!r}: no tensor has this name{hint}")
    return numbers[0]


def cut_model(model: Model, until: Sequence[TensorKey]) -> Model:
    """The part of a finished model that computes the `until` tensors, which become its outputs in that order.

    Inputs that the part does not read are dropped. Numbers are those of the file the model came from, if any,
    else of its operands. Raises BadDataError for a tensor that cannot be an output.
    """
    graph = model.graph
    numbers = model.tensor_indices or {number: number for number in range(len(graph.operands))}
    operand_of = {tensor: operand for operand, tensor in numbers.items()}
    names = {tensor: graph.operands[operand].name for operand, tensor in numbers.items()}
    written = {number for operation in graph.operations for number in operation.outputs}
    tensors = find_tensors(until, names, {t for t, operand in operand_of.items() if operand in written})
    wanted = [operand_of[tensor] for tensor in tensors]
    kept = needed_operations(
        [operation.inputs for operation in graph.operations],
        [operation.outputs for operation in graph.operations],
        wanted,
    )
    return _rebuilt(model, [graph.operations[index] for index in kept], wanted)


def _rebuilt(model: Model, operations: Sequence[Operation], outputs: Sequence[int]) -> Model:
    """A model of some operations of another one, which makes `outputs` and all that nobody reads."""
    graph = model.graph
    read = {number for operation in operations for number in operation.inputs}
    written = [number for operation in operations for number in operation.outputs]
    unread = [number for number in written if number not in read and number not in outputs]
    part = Model(model.name)
    new: dict[int, int] = {}
    for number in sorted({*read, *written}):
        operand = graph.operands[number]
        new[number] = part.add_operand(operand.type, operand.name)
        if operand.omitted or operand.value is not None:
            part.set_operand_value(new[number], operand.value)
    for operation in operations:
        part.add_operation(
            operation.code,
            [new[number] for number in operation.inputs],
            [new[number] for number in operation.outputs],
            operation.name,
        )
    part.identify_inputs_and_outputs(
        [new[number] for number in graph.inputs if number in read],
        [new[number] for number in (*outputs, *unread)],
    )
    part.tensor_indices = {new[n]: tensor for n, tensor in model.tensor_indices.items() if n in new}
    part.finish()
    return part
