from typing import Any

import numpy as np
import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from compiler.operation import ExtraOutput, OmittedInput, OperationView, ScalarInput, StateOutput
from compiler.ops.lstm import LstmSizes, from_tflite, outputs_from_tflite, parse
from tests.support.one_operation import Given, Omitted, float32, operation, quant8
from tests.support.operations import all_inferred, npu_refusal, refused, unsupported
from tests.support.tflite_operators import tflite_operator, tflite_tensor

OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
BATCHES, SIZE, UNITS, OUTPUTS = 2, 5, 4, 3
FOUR_FLOATS = (float32(),) * 4

I2I, R2I, C2I, C2F, C2O, BIAS_I, PROJECTION, PROJECTION_BIAS = 1, 5, 9, 10, 11, 12, 16, 17


def constant(*dimensions: int) -> Given:
    return float32(*dimensions), np.zeros(dimensions)


def plain_inputs() -> list[Given]:
    """Four gates, no peepholes, no projection: output size and number of units are the same."""
    return [
        float32(BATCHES, SIZE),
        *[constant(UNITS, SIZE)] * 4,
        *[constant(UNITS, UNITS)] * 4,
        *[Omitted(float32(UNITS))] * 3,
        *[constant(UNITS)] * 4,
        Omitted(float32(UNITS, UNITS)),
        Omitted(float32(UNITS)),
        float32(BATCHES, UNITS),
        float32(BATCHES, UNITS),
        4,
        0.0,
        0.0,
    ]


PEEPHOLES = dict.fromkeys((C2I, C2F, C2O), constant(UNITS))
COUPLED = {
    I2I: Omitted(float32(UNITS, SIZE)),
    R2I: Omitted(float32(UNITS, UNITS)),
    BIAS_I: Omitted(float32(UNITS)),
}
PROJECTED = {
    **dict.fromkeys(range(5, 9), constant(UNITS, OUTPUTS)),
    PROJECTION: constant(OUTPUTS, UNITS),
    18: float32(BATCHES, OUTPUTS),
}


def lstm(
    changes: dict[int, Given] | None = None, outputs: tuple[OperandType, ...] = FOUR_FLOATS, count: int = 23
) -> Graph:
    inputs = plain_inputs()
    for position, given in (changes or {}).items():
        inputs[position] = given
    inputs += [Omitted(float32(UNITS))] * 4
    return operation(OperationCode.LSTM, inputs[:count], outputs)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_outputs_are_scratch_output_state_cell_state_and_output(numerics: Numerics) -> None:
    assert all_inferred(lstm(), numerics) == [(2, 16), (2, 4), (2, 4), (2, 4)]


def test_coupled_gates_need_less_scratch() -> None:
    assert all_inferred(lstm(COUPLED)) == [(2, 12), (2, 4), (2, 4), (2, 4)]


def test_a_projection_gives_the_output_its_size() -> None:
    assert all_inferred(lstm(PROJECTED)) == [(2, 16), (2, 3), (2, 4), (2, 3)]


def test_a_projection_may_have_a_bias() -> None:
    assert all_inferred(lstm(PROJECTED | {PROJECTION_BIAS: constant(OUTPUTS)}))[3] == (2, 3)


@pytest.mark.parametrize("coupled", [False, True])
def test_peepholes_look_at_the_gates_there_are(coupled: bool) -> None:
    changes = PEEPHOLES | COUPLED | {C2I: Omitted(float32(UNITS))} if coupled else PEEPHOLES
    graph = lstm(changes)
    assert all_inferred(graph)[1] == (2, 4)
    assert parse(OperationView(graph, graph.operations[0])) == LstmSizes(
        BATCHES, SIZE, UNITS, UNITS, coupled, peephole=True, projected=False
    )


def test_inputs_without_elements_are_left_out() -> None:
    empty = dict.fromkeys((C2I, C2F, C2O, PROJECTION_BIAS), float32(0)) | {PROJECTION: float32(0, 0)}
    assert all_inferred(lstm(empty)) == all_inferred(lstm())


def test_the_declared_scratch_says_whether_input_gate_weights_will_be_left_out_at_execution() -> None:
    given = {I2I: float32(UNITS, SIZE), R2I: float32(UNITS, UNITS), BIAS_I: float32(UNITS)}
    coupled = (float32(BATCHES, 3 * UNITS), *FOUR_FLOATS[1:])
    assert all_inferred(lstm(given, coupled))[0] == (2, 12)
    assert all_inferred(lstm(given))[0] == (2, 16)


@pytest.mark.parametrize("gate", [1, 2, 3])
@pytest.mark.parametrize("group", [1, 5, 12])
def test_no_other_gate_may_lack_weights_or_bias(gate: int, group: int) -> None:
    code = OP_FAILED if group == 12 else BAD_DATA
    shape = {1: (UNITS, SIZE), 5: (UNITS, UNITS), 12: (UNITS,)}[group]
    refused(lstm({group + gate: Omitted(float32(*shape))}), f"(input {group + gate}) is omitted", code)


@pytest.mark.parametrize("position", range(1, 20))
def test_each_tensor_has_one_shape(position: int) -> None:
    everything = PEEPHOLES | PROJECTED | {PROJECTION_BIAS: constant(OUTPUTS)}
    wrong = constant(*((9,) if position in range(9, 16) or position == PROJECTION_BIAS else (9, 9)))
    with_one_wrong = lstm(everything | {position: wrong})
    # The output gate's weights give the sizes that others must have.
    names = {4: "input-to-output", 8: "recurrent-to-output"}
    refused(with_one_wrong, "has shape" if position in names else f"(input {position}) has shape", OP_FAILED)


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({I2I: COUPLED[I2I]}, "recurrent-to-input weights (input 5) is given, but input-to-input weights"),
        ({C2F: constant(UNITS)}, "cell-to-forget weights (input 10) is given, but cell-to-output weights"),
        (PEEPHOLES | {C2I: Omitted(float32(4))}, "cell-to-input weights (input 9) is omitted, must be given"),
        ({C2I: constant(UNITS)}, "an LSTM without peephole connections must have none"),
        (
            COUPLED | {BIAS_I: constant(UNITS)},
            "input gate bias (input 12) is given, must be omitted: coupled",
        ),
        ({PROJECTION_BIAS: constant(UNITS)}, "projection bias (input 17) is given, but projection weights"),
        (
            {i: constant(UNITS, OUTPUTS) for i in range(5, 9)},
            "must have [4, 4] (units x units without a projection)",
        ),
        ({20: 5}, "activation (input 20) is 5, must be one of"),
        ({21: -1.0}, "cell clip (input 21) is -1, must be at least 0"),
        ({22: float("nan")}, "projection clip (input 22) is nan, must be at least 0"),
        ({0: float32(2, 1, 5)}, "input (input 0) has rank 3"),
    ],
)
def test_operands_that_no_lstm_can_have_fail(changes: dict[int, Given], fragment: str) -> None:
    refused(lstm(changes), fragment, OP_FAILED)


@pytest.mark.parametrize(
    ("graph", "fragment"),
    [
        (lstm(count=22), "has 22 inputs, must have 23"),
        (lstm(outputs=FOUR_FLOATS[:3]), "has 3 outputs, must have 4"),
        (lstm({0: quant8(2, 5)}), "input (input 0) is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32"),
        (lstm({18: Omitted(float32(2, 4))}), "output state (input 18) is omitted, but not optional"),
        (lstm({21: 0}), "cell clip (input 21) is INT32, must be FLOAT32"),
        (lstm(outputs=(quant8(), *FOUR_FLOATS[1:])), "scratch (output 0) is TENSOR_QUANT8_ASYMM"),
    ],
)
def test_wrong_counts_types_and_omissions_are_bad_data(graph: Graph, fragment: str) -> None:
    refused(graph, fragment, BAD_DATA)


def test_layer_normalisation_is_unsupported() -> None:
    unsupported(lstm(count=27), "has 27 inputs; layer normalisation is not implemented")


def test_the_npu_does_not_run_it() -> None:
    assert npu_refusal(lstm()) is not None


OPTIONS = {"kernel_type": "FULL", "fused_activation_function": "TANH", "cell_clip": 1.5, "proj_clip": 0.0}


def tensors_of_a_file(changes: dict[int, Given] | None = None) -> list[Any]:
    inputs = plain_inputs()[:20]
    for position, given in (changes or {}).items():
        inputs[position] = given
    return [
        None if isinstance(given, Omitted) else tflite_tensor(given[0] if isinstance(given, tuple) else given)  # type: ignore[arg-type]
        for given in inputs
    ]


def test_the_tensors_of_a_file_stand_in_nnapis_order() -> None:
    inputs = from_tflite(tflite_operator("LSTM", tensors_of_a_file(COUPLED), **OPTIONS))
    assert len(inputs) == 23
    omitted = [i for i, given in enumerate(inputs) if isinstance(given, OmittedInput)]
    assert omitted == [I2I, R2I, C2I, C2F, C2O, BIAS_I, PROJECTION, PROJECTION_BIAS]
    assert [i.value for i in inputs if isinstance(i, ScalarInput)] == [4, 1.5, 0.0]


def test_scratch_and_states_of_a_file_become_outputs() -> None:
    operator = tflite_operator("LSTM", tensors_of_a_file(), **OPTIONS)
    scratch, output_state, cell_state, output = outputs_from_tflite(operator)
    assert isinstance(scratch, ExtraOutput)
    assert output_state == cell_state == StateOutput(tflite_tensor(float32(2, 4)))
    assert output == operator.outputs[0]


@pytest.mark.parametrize(
    ("tensors", "options", "fragment"),
    [
        (tensors_of_a_file(), OPTIONS | {"kernel_type": "BASIC"}, "kernel type BASIC is not in NNAPI"),
        (
            [*tensors_of_a_file(), tflite_tensor(float32(4))],
            OPTIONS,
            "layer normalisation is not implemented",
        ),
    ],
)
def test_lstms_of_a_file_that_nnapi_has_not_are_unsupported(
    tensors: list[Any], options: dict[str, Any], fragment: str
) -> None:
    with pytest.raises(UnsupportedError, match=fragment):
        from_tflite(tflite_operator("LSTM", tensors, **options))
