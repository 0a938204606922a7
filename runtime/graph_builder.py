"""From recorded NNAPI calls to the compiler's graph: structure rules and execution order."""

import collections
import enum
from collections.abc import Sequence

from compiler.graph import Graph, Operand, Operation
from runtime.errors import BadDataError


class Role(enum.StrEnum):
    """What an operand is to the model."""

    TEMPORARY = "temporary"
    INPUT = "model input"
    OUTPUT = "model output"
    CONSTANT = "constant"


def build_graph(
    operands: Sequence[Operand],
    operations: Sequence[Operation],
    inputs: Sequence[int],
    outputs: Sequence[int],
    roles: Sequence[Role],
    name: str,
) -> Graph:
    """Check the structure and bring the operations into an order in which each follows its producers.

    Raises BadDataError for an empty model, an operand written twice or never, and a cycle. What an operation
    writes need not be read.
    """
    if not operations:
        raise BadDataError(f"model “{name}” has no operations, must have at least 1")
    if not outputs:
        raise BadDataError(f"model “{name}” has no outputs, must identify at least 1")
    producers = _producers(operations, roles)
    _check_all_written(operands, roles, producers)
    return Graph(
        operands=tuple(operands),
        operations=_in_order(operations, producers),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        name=name,
    )


def describe(operands: Sequence[Operand], number: int) -> str:
    """How messages name an operand."""
    name = operands[number].name
    return f"operand {number}" + (f" “{name}”" if name else "")


def _producers(operations: Sequence[Operation], roles: Sequence[Role]) -> dict[int, int]:
    producers: dict[int, int] = {}
    for index, operation in enumerate(operations):
        for number in operation.outputs:
            place = f"{operation.code.name} (operation {index}) writes operand {number}"
            if roles[number] not in (Role.TEMPORARY, Role.OUTPUT):
                raise BadDataError(
                    f"{place}, which is a {roles[number]}; must be a temporary or a model output"
                )
            if number in producers:
                raise BadDataError(
                    f"{place}, which operation {producers[number]} writes too; must be written exactly once"
                )
            producers[number] = index
    return producers


def _check_all_written(operands: Sequence[Operand], roles: Sequence[Role], producers: dict[int, int]) -> None:
    for number, role in enumerate(roles):
        if role in (Role.INPUT, Role.CONSTANT):
            continue
        if number not in producers:
            raise BadDataError(f"{describe(operands, number)} is a {role} that no operation writes")


def _in_order(operations: Sequence[Operation], producers: dict[int, int]) -> tuple[Operation, ...]:
    """Operations whose producers are done, in the order they became so; first those added first."""
    missing = []
    consumers: dict[int, list[int]] = collections.defaultdict(list)
    for index, operation in enumerate(operations):
        sources = {producers[number] for number in operation.inputs if number in producers}
        missing.append(len(sources))
        for source in sources:
            consumers[source].append(index)
    if all(source < consumer for source, found in consumers.items() for consumer in found):
        return tuple(operations)
    ready = collections.deque(index for index, count in enumerate(missing) if count == 0)
    order = []
    while ready:
        index = ready.popleft()
        order.append(operations[index])
        for consumer in consumers[index]:
            missing[consumer] -= 1
            if missing[consumer] == 0:
                ready.append(consumer)
    if len(order) < len(operations):
        stuck = next(index for index, count in enumerate(missing) if count)
        raise BadDataError(
            f"{operations[stuck].code.name} (operation {stuck}) depends on its own output; must have no cycle"
        )
    return tuple(order)
