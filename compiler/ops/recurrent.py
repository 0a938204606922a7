"""RNN and SVDF, and what they share with LSTM: float matrices, activations, states in files."""

import enum
from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import OperationCode
from compiler.operation import (
    ImportedInput,
    ImportedOutput,
    OmittedInput,
    OperationSpec,
    OperationView,
    ScalarInput,
    StateOutput,
    TfliteOperator,
    not_on_npu,
    register,
)
from compiler.operation_notes import OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import RECURRENT_ACTIVATION
from compiler.ops.macs import matrix_macs
from compiler.ops.operands import (
    FLOAT32,
    check_counts,
    check_shape,
    failed,
    int32_scalar,
    is_absent,
    positive_scalar,
    tensor_input,
    tensor_output,
)

NO_FLOAT_PRODUCTS = "multiplies float32 matrices; the NPU's matrix unit multiplies quant8 ones only"
HOST_ONLY = f"host: {NO_FLOAT_PRODUCTS}"


class RecurrentActivation(enum.IntEnum):
    """Activations of recurrent layers: the fused ones, and two more (quant8 semantics, section 13)."""

    NONE = 0
    RELU = 1
    RELU1 = 2
    RELU6 = 3
    TANH = 4
    SIGMOID = 6


def recurrent_activation(view: OperationView, position: int) -> RecurrentActivation:
    """The activation given by a constant INT32 input."""
    value = int32_scalar(view, position, "activation")
    if value not in tuple(RecurrentActivation):
        allowed = ", ".join(f"{code.value} ({code.name})" for code in RecurrentActivation)
        raise failed(view, f"activation (input {position}) is {value}, must be one of {allowed}")
    return RecurrentActivation(value)


def matrix_input(view: OperationView, position: int, name: str) -> tuple[int, int]:
    """Shape of a mandatory float32 matrix."""
    rows, columns = tensor_input(view, position, name, (2,), (FLOAT32,)).dimensions
    return rows, columns


def check_float_input(
    view: OperationView, position: int, name: str, shape: tuple[int, ...], why: str
) -> None:
    """Refuse a mandatory input that is not float32 or of another shape."""
    tensor_input(view, position, name, (len(shape),), (FLOAT32,))
    check_shape(view, position, name, shape, why)


def infer_rnn(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; hidden state and output are [batches, units]."""
    check_counts(view, (6,), outputs=2)
    batches, input_size = matrix_input(view, 0, "input")
    units, _ = matrix_input(view, 1, "weights")
    check_shape(view, 1, "weights", (units, input_size), "units x input size")
    check_float_input(view, 2, "recurrent weights", (units, units), "units x units")
    check_float_input(view, 3, "bias", (units,), "units")
    check_float_input(view, 4, "hidden state", (batches, units), "batches x units")
    recurrent_activation(view, 5)
    shape = (batches, units)
    return (
        tensor_output(view, FLOAT32, shape, 0, "hidden state (output 0)"),
        tensor_output(view, FLOAT32, shape, 1, "output (output 1)"),
    )


def infer_svdf(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the state is [batches, memory x filters], the output [batches, filters / rank].

    The header's size of the state counts one less than the memory; runtimes and their cases do not.
    """
    check_counts(view, (7,), outputs=2)
    batches, input_size = matrix_input(view, 0, "input")
    filters, _ = matrix_input(view, 1, "feature weights")
    check_shape(view, 1, "feature weights", (filters, input_size), "filters x input size")
    _, memory = matrix_input(view, 2, "time weights")
    check_shape(view, 2, "time weights", (filters, memory), "filters x memory size")
    rank = positive_scalar(view, 5, "rank")
    if filters % rank:
        raise failed(view, f"rank (input 5) is {rank}, must divide the {filters} filters")
    units = filters // rank
    if not is_absent(view, 3):
        check_float_input(view, 3, "bias", (units,), "filters / rank")
    state = (batches, memory * filters)
    check_float_input(view, 4, "state", state, "batches x (memory size x filters)")
    recurrent_activation(view, 6)
    return (
        tensor_output(view, FLOAT32, state, 0, "state (output 0)"),
        tensor_output(view, FLOAT32, (batches, units), 1, "output (output 1)"),
    )


def activation_from_tflite(operator: TfliteOperator) -> ScalarInput:
    """The fused activation of a recurrent operator; UnsupportedError for those NNAPI has not."""
    name = tflite_options.option(operator, "fused_activation_function")
    activation = {"RELU_N1_TO_1": "RELU1"}.get(name, name)
    if activation not in RecurrentActivation.__members__:
        raise UnsupportedError(f"{tflite_options.label(operator)}: activation {name} is not in NNAPI")
    return tflite_options.int32(RecurrentActivation[activation])


def optional_float(operator: TfliteOperator, position: int, rank: int) -> ImportedInput:
    """The float tensor at an input position, or its omission."""
    found = tflite_options.optional_tensor(operator, position)
    return OmittedInput(OperandType(FLOAT32, (0,) * rank)) if found is None else found


def rnn_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's RNN."""
    names = ("input", "weights", "recurrent weights", "bias", "hidden state")
    tensors = [tflite_options.tensor(operator, position, name) for position, name in enumerate(names)]
    return [*tensors, activation_from_tflite(operator)]


def svdf_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's SVDF."""
    names = ("input", "feature weights", "time weights")
    return [
        *(tflite_options.tensor(operator, position, name) for position, name in enumerate(names)),
        optional_float(operator, 3, rank=1),
        tflite_options.tensor(operator, 4, "state"),
        tflite_options.int32(tflite_options.option(operator, "rank")),
        activation_from_tflite(operator),
    ]


def outputs_from_tflite(operator: TfliteOperator) -> Sequence[ImportedOutput]:
    """The next state (of input 4), which TFLite keeps inside, and the output."""
    return [StateOutput(tflite_options.tensor(operator, 4, "state")), *operator.outputs[-1:]]


register(
    OperationSpec(
        code=OperationCode.RNN,
        summary="activation(W x + R state + bias), which is also the next state",
        notes=OperationNotes(
            inputs=(
                tensor("input", (FLOAT32,), (2,), "[batches, input size]"),
                tensor("weights", (FLOAT32,), (2,), "[units, input size]"),
                tensor("recurrent weights", (FLOAT32,), (2,), "[units, units]"),
                tensor("bias", (FLOAT32,), (1,), "[units]"),
                tensor("hidden state", (FLOAT32,), (2,), "[batches, units]"),
                RECURRENT_ACTIVATION,
            ),
            outputs=(
                tensor("hidden state", (FLOAT32,), (2,), "[batches, units]"),
                tensor("output", (FLOAT32,), (2,), "[batches, units]"),
            ),
            runs=HOST_ONLY,
        ),
        infer=infer_rnn,
        npu_refusal=not_on_npu(NO_FLOAT_PRODUCTS),
        lower=None,
        macs=matrix_macs(1, 2),
        tflite="RNN",
        from_tflite=rnn_from_tflite,
        tflite_outputs=outputs_from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.SVDF,
        summary="A dense layer over a memory of filtered inputs, of reduced rank",
        notes=OperationNotes(
            inputs=(
                tensor("input", (FLOAT32,), (2,), "[batches, input size]"),
                tensor("feature weights", (FLOAT32,), (2,), "[filters, input size]"),
                tensor("time weights", (FLOAT32,), (2,), "[filters, memory size]"),
                tensor("bias", (FLOAT32,), (1,), "[filters / rank]", optional=True),
                tensor("state", (FLOAT32,), (2,), "[batches, memory size x filters]"),
                scalar("rank", "divides the filters"),
                RECURRENT_ACTIVATION,
            ),
            outputs=(
                tensor("state", (FLOAT32,), (2,), "[batches, memory size x filters]"),
                tensor("output", (FLOAT32,), (2,), "[batches, filters / rank]"),
            ),
            runs=HOST_ONLY,
        ),
        infer=infer_svdf,
        npu_refusal=not_on_npu(NO_FLOAT_PRODUCTS),
        lower=None,
        macs=matrix_macs(1, 2),
        tflite="SVDF",
        from_tflite=svdf_from_tflite,
        tflite_outputs=outputs_from_tflite,
    )
)
