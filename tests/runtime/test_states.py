"""Recurrent operations over several executions: what comes out as state goes in again."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.compilation import Compilation
from runtime.device import Array
from runtime.device_registry import device_names, get_device
from runtime.execution import Execution
from runtime.model import Model
from tests.support.mixed_models import constant, omitted, rnn_model, scalar, svdf_model
from tests.support.one_operation import float32

FLOAT_SCALAR = OperandType(OperandCode.FLOAT32)
DEVICES = pytest.mark.parametrize("device", device_names())


def over_time(model: Model, device: str, steps: list[Array], states: list[Array]) -> list[Array]:
    """The last output of each step; the outputs before it are the next states."""
    compilation = Compilation(model, get_device(device, "tiny"))
    compilation.finish()
    graph, found = compilation.graph, []
    for step in steps:
        execution = Execution(compilation)
        for position, value in enumerate((step, *states)):
            execution.set_input(position, value)
        types = [graph.operands[number].type for number in graph.outputs]
        outputs = [np.zeros(type_.dimensions, np.float32) for type_ in types]
        for position, array in enumerate(outputs):
            execution.set_output(position, array)
        execution.compute()
        *states, output = outputs
        found.append(output)
    return found


def row(*values: float) -> Array:
    return np.array([values], np.float32)


@DEVICES
def test_an_rnn_remembers_its_output(device: str) -> None:
    found = over_time(rnn_model(), device, [row(1, -4), row(0, 2), row(0, 0)], [row(0, 0)])
    np.testing.assert_array_equal(np.concatenate(found), [[2, 0], [2, 3], [2, 2.5]])


@DEVICES
def test_an_svdf_filters_its_last_inputs(device: str) -> None:
    found = over_time(svdf_model(), device, [row(1), row(0), row(0), row(0), row(3)], [row(0, 0, 0)])
    assert [output.item() for output in found] == [1, 2, 4, 0, 3]


def lstm_model() -> Model:
    """An LSTM of one unit with coupled gates, all weights 0 but those from the input to the cell: 1.

    With a forget gate of sigmoid(0) = 1/2 the cell is half of itself plus half of tanh(x); the output is half
    of tanh(cell).
    """
    model = Model("lstm")
    x = model.add_operand(float32(1, 1), "x")
    zero, one = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    matrices = [
        omitted(model, float32(1, 1)),
        *(constant(model, float32(1, 1), w) for w in (zero, one, zero)),
    ]
    recurrent = [omitted(model, float32(1, 1)), *(constant(model, float32(1, 1), zero) for _ in range(3))]
    peephole = [omitted(model, float32(1)) for _ in range(3)]
    biases = [omitted(model, float32(1)), *(constant(model, float32(1), zero[0]) for _ in range(3))]
    projection = [omitted(model, float32(1, 1)), omitted(model, float32(1))]
    states = [model.add_operand(float32(1, 1), name) for name in ("output state", "cell state")]
    clips = [model.add_operand(FLOAT_SCALAR) for _ in range(2)]
    for clip in clips:
        model.set_operand_value(clip, np.float32(0))
    results = [model.add_operand(float32(1, size)) for size in (3, 1, 1, 1)]
    inputs = [x, *matrices, *recurrent, *peephole, *biases, *projection, *states, scalar(model, 4), *clips]
    model.add_operation(OperationCode.LSTM, inputs, results)
    model.identify_inputs_and_outputs([x, *states], results[1:] + results[:1])
    model.finish()
    return model


@DEVICES
def test_an_lstm_remembers_its_cell(device: str) -> None:
    compilation = Compilation(lstm_model(), get_device(device, "tiny"))
    compilation.finish()
    state, cell, expected = row(0), row(0), 0.0
    for value in (1.0, 0.0, -2.0, 0.5):
        execution = Execution(compilation)
        for position, array in enumerate((row(value), state, cell)):
            execution.set_input(position, array)
        outputs = [np.zeros((1, size), np.float32) for size in (1, 1, 1, 3)]
        for position, array in enumerate(outputs):
            execution.set_output(position, array)
        execution.compute()
        state, cell, output, _ = outputs
        expected = 0.5 * expected + 0.5 * np.tanh(value)
        np.testing.assert_allclose(output, [[0.5 * np.tanh(expected)]], rtol=1e-5)
        np.testing.assert_array_equal(output, state)


@DEVICES
@pytest.mark.parametrize("make", [rnn_model, svdf_model])
def test_without_the_state_fed_back_there_is_no_memory(make: Callable[[], Model], device: str) -> None:
    width = 2 if make is rnn_model else 1
    state = row(0, 0) if make is rnn_model else row(0, 0, 0)
    first = over_time(make(), device, [row(*[1] * width)], [state])
    again = over_time(make(), device, [row(*[1] * width)], [state])
    np.testing.assert_array_equal(first, again)
