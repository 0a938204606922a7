import numpy as np
import pytest

from compiler.nnapi import OperationCode
from runtime.errors import BadDataError
from runtime.model import Model
from tests.support.nnapi_models import QUANT8


def relu_chain(
    *steps: tuple[int, int], inputs: tuple[int, ...] = (0,), outputs: tuple[int, ...] = (3,)
) -> Model:
    """A model of four tensors and RELU operations (source, target), in the order given."""
    model = Model("chain")
    for number in range(4):
        model.add_operand(QUANT8, f"t{number}")
    for source, target in steps:
        model.add_operation(OperationCode.RELU, [source], [target])
    model.identify_inputs_and_outputs(inputs, outputs)
    return model


def test_operations_are_put_in_an_order_in_which_each_follows_its_producers() -> None:
    model = relu_chain((2, 3), (0, 1), (1, 2))
    model.finish()
    assert [operation.outputs for operation in model.graph.operations] == [(1,), (2,), (3,)]


def test_an_order_that_is_legal_already_is_kept() -> None:
    model = relu_chain((0, 2), (0, 1), (2, 3), outputs=(3, 1))
    model.finish()
    assert [operation.outputs for operation in model.graph.operations] == [(2,), (1,), (3,)]


@pytest.mark.parametrize(
    ("model", "fragment"),
    [
        (relu_chain((0, 3), (2, 1), (1, 2)), r"RELU \(operation 1\) depends on its own output"),
        (relu_chain((0, 2), (2, 3), (1, 1)), r"RELU \(operation 2\) depends on its own output"),
        (relu_chain((0, 1), (0, 1), (1, 3)), "writes operand 1, which operation 0 writes too"),
        (relu_chain((1, 0), (0, 3)), r"writes operand 0, which is a model input"),
        (relu_chain((1, 3)), "operand 1 “t1” is a temporary that no operation writes"),
        (relu_chain((0, 1), (1, 2), outputs=(2, 3)), "“t3” is a model output that no operation writes"),
        (relu_chain((0, 3), outputs=()), "has no outputs, must identify at least 1"),
        (relu_chain(), "has no operations, must have at least 1"),
    ],
)  # fmt: skip
def test_a_structure_that_nnapi_forbids_is_bad_data(model: Model, fragment: str) -> None:
    with pytest.raises(BadDataError, match=f"Model.finish: .*{fragment}"):
        model.finish()


def test_a_temporary_need_not_be_read() -> None:
    model = relu_chain((0, 1), (0, 2), (2, 3))
    model.finish()
    assert len(model.graph.operations) == 3


def test_constants_cannot_be_written() -> None:
    model = Model()
    model.set_operand_value(model.add_operand(QUANT8), np.zeros((2, 3), np.uint8))
    model.add_operation(OperationCode.RELU, [0], [0])
    model.identify_inputs_and_outputs([], [model.add_operand(QUANT8)])
    with pytest.raises(BadDataError, match="writes operand 0, which is a constant"):
        model.finish()


def test_an_input_may_be_unused() -> None:
    model = Model()
    for _ in range(3):
        model.add_operand(QUANT8)
    model.add_operation(OperationCode.RELU, [0], [2])
    model.identify_inputs_and_outputs([0, 1], [2])
    model.finish()
    assert model.graph.inputs == (0, 1)
