"""LSTM. Its rules follow NNAPI's header; where both differ, the runtimes (quant8 semantics, section 13)."""

import dataclasses
import math
from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from compiler.operation import (
    ExtraOutput,
    ImportedInput,
    ImportedOutput,
    OperationSpec,
    OperationView,
    ScalarInput,
    StateOutput,
    TfliteOperator,
    not_on_npu,
    register,
)
from compiler.operation_notes import OperandNote, OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import RECURRENT_ACTIVATION
from compiler.ops.macs import matrix_macs
from compiler.ops.operands import (
    FLOAT32,
    check_counts,
    check_shape,
    failed,
    float32_scalar,
    is_absent,
    tensor_output,
    unsupported,
)
from compiler.ops.recurrent import (
    HOST_ONLY,
    NO_FLOAT_PRODUCTS,
    activation_from_tflite,
    check_float_input,
    matrix_input,
    optional_float,
    recurrent_activation,
)

INPUT_COUNT, OUTPUT_COUNT = 23, 4
NORMALISED_INPUT_COUNT = 27
"""Level 29 adds four weights of layer normalisation."""

GATES = ("input", "forget", "cell", "output")
"""Order of the gates in each group of weights and biases."""

INPUT_WEIGHTS, RECURRENT_WEIGHTS, PEEPHOLE_WEIGHTS, BIASES = 1, 5, 9, 12
"""Positions of the groups; peephole weights have no cell gate."""
PROJECTION_WEIGHTS, PROJECTION_BIAS = 16, 17
OUTPUT_STATE, CELL_STATE = 18, 19
ACTIVATION, CELL_CLIP, PROJECTION_CLIP = 20, 21, 22
_MULTIPLIED = (
    INPUT_WEIGHTS + 3,
    *range(INPUT_WEIGHTS, INPUT_WEIGHTS + 3),
    *range(RECURRENT_WEIGHTS, BIASES),
    PROJECTION_WEIGHTS,
)
"""All weights; the first ones are those that every LSTM has."""


@dataclasses.dataclass(frozen=True, slots=True)
class LstmSizes:
    """Sizes of an LSTM, and which of its optional parts it has.

    `coupled`: the input gate is one minus the forget gate (CIFG).
    """

    batches: int
    input_size: int
    units: int
    output_size: int
    coupled: bool
    peephole: bool
    projected: bool

    @property
    def scratch_size(self) -> int:
        """Elements of scratch for each batch element: one for each unit of each computed gate."""
        return self.units * (len(GATES) - self.coupled)


def parse(view: OperationView) -> LstmSizes:
    """Sizes and optional parts, from the inputs that decide them; the others are not checked here."""
    batches, input_size = matrix_input(view, 0, "input")
    units, _ = matrix_input(view, INPUT_WEIGHTS + 3, "input-to-output weights")
    _, output_size = matrix_input(view, RECURRENT_WEIGHTS + 3, "recurrent-to-output weights")
    return LstmSizes(
        batches,
        input_size,
        units,
        output_size,
        coupled=_is_coupled(view, (batches, 3 * units)),
        peephole=not _all_or_none(
            view,
            {
                PEEPHOLE_WEIGHTS + 1: "cell-to-forget weights",
                PEEPHOLE_WEIGHTS + 2: "cell-to-output weights",
            },
            "an LSTM without peephole connections has neither",
        ),
        projected=not is_absent(view, PROJECTION_WEIGHTS),
    )


def _is_coupled(view: OperationView, coupled_scratch: tuple[int, int]) -> bool:
    """True if there are no input gate weights.

    Those that are model inputs may be left out at execution: the declared scratch says what is meant.
    """
    absent = _all_or_none(
        view,
        {INPUT_WEIGHTS: "input-to-input weights", RECURRENT_WEIGHTS: "recurrent-to-input weights"},
        "coupled input and forget gates have neither",
    )
    may_be_absent = view.is_model_input(INPUT_WEIGHTS) and view.is_model_input(RECURRENT_WEIGHTS)
    return absent or (may_be_absent and view.output(0).type.dimensions == coupled_scratch)


def _all_or_none(view: OperationView, inputs: dict[int, str], rule: str) -> bool:
    """True if all these inputs are absent, False if none is; OP_FAILED for a mixture."""
    absent = {position: is_absent(view, position) for position in inputs}
    if len({*absent.values()}) > 1:
        given = next(position for position, missing in absent.items() if not missing)
        missing = next(position for position, missing in absent.items() if missing)
        raise failed(
            view,
            f"{inputs[given]} (input {given}) is given, but {inputs[missing]} (input {missing}) is omitted;"
            f" {rule}",
        )
    return all(absent.values())


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the outputs are scratch, output state, cell state and output, all of rank 2.

    The scratch is [batches, gates x units] (the header has a third dimension, runtimes have not); its
    contents mean nothing.
    """
    if len(view.operation.inputs) == NORMALISED_INPUT_COUNT:
        raise unsupported(
            view, f"has {NORMALISED_INPUT_COUNT} inputs; layer normalisation is not implemented"
        )
    check_counts(view, (INPUT_COUNT,), OUTPUT_COUNT)
    sizes = parse(view)
    _check_weights(view, sizes)
    _check_vectors(view, sizes)
    _check_projection(view, sizes)
    state, cells = (sizes.batches, sizes.output_size), (sizes.batches, sizes.units)
    check_float_input(view, OUTPUT_STATE, "output state", state, "batches x output size")
    check_float_input(view, CELL_STATE, "cell state", cells, "batches x units")
    recurrent_activation(view, ACTIVATION)
    for position, name in ((CELL_CLIP, "cell clip"), (PROJECTION_CLIP, "projection clip")):
        _check_clip(view, position, name)
    shapes = ((sizes.batches, sizes.scratch_size), state, cells, state)
    names = ("scratch", "output state", "cell state", "output")
    return tuple(
        tensor_output(view, FLOAT32, shape, position, f"{name} (output {position})")
        for position, (name, shape) in enumerate(zip(names, shapes, strict=True))
    )


def _check_weights(view: OperationView, sizes: LstmSizes) -> None:
    for gate, name in enumerate(GATES):
        if sizes.coupled and gate == 0:
            continue
        position, what = INPUT_WEIGHTS + gate, f"input-to-{name} weights"
        check_float_input(view, position, what, (sizes.units, sizes.input_size), "units x input size")
        position, what = RECURRENT_WEIGHTS + gate, f"recurrent-to-{name} weights"
        check_float_input(view, position, what, (sizes.units, sizes.output_size), "units x output size")


def _check_vectors(view: OperationView, sizes: LstmSizes) -> None:
    """Peephole weights and biases: one number for each unit."""
    for gate, name in enumerate(GATES):
        absent = "coupled gates" if sizes.coupled and gate == 0 else None
        _check_vector(view, BIASES + gate, f"{name} gate bias", sizes.units, absent)
    for place, name in enumerate(("input", "forget", "output")):
        absent = "coupled gates" if sizes.coupled and place == 0 else None
        absent = absent if sizes.peephole else "an LSTM without peephole connections"
        _check_vector(view, PEEPHOLE_WEIGHTS + place, f"cell-to-{name} weights", sizes.units, absent)


def _check_vector(view: OperationView, position: int, name: str, units: int, without: str | None) -> None:
    """Check a vector that must be there, unless it must not: `without` says who has none."""
    if without is None:
        if is_absent(view, position):
            raise failed(view, f"{name} (input {position}) is omitted, must be given here")
        check_float_input(view, position, name, (units,), "units")
    elif not is_absent(view, position) and not view.is_model_input(position):
        raise failed(view, f"{name} (input {position}) is given, must be omitted: {without} must have none")


def _check_projection(view: OperationView, sizes: LstmSizes) -> None:
    has_bias = not is_absent(view, PROJECTION_BIAS)
    if sizes.projected:
        shape = (sizes.output_size, sizes.units)
        check_float_input(view, PROJECTION_WEIGHTS, "projection weights", shape, "output size x units")
        if has_bias:
            check_float_input(view, PROJECTION_BIAS, "projection bias", (sizes.output_size,), "output size")
        return
    if has_bias and not view.is_model_input(PROJECTION_BIAS):
        raise failed(
            view,
            f"projection bias (input {PROJECTION_BIAS}) is given, but projection weights (input"
            f" {PROJECTION_WEIGHTS}) are omitted",
        )
    check_shape(
        view,
        RECURRENT_WEIGHTS + 3,
        "recurrent-to-output weights",
        (sizes.units, sizes.units),
        "units x units without a projection",
    )


def _check_clip(view: OperationView, position: int, name: str) -> None:
    value = float32_scalar(view, position, name)
    if math.isnan(value) or value < 0:
        raise failed(view, f"{name} (input {position}) is {value:g}, must be at least 0 (0: none)")


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's full LSTM kernel without layer normalisation; its tensors stand in NNAPI's order."""
    kernel = tflite_options.option(operator, "kernel_type")
    if kernel != "FULL":
        raise UnsupportedError(
            f"{tflite_options.label(operator)}: kernel type {kernel} is not in NNAPI (FULL)"
        )
    if any(tensor is not None for tensor in operator.inputs[CELL_STATE + 1 :]):
        raise UnsupportedError(f"{tflite_options.label(operator)}: layer normalisation is not implemented")
    matrices = {*range(INPUT_WEIGHTS, PEEPHOLE_WEIGHTS), PROJECTION_WEIGHTS}
    clips = [float(tflite_options.option(operator, name)) for name in ("cell_clip", "proj_clip")]
    return [
        tflite_options.tensor(operator, 0, "input"),
        *(optional_float(operator, i, 2 if i in matrices else 1) for i in range(1, OUTPUT_STATE)),
        tflite_options.tensor(operator, OUTPUT_STATE, "output state"),
        tflite_options.tensor(operator, CELL_STATE, "cell state"),
        activation_from_tflite(operator),
        *(ScalarInput(OperandCode.FLOAT32, clip) for clip in clips),
    ]


def outputs_from_tflite(operator: TfliteOperator) -> Sequence[ImportedOutput]:
    """Scratch and both next states, which TFLite keeps inside, and the output."""
    return [
        ExtraOutput("scratch", OperandType(FLOAT32)),
        StateOutput(tflite_options.tensor(operator, OUTPUT_STATE, "output state")),
        StateOutput(tflite_options.tensor(operator, CELL_STATE, "cell state")),
        *operator.outputs[-1:],
    ]


def _matrix(
    name: str, meaning: str, *, counts: tuple[int, ...] = (1,), optional: bool = False
) -> OperandNote:
    return tensor(name, (FLOAT32,), (2,), meaning, counts=counts, optional=optional)


def _vector(name: str, meaning: str, *, counts: tuple[int, ...] = (1,), optional: bool = True) -> OperandNote:
    return tensor(name, (FLOAT32,), (1,), meaning, counts=counts, optional=optional)


_INPUT_NOTES = (
    _matrix("input", "[batches, input size]"),
    _matrix("input gate weights", "[units, input size]", optional=True),
    _matrix("input weights", "[units, input size], of the forget, cell and output gates", counts=(3,)),
    _matrix("recurrent input gate weights", "[units, output size]", optional=True),
    _matrix("recurrent weights", "[units, output size], of the forget, cell and output gates", counts=(3,)),
    _vector("peephole weights", "[units], of the input, forget and output gates: all or none", counts=(3,)),
    _vector("input gate bias", "[units]"),
    _vector("biases", "[units], of the forget, cell and output gates", counts=(3,), optional=False),
    _matrix("projection weights", "[output size, units]", optional=True),
    _vector("projection bias", "[output size]"),
    _matrix("output state", "[batches, output size]"),
    _matrix("cell state", "[batches, units]"),
    RECURRENT_ACTIVATION,
    scalar("clips", "of the cell and of the projection; 0: none", types=(OperandCode.FLOAT32,), counts=(2,)),
)

register(
    OperationSpec(
        code=OperationCode.LSTM,
        summary="A long short-term memory: gates, cell, and optionally peepholes and a projection",
        notes=OperationNotes(
            inputs=_INPUT_NOTES,
            outputs=(
                _matrix("scratch", "[batches, units x computed gates]; its contents mean nothing"),
                _matrix("output state", "[batches, output size]"),
                _matrix("cell state", "[batches, units]"),
                _matrix("output", "[batches, output size]"),
            ),
            limits=(
                "Without both input gate weights, the input gate is one minus the forget gate (CIFG).",
                "Without a projection, the output size is the number of units.",
            ),
            runs=HOST_ONLY,
        ),
        infer=infer,
        npu_refusal=not_on_npu(NO_FLOAT_PRODUCTS),
        lower=None,
        macs=matrix_macs(*_MULTIPLIED),
        tflite="LSTM",
        from_tflite=from_tflite,
        tflite_outputs=outputs_from_tflite,
    )
)
