import dataclasses

import pytest

from compiler.graph import Graph
from compiler.nnapi import Numerics, OperandCode, OperationCode
from compiler.operation import OperationView
from runtime.devices.support import supported_operations
from runtime.model import Model
from tests.support.one_operation import float32, quant8


def chain(*codes: OperationCode, first: tuple[int, ...] = (2, 3), rest: tuple[int, ...] = ()) -> Graph:
    """Unary operations one after the other, whose results' dimensions are left open."""
    model = Model()
    numbers = [model.add_operand(float32(*first))]
    for code in codes:
        numbers.append(model.add_operand(float32(*rest)))
        model.add_operation(code, numbers[-2:-1], numbers[-1:])
    model.identify_inputs_and_outputs(numbers[:1], numbers[-1:])
    model.finish()
    return model.graph


RELU, ABS = OperationCode.RELU, OperationCode.ABS


def test_dimensions_that_follow_are_known_to_the_operations_behind() -> None:
    assert supported_operations(chain(RELU, RELU, RELU), Numerics.NNAPI) == (True, True, True)


def test_an_operation_that_is_not_implemented_does_not_run() -> None:
    graph = chain(RELU, ABS, RELU, rest=(2, 3))
    assert supported_operations(graph, Numerics.NNAPI) == (True, False, True)


@pytest.mark.parametrize("first", [(), (0, 3)])
def test_open_dimensions_do_not_forbid_an_operation(first: tuple[int, ...]) -> None:
    assert supported_operations(chain(RELU, ABS, first=first), Numerics.NNAPI) == (True, False)


def test_types_of_later_levels_do_not_run_whatever_their_dimensions() -> None:
    graph = chain(RELU, first=(0, 3))
    half = OperandCode.TENSOR_FLOAT16
    operands = [
        dataclasses.replace(operand, type=dataclasses.replace(operand.type, code=half))
        for operand in graph.operands
    ]
    later = dataclasses.replace(graph, operands=tuple(operands))
    assert supported_operations(later, Numerics.NNAPI) == (False,)


def test_an_operation_that_breaks_a_rule_does_not_run() -> None:
    model = Model()
    source, result = model.add_operand(quant8(2, scale=1)), model.add_operand(quant8(2, scale=0.5))
    model.add_operation(RELU, [source], [result])
    model.identify_inputs_and_outputs([source], [result])
    model.finish()
    assert supported_operations(model.graph, Numerics.NNAPI) == (False,)


@pytest.mark.parametrize("first", [(2, 3), (0, 3)])
def test_a_device_may_refuse_what_passes(first: tuple[int, ...]) -> None:
    def refuse(view: OperationView) -> str | None:
        return "no" if view.operation.code is RELU else None

    graph = chain(RELU, OperationCode.LOGISTIC, first=first)
    assert supported_operations(graph, Numerics.NNAPI, refuse) == (False, True)


def test_a_refusal_that_needs_the_dimensions_is_asked_when_they_are_known() -> None:
    def refuse(view: OperationView) -> str | None:
        rows, _ = view.input(0).type.dimensions
        return None if 6 // rows else "too long"

    assert supported_operations(chain(RELU, first=(0, 3)), Numerics.NNAPI, refuse) == (True,)
