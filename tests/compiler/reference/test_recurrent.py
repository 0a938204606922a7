from typing import Any

import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.nnapi import OperationCode, ResultCode
from tests.compiler.reference.calls import FLOAT, compute_all, floats
from tests.support.one_operation import Given, Omitted, float32

RNN: dict[str, Given] = {
    "input": floats([[1.0]]),
    "weights": floats([[2.0]]),
    "recurrent weights": floats([[3.0]]),
    "bias": floats([1.0]),
    "state": floats([[0.5]]),
    "activation": 0,
}
SVDF: dict[str, Given] = {
    "input": floats([[5.0]]),
    "feature weights": floats([[2.0]]),
    "time weights": floats([[1.0, 10.0, 100.0]]),
    "bias": floats([0.5]),
    "state": floats([[1.0, 2.0, 3.0]]),
    "rank": 1,
    "activation": 0,
}


def rnn(**changes: Given) -> list[Any]:
    inputs = {**RNN, **changes}
    return [output.tolist() for output in compute_all(OperationCode.RNN, list(inputs.values()), [FLOAT] * 2)]


def svdf(**changes: Given) -> list[Any]:
    inputs = {**SVDF, **changes}
    return [output.tolist() for output in compute_all(OperationCode.SVDF, list(inputs.values()), [FLOAT] * 2)]


def test_the_state_of_an_rnn_is_its_output() -> None:
    # 2 · 1 + 3 · 0.5 + 1.
    assert rnn() == [[[4.5]], [[4.5]]]


@pytest.mark.parametrize(
    ("activation", "expected"),
    [(1, 4.5), (2, 1.0), (3, 4.5), (4, np.tanh(4.5)), (6, 1 / (1 + np.exp(-4.5)))],
)
def test_recurrent_layers_know_tanh_and_sigmoid(activation: int, expected: float) -> None:
    assert rnn(activation=activation)[1] == [[float(np.float32(expected))]]


def test_each_batch_has_its_state_and_columns_of_recurrent_weights_come_from_units() -> None:
    outputs = rnn(
        input=floats([[1.0], [0.0]]),
        weights=floats([[1.0], [2.0]]),
        **{"recurrent weights": floats([[0.0, 1.0], [10.0, 0.0]])},
        bias=floats([0.0, 0.0]),
        state=floats([[3.0, 4.0], [5.0, 6.0]]),
    )
    assert outputs[1] == [[1 + 4, 2 + 30], [6, 50]]


@pytest.mark.parametrize(
    ("name", "value", "fragment"),
    [
        ("activation", 5, "activation 5 is none"),
        ("bias", floats([1.0, 2.0]), r"input 3 is \[2\]; it must be \[1\]"),
        ("state", floats([[1.0], [2.0]]), r"input 4 is \[2, 1\]; it must be \[1, 1\]"),
        ("weights", floats([[1.0, 2.0]]), r"input 1 is \[1, 2\]; it must be \[1, 1\]"),
        ("input", floats([1.0]), "input 0 has rank 1, expected 2"),
    ],
)
def test_an_rnn_whose_shapes_do_not_fit_fails(name: str, value: Given, fragment: str) -> None:
    with pytest.raises(GraphError, match=fragment) as caught:
        rnn(**{name: value})
    assert caught.value.result_code is ResultCode.OP_FAILED


def test_an_rnn_needs_its_bias() -> None:
    with pytest.raises(GraphError, match="input 3 has no value") as caught:
        rnn(bias=Omitted(float32(1)))
    assert caught.value.result_code is ResultCode.BAD_DATA


def test_an_svdf_replaces_the_newest_step_sums_over_time_and_ages() -> None:
    # The newest step is 2 · 5; 1 · 1 + 2 · 10 + 10 · 100 + 0.5.
    assert svdf() == [[[2.0, 10.0, 0.0]], [[1021.5]]]


def test_the_bias_of_an_svdf_is_optional() -> None:
    assert svdf(bias=Omitted(float32(1)))[1] == [[1021.0]]


def test_the_factors_of_a_unit_stand_together() -> None:
    # Four filters of one step each, rank 2: units are filters 0 + 1 and 2 + 3.
    outputs = svdf(
        **{
            "feature weights": floats([[1.0], [2.0], [3.0], [4.0]]),
            "time weights": floats([[1.0], [1.0], [1.0], [10.0]]),
        },
        bias=floats([0.0, 0.0]),
        state=floats([[9.0, 9.0, 9.0, 9.0]]),
        rank=2,
    )
    assert outputs == [[[0.0] * 4], [[15.0, 215.0]]]


def test_steps_over_several_executions_meet_all_time_weights() -> None:
    state, outputs = floats([[0.0, 0.0, 0.0]]), []
    for value in (0.5, 0.0, 0.0, 0.0):
        aged, output = svdf(input=floats([[value]]), state=state, bias=floats([0.0]))
        outputs.append(output[0][0])
        state = floats(aged)
    assert outputs == [100.0, 10.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "value", "fragment"),
    [
        ("rank", 2, "1 filters of 3 steps do not divide into units of rank 2"),
        ("rank", 0, "rank 0"),
        ("state", floats([[1.0, 2.0]]), r"input 4 is \[1, 2\]; it must be \[1, 3\]"),
        ("feature weights", floats([[1.0], [2.0]]), r"input 1 is \[2, 1\]; it must be \[1, 1\]"),
        ("bias", floats([1.0, 2.0]), r"input 3 is \[2\]; it must be \[1\]"),
    ],
)
def test_an_svdf_whose_shapes_do_not_fit_fails(name: str, value: Given, fragment: str) -> None:
    with pytest.raises(GraphError, match=fragment) as caught:
        svdf(**{name: value})
    assert caught.value.result_code is ResultCode.OP_FAILED
