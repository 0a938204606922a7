from typing import Any

import numpy as np
import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import OmittedInput, ScalarInput, StateOutput
from compiler.ops.recurrent import outputs_from_tflite, rnn_from_tflite, svdf_from_tflite
from tests.support.one_operation import Given, Omitted, float32, operation, quant8
from tests.support.operations import all_inferred, npu_refusal, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor

OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
TWO_FLOATS = (float32(), float32())

RNN_INPUTS: dict[str, Given] = {
    "input": float32(2, 8),
    "weights": float32(16, 8),
    "recurrent": float32(16, 16),
    "bias": float32(16),
    "state": float32(2, 16),
    "activation": 1,
}
SVDF_INPUTS: dict[str, Given] = {
    "input": float32(2, 3),
    "features": float32(8, 3),
    "times": float32(8, 10),
    "bias": float32(4),
    "state": float32(2, 80),
    "rank": 2,
    "activation": 0,
}


def rnn(outputs: tuple[OperandType, ...] = TWO_FLOATS, **changes: Given) -> Graph:
    return operation(OperationCode.RNN, list((RNN_INPUTS | changes).values()), outputs)


def svdf(outputs: tuple[OperandType, ...] = TWO_FLOATS, **changes: Given) -> Graph:
    return operation(OperationCode.SVDF, list((SVDF_INPUTS | changes).values()), outputs)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_an_rnn_makes_state_and_output_of_the_same_shape(numerics: Numerics) -> None:
    assert all_inferred(rnn(), numerics) == [(2, 16), (2, 16)]


@pytest.mark.parametrize("activation", [0, 1, 2, 3, 4, 6])
def test_recurrent_layers_know_tanh_and_sigmoid_too(activation: int) -> None:
    assert all_inferred(rnn(activation=activation)) == [(2, 16), (2, 16)]
    assert all_inferred(svdf(activation=activation)) == [(2, 80), (2, 4)]


@pytest.mark.parametrize(
    ("graph", "fragment", "code"),
    [
        (
            rnn(input=float32(2, 7)),
            "weights (input 1) has shape [16, 8], must have [16, 7] (units",
            OP_FAILED,
        ),
        (rnn(recurrent=float32(16, 8)), "recurrent weights (input 2) has shape [16, 8]", OP_FAILED),
        (rnn(bias=float32(8)), "bias (input 3) has shape [8], must have [16] (units)", OP_FAILED),
        (rnn(bias=Omitted(float32(16))), "bias (input 3) is omitted, but not optional", BAD_DATA),
        (rnn(state=float32(1, 16)), "hidden state (input 4) has shape [1, 16], must have [2, 16]", OP_FAILED),
        (rnn(activation=5), "activation (input 5) is 5, must be one of 0 (NONE)", OP_FAILED),
        (rnn(activation=1.0), "activation (input 5) is FLOAT32, must be INT32", BAD_DATA),
        (rnn(input=quant8(2, 8)), "input (input 0) is TENSOR_QUANT8_ASYMM", BAD_DATA),
        (rnn(input=float32(2, 8, 1)), "input (input 0) has rank 3", OP_FAILED),
        (rnn(outputs=(float32(),)), "has 1 outputs, must have 2", BAD_DATA),
        (rnn(outputs=(float32(), quant8())), "output (output 1) is TENSOR_QUANT8_ASYMM", BAD_DATA),
        (rnn(outputs=(float32(2, 8), float32())), "output 0 is declared as [2, 8]", OP_FAILED),
    ],
)
def test_operands_that_no_rnn_can_have(graph: Graph, fragment: str, code: ResultCode) -> None:
    refused(graph, fragment, code)


@pytest.mark.parametrize("bias", [float32(4), Omitted(float32(4)), float32(0)])
def test_the_bias_of_an_svdf_is_optional(bias: Given) -> None:
    assert all_inferred(svdf(bias=bias)) == [(2, 80), (2, 4)]


@pytest.mark.parametrize(
    ("graph", "fragment", "code"),
    [
        (svdf(rank=3), "rank (input 5) is 3, must divide the 8 filters", OP_FAILED),
        (svdf(rank=0), "rank (input 5) is 0, must be at least 1", OP_FAILED),
        (svdf(features=float32(8, 2)), "feature weights (input 1) has shape [8, 2]", OP_FAILED),
        (
            svdf(times=float32(7, 10)),
            "time weights (input 2) has shape [7, 10], must have [8, 10]",
            OP_FAILED,
        ),
        (svdf(bias=float32(8)), "bias (input 3) has shape [8], must have [4] (filters / rank)", OP_FAILED),
        (svdf(state=float32(2, 72)), "state (input 4) has shape [2, 72], must have [2, 80]", OP_FAILED),
        (svdf(state=Omitted(float32(2, 80))), "state (input 4) is omitted", BAD_DATA),
    ],
)
def test_operands_that_no_svdf_can_have(graph: Graph, fragment: str, code: ResultCode) -> None:
    refused(graph, fragment, code)


@pytest.mark.parametrize("graph", [rnn(), svdf()])
def test_the_npu_runs_neither(graph: Graph) -> None:
    assert npu_refusal(graph) == (
        "multiplies float32 matrices; the NPU's matrix unit multiplies quant8 ones only"
    )


def files_inputs(inputs: dict[str, Given]) -> list[Any]:
    return [tflite_tensor(kind) for kind in inputs.values() if isinstance(kind, OperandType)]


def test_an_rnn_of_a_file_gets_its_next_state_as_an_output() -> None:
    operator = tflite_operator("RNN", files_inputs(RNN_INPUTS), fused_activation_function="TANH")
    assert rnn_from_tflite(operator)[-1] == ScalarInput(OperandCode.INT32, 4)
    assert outputs_from_tflite(operator) == [StateOutput(tflite_tensor(float32(2, 16))), operator.outputs[0]]


def test_an_svdf_of_a_file_may_leave_out_its_bias() -> None:
    tensors = files_inputs(SVDF_INPUTS)
    tensors[3] = None
    operator = tflite_operator("SVDF", tensors, rank=2, fused_activation_function="RELU_N1_TO_1")
    inputs = svdf_from_tflite(operator)
    assert isinstance(inputs[3], OmittedInput)
    assert [i.value for i in inputs if isinstance(i, ScalarInput)] == [2, 2]


def test_an_activation_that_nnapi_has_not_is_unsupported() -> None:
    operator = tflite_operator("RNN", files_inputs(RNN_INPUTS), fused_activation_function="SIGN_BIT")
    with pytest.raises(UnsupportedError, match="activation SIGN_BIT is not in NNAPI"):
        rnn_from_tflite(operator)


def test_constant_states_are_states_too() -> None:
    assert all_inferred(rnn(state=(float32(2, 16), np.zeros((2, 16))))) == [(2, 16), (2, 16)]
