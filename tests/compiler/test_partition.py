import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.graph import Graph, Operand, Operation
from compiler.nnapi import Numerics, OperationCode
from compiler.partition import BESIDE_HOST, Place, Segment, npu_refusals, partition, split
from compiler.passes.legalise import legalise
from npu_sim.config_io import load_machine, override
from tests.support.one_operation import OperandList, float32, int32, quant8

TINY = load_machine("tiny").target
WITHOUT_FLOAT = override(load_machine("tiny"), ["vector.float_lanes=0"]).target
RELU = OperationCode.RELU


@st.composite
def placed_graphs(draw: st.DrawFn) -> tuple[Graph, dict[int, str]]:
    """A random graph of up to six operations in topological order, and refusals for some of them."""
    count = draw(st.integers(1, 6))
    operations = []
    for index in range(count):
        sources = draw(st.lists(st.integers(0, index), min_size=1, max_size=3))
        operations.append(Operation(OperationCode.CONCATENATION, tuple(sources), (index + 1,)))
    outputs = sorted({count, *draw(st.lists(st.integers(1, count), max_size=2))})
    operands = tuple(Operand(quant8(1)) for _ in range(count + 1))
    refused = draw(st.sets(st.integers(0, count - 1)))
    return Graph(operands, tuple(operations), (0,), tuple(outputs)), dict.fromkeys(refused, "no")


def fewest_segments(graph: Graph, refusals: dict[int, str]) -> int:
    """By trying all orders of the operations."""
    best = len(graph.operations)
    for order in itertools.permutations(range(len(graph.operations))):
        known = {0}
        for number in order:
            if not known.issuperset(graph.operations[number].inputs):
                break
            known.update(graph.operations[number].outputs)
        else:
            places = [number in refusals for number in order]
            changes = sum(a is not b for a, b in itertools.pairwise(places))
            best = min(best, changes + 1)
    return best


@given(placed_graphs())
def test_no_order_of_the_operations_has_fewer_segments(case: tuple[Graph, dict[int, str]]) -> None:
    graph, refusals = case
    assert len(split(graph, refusals)) == fewest_segments(graph, refusals)


@given(placed_graphs())
def test_segments_hold_every_operation_once_on_its_device(case: tuple[Graph, dict[int, str]]) -> None:
    graph, refusals = case
    segments = split(graph, refusals)
    numbers = [number for segment in segments for number in segment.operations]
    assert sorted(numbers) == list(range(len(graph.operations)))
    for segment in segments:
        assert {n in refusals for n in segment.operations} == {segment.place is Place.REFERENCE}
        for number, operation in zip(segment.operations, segment.graph.operations, strict=True):
            whole = graph.operations[number]
            assert tuple(segment.operands[n] for n in operation.inputs) == whole.inputs
            assert tuple(segment.operands[n] for n in operation.outputs) == whole.outputs


@given(placed_graphs())
def test_segments_in_order_find_their_inputs_and_leave_the_outputs(
    case: tuple[Graph, dict[int, str]],
) -> None:
    graph, refusals = case
    known = set(graph.inputs)
    for segment in split(graph, refusals):
        assert known.issuperset(segment.operands[n] for n in segment.graph.inputs)
        known.update(segment.operands[n] for n in segment.graph.outputs)
    assert known.issuperset(graph.outputs)


@given(placed_graphs())
def test_a_segment_leaves_only_what_is_needed_outside(case: tuple[Graph, dict[int, str]]) -> None:
    graph, refusals = case
    segments = split(graph, refusals)
    for index, segment in enumerate(segments):
        later = {s.operands[n] for s in segments[index + 1 :] for n in s.graph.inputs}
        left = {segment.operands[n] for n in segment.graph.outputs}
        assert left <= later | set(graph.outputs)


def chain(*codes_and_types: tuple[OperationCode, bool]) -> Graph:
    """Unary operations one after the other; True: on float32."""
    operands = OperandList()
    types = [float32(2) if is_float else quant8(2, scale=0.5) for _, is_float in codes_and_types]
    source = operands.operand(types[0])
    first, made = source, []
    for (code, _), type_ in zip(codes_and_types, types, strict=True):
        result = operands.operand(type_)
        operands.operation(code, [source], [result])
        made.append(result)
        source = result
    return operands.finish([first], [made[-1]])


def test_a_graph_for_the_npu_alone_is_one_segment_with_the_graph_itself() -> None:
    graph = legalise(chain((RELU, False), (OperationCode.RELU6, False)), Numerics.NNAPI)
    (segment,) = partition(graph, TINY, Numerics.NNAPI)
    assert segment == Segment(place=Place.NPU, graph=graph, operands=(0, 1, 2), operations=(0, 1))
    assert segment.graph is graph


def test_what_the_machine_cannot_do_goes_to_the_reference_with_the_reason() -> None:
    graph = legalise(chain((RELU, True)), Numerics.NNAPI)
    (segment,) = partition(graph, WITHOUT_FLOAT, Numerics.NNAPI)
    assert segment.place is Place.REFERENCE
    assert "FLOAT32" in segment.refusals[0]
    assert npu_refusals(graph, TINY, Numerics.NNAPI) == {}


def test_constants_are_copied_only_where_they_are_used() -> None:
    operands = OperandList()
    source, fuse = operands.operand(quant8(2)), operands.scalar(0)
    weights = [operands.operand(quant8(2), np.ones(2)) for _ in range(2)]
    results = [operands.operand(quant8(2)) for _ in range(2)]
    operands.operation(OperationCode.ADD, [source, weights[0], fuse], [results[0]])
    operands.operation(OperationCode.ADD, [results[0], weights[1], fuse], [results[1]])
    first, second = split(operands.finish([source], [results[1]]), {1: "no"})
    assert first.operands == (source, fuse, weights[0], results[0])
    assert second.operands == (fuse, weights[1], results[0], results[1])
    assert [second.operands[n] for n in second.graph.inputs] == [results[0]]


def test_a_tensor_that_is_read_later_and_an_output_is_left_once() -> None:
    operands = OperandList()
    a, b, c = (operands.operand(quant8(2)) for _ in range(3))
    operands.operation(RELU, [a], [b])
    operands.operation(RELU, [b], [c])
    first, second = split(operands.finish([a], [c, b]), {1: "no"})
    assert [first.operands[n] for n in first.graph.outputs] == [b]
    assert [second.operands[n] for n in second.graph.outputs] == [c]


@pytest.mark.parametrize(("refused", "first"), [({0}, Place.REFERENCE), ({1}, Place.NPU)])
def test_the_first_segment_is_on_the_device_that_saves_a_change(refused: set[int], first: Place) -> None:
    graph = chain((RELU, False), (RELU, False))
    segments = split(graph, dict.fromkeys(refused, "no"))
    assert segments[0].place is first
    assert len(segments) == 2


def test_of_two_equal_beginnings_the_npu_starts() -> None:
    operands = OperandList()
    a, b, c = (operands.operand(quant8(2)) for _ in range(3))
    operands.operation(RELU, [a], [b])
    operands.operation(RELU, [a], [c])
    segments = split(operands.finish([a], [b, c]), {0: "no"})
    assert [segment.place for segment in segments] == [Place.NPU, Place.REFERENCE]


RESHAPE, DENSE, DEQUANTIZE = (
    OperationCode.RESHAPE,
    OperationCode.FULLY_CONNECTED,
    OperationCode.DEQUANTIZE,
)


class Network:
    """Float and quant8 layers on 2 × 2 tensors, built call by call."""

    def __init__(self) -> None:
        self.operands = OperandList()
        self._fuse = self.operands.scalar(0)

    def tensor(self, is_float: bool = True) -> int:
        return self.operands.operand(float32(2, 2) if is_float else quant8(2, 2, scale=0.5))

    def unary(self, code: OperationCode, source: int, is_float: bool = True) -> int:
        result = self.tensor(is_float)
        self.operands.operation(code, [source], [result])
        return result

    def add(self, first: int, second: int) -> int:
        result = self.tensor()
        self.operands.operation(OperationCode.ADD, [first, second, self._fuse], [result])
        return result

    def reshape(self, source: int) -> int:
        result = self.tensor()
        shape = self.operands.operand(int32(2), np.array([2, 2], np.int32))
        self.operands.operation(RESHAPE, [source, shape], [result])
        return result

    def dense(self, source: int, is_float: bool = True) -> int:
        """On the host if it is float: the NPU multiplies quant8 matrices only."""
        types = (float32(2, 2), float32(2)) if is_float else (quant8(2, 2), int32(2, scale=0.5))
        weights, bias = (self.operands.operand(kind, np.zeros(kind.dimensions, kind.dtype)) for kind in types)
        result = self.tensor(is_float)
        self.operands.operation(DENSE, [source, weights, bias, self._fuse], [result])
        return result

    def on_host(self, inputs: list[int], outputs: list[int]) -> list[int]:
        graph = legalise(self.operands.finish(inputs, outputs), Numerics.NNAPI)
        return [*npu_refusals(graph, TINY, Numerics.NNAPI)]


@pytest.mark.parametrize("code", [RESHAPE, RELU])
def test_a_lone_operation_without_products_stays_on_the_host_around_it(code: OperationCode) -> None:
    network = Network()
    x = network.tensor()
    before = network.dense(x)
    between = network.reshape(before) if code is RESHAPE else network.unary(code, before)
    assert network.on_host([x], [network.dense(between)]) == [0, 1, 2]


def test_what_is_moved_says_why() -> None:
    network = Network()
    x = network.tensor()
    y = network.unary(RELU, network.dense(x))
    graph = legalise(network.operands.finish([x], [y]), Numerics.NNAPI)
    (segment,) = partition(graph, TINY, Numerics.NNAPI)
    assert segment.place is Place.REFERENCE
    assert "TENSOR_FLOAT32" in segment.refusals[0]
    assert segment.refusals[1] == BESIDE_HOST


def test_beginnings_and_ends_without_products_go_with_the_host() -> None:
    network = Network()
    x = network.tensor()
    y = network.unary(RELU, network.dense(network.unary(RELU, x)))
    assert network.on_host([x], [y]) == [0, 1, 2]


def test_a_shortcut_past_the_host_does_not_hold_work_on_the_npu() -> None:
    network = Network()
    x = network.tensor()
    before = network.add(network.dense(x), x)
    y = network.add(network.dense(before), before)
    assert network.on_host([x], [y]) == [0, 1, 2, 3]


def test_what_hands_tensors_to_products_of_the_npu_stays_there() -> None:
    network = Network()
    x = network.tensor(is_float=False)
    real = network.unary(DEQUANTIZE, network.dense(x, is_float=False))
    y = network.add(network.dense(real), real)
    assert network.on_host([x], [y]) == [2]


def test_what_the_host_has_no_share_in_stays_on_the_npu() -> None:
    network = Network()
    x = network.tensor()
    assert network.on_host([x], [network.dense(x), network.unary(RELU, x)]) == [0]


def test_a_shared_model_input_joins_nothing() -> None:
    network = Network()
    x = network.tensor(is_float=False)
    product = network.dense(x, is_float=False)
    y = network.dense(network.unary(DEQUANTIZE, x))
    assert network.on_host([x], [product, y]) == [1, 2]
