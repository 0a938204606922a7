"""Split a graph between the NPU and the reference device, with as few changes of device as possible.

An operation runs on the NPU if its specification has nothing against it, with one exception. Join the
operations that the NPU could run wherever one hands a tensor to another. A group that results has only
operations of the host for neighbours; if it has any, but no multiply-accumulates, it stays on the host, for
elementwise work and moved bytes do not pay for a crossing. So a graph that the NPU can run as a whole, or a
group without neighbours, runs there. Moving a group never leads to more segments: the host segments around
it take it in.

Given where each runs, operations are taken in topological order, staying on a device while anything is
ready there; of the two devices to start with, the one that leads to fewer segments wins (then the NPU). No
order of whole segments has fewer: by induction, after each change of device everything is done that any
other order can have done.
"""

import dataclasses
import enum
from collections.abc import Iterator, Mapping, Sequence

from compiler.graph import Graph
from compiler.nnapi import Numerics
from compiler.operation import REGISTRY, OperationView
from isa.target import Target

BESIDE_HOST = (
    "it has no multiply-accumulates and its neighbours run on the host:"
    " a crossing would cost more than it saves"
)
"""Why an operation that the NPU could run stays on the host."""


class Place(enum.StrEnum):
    """Where a segment runs."""

    NPU = "npu"
    REFERENCE = "reference"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a graph that runs on one device without a break.

    The inputs of `graph` are the tensors it needs from outside, its outputs those that later segments or the
    caller need, both in the order of the whole graph. `operands` and `operations` give the numbers in the
    whole graph of the operands and operations of `graph`. `refusals` says by number of the whole graph why
    an operation does not run on the NPU; empty on the NPU.
    """

    place: Place
    graph: Graph
    operands: tuple[int, ...]
    operations: tuple[int, ...]
    refusals: dict[int, str] = dataclasses.field(default_factory=dict)


def partition(graph: Graph, target: Target, numerics: Numerics) -> tuple[Segment, ...]:
    """The segments of a legal graph whose types are all known, in an order in which they can run.

    A graph that fits on the NPU as a whole is one segment with the graph itself.
    """
    return split(graph, npu_refusals(graph, target, numerics))


def npu_refusals(graph: Graph, target: Target, numerics: Numerics) -> dict[int, str]:
    """Why operations do not run on the NPU of a target, by number; those that do are not listed."""
    found = {}
    for number, operation in enumerate(graph.operations):
        reason = REGISTRY[operation.code].npu_refusal(OperationView(graph, operation, numerics), target)
        if reason is not None:
            found[number] = reason
    stranded = {
        number: BESIDE_HOST
        for group, meets_host in _npu_groups(graph, found)
        if meets_host and not any(_macs(graph, number, numerics) for number in group)
        for number in group
    }
    return dict(sorted({**found, **stranded}.items()))


def _macs(graph: Graph, number: int, numerics: Numerics) -> int:
    operation = graph.operations[number]
    return REGISTRY[operation.code].macs(OperationView(graph, operation, numerics))


def _npu_groups(graph: Graph, refusals: Mapping[int, str]) -> Iterator[tuple[set[int], bool]]:
    """Operations not refused, joined by the tensors between them; whether each group meets a refused one."""
    neighbours: list[set[int]] = [set() for _ in graph.operations]
    producers = {number: i for i, operation in enumerate(graph.operations) for number in operation.outputs}
    for reader, operation in enumerate(graph.operations):
        for number in operation.inputs:
            if number in producers:
                neighbours[reader].add(producers[number])
                neighbours[producers[number]].add(reader)
    seen = set(refusals)
    for start in range(len(graph.operations)):
        if start in seen:
            continue
        group, waiting, meets_host = {start}, [start], False
        while waiting:
            around = neighbours[waiting.pop()]
            meets_host = meets_host or not around.isdisjoint(refusals)
            fresh = around - group - refusals.keys()
            group |= fresh
            waiting += fresh
        seen |= group
        yield group, meets_host


def split(graph: Graph, refusals: Mapping[int, str]) -> tuple[Segment, ...]:
    """The segments of a graph of which the operations in `refusals` run on the reference device."""
    if not refusals:
        count = len(graph.operations)
        return (
            Segment(
                place=Place.NPU,
                graph=graph,
                operands=tuple(range(len(graph.operands))),
                operations=tuple(range(count)),
            ),
        )
    places = [Place.REFERENCE if number in refusals else Place.NPU for number in range(len(graph.operations))]
    groups = min((_grouped(graph, places, first) for first in Place), key=len)
    return tuple(_segment(graph, groups, index, refusals) for index in range(len(groups)))


def _grouped(graph: Graph, places: Sequence[Place], first: Place) -> list[list[int]]:
    """Operation numbers by segment; each segment takes all it can in the order of the graph."""
    producers = {number: i for i, operation in enumerate(graph.operations) for number in operation.outputs}
    sources = [
        {producers[number] for number in operation.inputs if number in producers}
        for operation in graph.operations
    ]
    groups: list[list[int]] = []
    place, done = first, set[int]()
    while len(done) < len(places):
        group = []
        for number, here in enumerate(places):
            if here is place and number not in done and sources[number] <= done:
                group.append(number)
                done.add(number)
        if group:
            groups.append(group)
        place = Place.NPU if place is Place.REFERENCE else Place.REFERENCE
    return groups


def _segment(
    graph: Graph, groups: Sequence[Sequence[int]], index: int, refusals: Mapping[int, str]
) -> Segment:
    """The segment of one group: a graph of its own with the operands it uses."""
    group = groups[index]
    own = [graph.operations[number] for number in group]
    read = {number for operation in own for number in operation.inputs}
    written = {number for operation in own for number in operation.outputs}
    read_later = {
        number for later in groups[index + 1 :] for i in later for number in graph.operations[i].inputs
    }
    wanted = written & (read_later | set(graph.outputs))
    from_outside = [
        number
        for number in sorted(read - written)
        if not (graph.operands[number].is_constant or graph.operands[number].omitted)
    ]
    operands = tuple(sorted(read | written))
    local = {number: i for i, number in enumerate(operands)}
    return Segment(
        place=Place.REFERENCE if group[0] in refusals else Place.NPU,
        graph=Graph(
            operands=tuple(graph.operands[number] for number in operands),
            operations=tuple(
                dataclasses.replace(
                    operation,
                    inputs=tuple(local[number] for number in operation.inputs),
                    outputs=tuple(local[number] for number in operation.outputs),
                )
                for operation in own
            ),
            inputs=tuple(local[number] for number in from_outside),
            outputs=tuple(local[number] for number in sorted(wanted)),
            name=graph.name,
            operation_numbers=tuple(group),
        ),
        operands=operands,
        operations=tuple(group),
        refusals={number: refusals[number] for number in group if number in refusals},
    )
