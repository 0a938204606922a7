import pytest

from compiler.errors import GraphError
from compiler.graph import Graph
from compiler.nnapi import Numerics, OperationCode, ResultCode
from compiler.passes.legalise import legalise
from compiler.specialise import InputShape, fits, is_specified, legalise_known, specialise, unspecified_inputs
from tests.support.one_operation import OperandList, float32, int32, quant8


def two_inputs() -> Graph:
    """sum = a (0, 3) + b (2, 3); other = relu(b)."""
    operands = OperandList()
    a, b = operands.operand(quant8(0, 3)), operands.operand(quant8(2, 3))
    fuse = operands.scalar(0)
    total, other = operands.operand(quant8()), operands.operand(quant8())
    operands.operation(OperationCode.ADD, [a, b, fuse], [total])
    operands.operation(OperationCode.RELU, [b], [other])
    return operands.finish([a, b], [total, other])


def test_open_inputs_are_those_with_a_zero_or_without_rank() -> None:
    assert unspecified_inputs(two_inputs()) == (0,)
    assert not is_specified(float32())
    assert is_specified(two_inputs().operands[2].type)


def test_a_specialised_graph_becomes_fully_known() -> None:
    graph = legalise(specialise(two_inputs(), [(2, 3), (2, 3)]), Numerics.NNAPI)
    assert [graph.operands[n].type.dimensions for n in graph.outputs] == [(2, 3), (2, 3)]


def test_an_input_that_is_left_out_is_omitted_and_no_input() -> None:
    graph = specialise(two_inputs(), [None, (2, 3)])
    assert graph.inputs == (1,)
    assert graph.operands[0].omitted


@pytest.mark.parametrize("shapes", [[(2, 4), (2, 3)], [(2,), (2, 3)], [(0, 3), (2, 3)], [(2, 3), (1, 3)]])
def test_a_shape_that_the_model_does_not_admit_is_bad_data(shapes: list[InputShape]) -> None:
    with pytest.raises(GraphError, match="must be at least 1 and fit the model's") as caught:
        specialise(two_inputs(), shapes)
    assert caught.value.result_code is ResultCode.BAD_DATA


def test_a_type_without_rank_admits_any_shape() -> None:
    assert fits((4, 5), int32())
    assert not fits((4,), two_inputs().operands[2].type)


def test_what_does_not_depend_on_open_inputs_is_known_at_once() -> None:
    graph = legalise_known(two_inputs(), Numerics.NNAPI)
    assert [graph.operands[n].type.dimensions for n in graph.outputs] == [(), (2, 3)]
    assert len(graph.operations) == 2


def test_what_does_not_depend_on_open_inputs_is_checked_at_once() -> None:
    operands = OperandList()
    a, b = operands.operand(quant8(0)), operands.operand(quant8(2))
    first, second = operands.operand(quant8()), operands.operand(quant8(3))
    operands.operation(OperationCode.RELU, [a], [first])
    operands.operation(OperationCode.RELU, [b], [second])
    with pytest.raises(GraphError, match=r"RELU \(operation 1\)"):
        legalise_known(operands.finish([a, b], [first, second]), Numerics.NNAPI)
