import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.errors import BadDataError, BadStateError, RuntimeFailure, UnexpectedNullError
from runtime.lifecycle import Phase
from runtime.model import Model
from tests.support.nnapi_models import INT32, QUANT8, add_model
from tests.support.one_operation import quant8


def test_operands_are_numbered_in_the_order_they_are_added() -> None:
    model = Model()
    assert [model.add_operand(QUANT8), model.add_operand(INT32)] == [0, 1]


def test_a_finished_model_is_the_graph_of_its_calls() -> None:
    graph = add_model().graph
    assert (graph.name, graph.inputs, graph.outputs) == ("adder", (0, 1), (3,))
    assert [operand.name for operand in graph.operands] == ["a", "b", "", "sum"]
    assert graph.operations[0].code is OperationCode.ADD
    assert graph.operations[0].name == "adding"


def test_short_values_are_copied_at_the_call() -> None:
    model, value = Model(), np.arange(128, dtype=np.uint8)
    operand = model.add_operand(quant8(128))
    model.set_operand_value(operand, value)
    value[:] = 0
    assert _constant(model, operand)[127] == 127


def test_long_values_are_copied_at_finish() -> None:
    model, value = Model(), np.zeros(129, np.uint8)
    operand = model.add_operand(quant8(129))
    model.set_operand_value(operand, value)
    value[:] = 7
    constant = _constant(model, operand)
    value[:] = 0
    assert constant[128] == 7


def _constant(model: Model, operand: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.generic]]":
    """Finish a model of the one operation RELU(operand) and return the operand's value."""
    result = model.add_operand(quant8())
    model.add_operation(OperationCode.RELU, [operand], [result])
    model.identify_inputs_and_outputs([], [result])
    model.finish()
    value = model.graph.operands[operand].value
    assert value is not None
    return value


def test_constants_cannot_be_written_through_the_graph() -> None:
    value = add_model().graph.operands[2].value
    assert value is not None
    assert not value.flags.writeable


def test_values_may_be_given_as_bytes() -> None:
    model = Model()
    operand = model.add_operand(quant8(3))
    model.set_operand_value(operand, b"\x02\x01\xff")
    assert _constant(model, operand).tolist() == [2, 1, 255]


@pytest.mark.parametrize(
    ("value", "fragment"),
    [
        (np.zeros((2, 2), np.uint8), "value has 4 bytes, must have 6 for TENSOR_QUANT8_ASYMM [2, 3]"),
        (np.zeros((2, 3), np.int8), "value has dtype int8, must have uint8"),
        (b"12345", "value has 5 bytes, must have 6"),
    ],
)
def test_a_value_of_other_size_or_dtype_is_bad_data(value: "np.ndarray | bytes", fragment: str) -> None:  # type: ignore[type-arg]
    model = Model()
    model.add_operand(QUANT8, "weights")
    with pytest.raises(BadDataError) as caught:
        model.set_operand_value(0, value)
    assert str(caught.value).startswith("Model.set_operand_value: operand 0 “weights”: ")
    assert fragment in str(caught.value)


def test_a_value_needs_a_fully_specified_operand() -> None:
    model = Model()
    model.add_operand(quant8(2, 0))
    with pytest.raises(BadDataError, match=r"dimensions \[2, 0\], must be fully specified"):
        model.set_operand_value(0, b"")


def test_none_marks_an_operand_as_omitted() -> None:
    model = Model()
    model.add_operand(QUANT8)
    model.set_operand_value(0, None)
    with pytest.raises(BadDataError, match="is a constant already, cannot be a model input"):
        model.identify_inputs_and_outputs([0], [])


@pytest.mark.parametrize("index", [-1, 1])
def test_an_operand_that_does_not_exist_is_bad_data(index: int) -> None:
    model = Model()
    model.add_operand(QUANT8)
    for call in (
        lambda: model.set_operand_value(index, np.int32(0)),
        lambda: model.add_operation(OperationCode.RELU, [index], [0]),
        lambda: model.identify_inputs_and_outputs([], [index]),
    ):
        with pytest.raises(BadDataError, match=f"operand {index} does not exist, must be 0 to 0"):
            call()


def test_an_unknown_operation_code_is_bad_data() -> None:
    with pytest.raises(BadDataError, match="operation code is 102, must be 0 to 101, 10000"):
        Model().add_operation(102, [], [])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inputs", "outputs", "fragment"),
    [
        ([0, 0], [1], "is a model input already, cannot be a model input"),
        ([0], [0], "is a model input already, cannot be a model output"),
        ([2], [1], "is a constant already, cannot be a model input"),
    ],
)
def test_an_operand_has_one_role(inputs: list[int], outputs: list[int], fragment: str) -> None:
    model = Model()
    for _ in range(2):
        model.add_operand(QUANT8)
    model.set_operand_value(model.add_operand(INT32), np.int32(1))
    with pytest.raises(BadDataError, match=fragment):
        model.identify_inputs_and_outputs(inputs, outputs)


def test_a_refused_identification_changes_nothing() -> None:
    model = add_model(finished=False)
    with pytest.raises(BadDataError):
        model.identify_inputs_and_outputs([2], [])
    model.finish()
    assert model.graph.inputs == (0, 1)


def test_an_input_cannot_become_a_constant() -> None:
    with pytest.raises(BadDataError, match="operand 0 “a” is a model input, must not have a value"):
        add_model(finished=False).set_operand_value(0, np.zeros((2, 3), np.uint8))


def test_finishing_twice_is_bad_state() -> None:
    with pytest.raises(BadStateError, match=r"Model\.finish: the model is finished"):
        add_model().finish()


def test_a_finished_model_cannot_be_changed() -> None:
    model = add_model()
    for call in (
        lambda: model.add_operand(INT32),
        lambda: model.set_operand_value(0, None),
        lambda: model.add_operation(OperationCode.ADD, [], []),
        lambda: model.identify_inputs_and_outputs([], []),
        lambda: model.relax_computation_float32_to_float16(True),
    ):
        with pytest.raises(BadStateError, match="legal only while the model is being built"):
            call()


def test_a_model_that_fails_to_finish_stays_invalid() -> None:
    model = Model()
    with pytest.raises(BadDataError, match=r"Model\.finish: model “model” has no operations"):
        model.finish()
    assert model.phase is Phase.MODEL_INVALID
    with pytest.raises(BadStateError, match="the model failed to finish"):
        model.add_operand(INT32)


def test_an_unfinished_model_has_no_graph() -> None:
    with pytest.raises(BadStateError, match=r"Model\.graph"):
        _ = Model().graph


def test_a_scale_is_kept_as_float32() -> None:
    model = Model()
    operand = model.add_operand(OperandType(OperandCode.TENSOR_QUANT8_ASYMM, (1,), 0.1, 0))
    model.add_operation(OperationCode.RELU, [operand], [model.add_operand(quant8(1, scale=0.1))])
    model.identify_inputs_and_outputs([0], [1])
    model.finish()
    assert model.graph.operands[0].type.scale == float(np.float32(0.1))


NONE: Any = None
TEXT: Any = "a"


@pytest.mark.parametrize(
    ("type_", "kind", "message"),
    [
        (NONE, UnexpectedNullError, "operand type is None, must be an OperandType"),
        (TEXT, BadDataError, "operand type is 'a' of type str, must be an OperandType"),
        (OperandType(NONE), UnexpectedNullError, "operand code is None, must be a whole number"),
        (OperandType(TEXT), BadDataError, "operand code is 'a' of type str"),
        (OperandType(OperandCode.TENSOR_INT32, NONE), UnexpectedNullError, "operand dimensions is None"),
        (OperandType(OperandCode.TENSOR_INT32, (2.5,)), BadDataError, "operand dimensions[0] is 2.5 of"),  # type: ignore[arg-type]
        (OperandType(OperandCode.TENSOR_INT32, TEXT), BadDataError, "operand dimensions[0] is 'a' of"),
        (OperandType(OperandCode.TENSOR_INT32, np.array(2)), BadDataError, "operand dimensions is array(2)"),  # type: ignore[arg-type]
        (OperandType(OperandCode.TENSOR_INT32, (1,), TEXT), BadDataError, "operand scale is 'a' of type str"),
        (OperandType(OperandCode.TENSOR_INT32, (1,), 1.0, NONE), UnexpectedNullError, "operand zero point"),
    ],
)
def test_an_operand_type_of_wrong_python_types_is_refused(
    type_: OperandType, kind: type[RuntimeFailure], message: str
) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        Model().add_operand(type_)


@pytest.mark.parametrize("wrong", [TEXT, [TEXT], [0.0], 0, [[0]], np.array(0), [np.array([0, 0])]])
def test_operand_numbers_of_wrong_python_types_are_refused(wrong: Any) -> None:
    model = Model()
    model.add_operand(QUANT8)
    calls: list[Callable[[], None]] = [
        lambda: model.add_operation(OperationCode.RELU, wrong, [0]),
        lambda: model.add_operation(OperationCode.RELU, [0], wrong),
        lambda: model.identify_inputs_and_outputs(wrong, []),
    ]
    for call in calls:
        with pytest.raises(BadDataError, match=r"operand numbers.* must be a"):
            call()


@pytest.mark.parametrize("wrong", [NONE, [NONE]])
def test_no_operand_numbers_are_unexpected_null(wrong: Any) -> None:
    model = Model()
    model.add_operand(QUANT8)
    with pytest.raises(UnexpectedNullError, match=r"Model.add_operation: operand numbers.* is None"):
        model.add_operation(OperationCode.RELU, wrong, [0])


@pytest.mark.parametrize(
    ("code", "kind"),
    [(NONE, UnexpectedNullError), (TEXT, BadDataError), (4.0, BadDataError), ([], BadDataError)],
)
def test_an_operation_code_that_is_no_number_is_refused(code: Any, kind: type[RuntimeFailure]) -> None:
    with pytest.raises(kind, match=r"Model.add_operation: operation code is .* must be a whole number"):
        Model().add_operation(code, [], [])


def test_whole_numbers_of_numpy_are_taken() -> None:
    model = Model()
    sizes: Any = np.array([2, 3])
    first, second = (model.add_operand(OperandType(OperandCode.TENSOR_FLOAT32, sizes)) for _ in range(2))
    model.add_operation(OperationCode.RELU, np.array([first]), [np.int64(second)])  # type: ignore[arg-type, list-item]
    model.identify_inputs_and_outputs([first], [second])
    model.finish()
    assert model.graph.operands[0].type.dimensions == (2, 3)
    assert model.graph.operations[0].inputs == (0,)
