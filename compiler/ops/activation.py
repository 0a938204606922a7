"""RELU, RELU1, RELU6, LOGISTIC, TANH and FLOOR."""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from compiler.operation import (
    ImportedInput,
    OperationSpec,
    OperationView,
    TfliteOperator,
    quant8_or_float,
    register,
)
from compiler.operation_notes import CycleNote, OperationNotes, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import QUANT8_OR_FLOAT, SAME_QUANTISATION
from compiler.ops.float_lowering import Lower, element_stage, float_clamp, lower_by_type
from compiler.ops.lowering import flat_rows, table_stage, whole_output
from compiler.ops.operands import (
    FLOAT32,
    QUANT8,
    RANKS_TO_4,
    REAL,
    check_counts,
    check_output_keeps_quantization,
    check_output_quantization,
    failed,
    is_level_27,
    tensor_input,
    tensor_output,
)
from compiler.ops.quantization import (
    PROBABILITY_SCALE,
    UNIT_SCALE,
    UNIT_ZERO_POINT,
    activation_range,
)
from compiler.stage import LoweringContext, Stage, View
from isa.arithmetic import logistic_table, tanh_table
from isa.instructions.float_vector import FloatUnary, UnaryFunction

MIN_ARGUMENT_SCALE = 2.0**-27
"""Input scales of LOGISTIC and TANH are greater: the argument is rescaled to Q4.27 by a factor above 1."""

_FUSED_TWINS = {
    OperationCode.RELU: FuseCode.RELU,
    OperationCode.RELU1: FuseCode.RELU1,
    OperationCode.RELU6: FuseCode.RELU6,
}


def clamp_range(view: OperationView) -> tuple[int, int]:
    """Smallest and largest raw value that a RELU-family operation lets through."""
    return activation_range(_FUSED_TWINS[view.operation.code], view.input(0).type)


def _infer_same_shape(view: OperationView, codes: Collection[OperandCode] = REAL) -> OperandType:
    check_counts(view, (1,))
    input_type = tensor_input(view, 0, "input", RANKS_TO_4, codes)
    return tensor_output(view, input_type.code, input_type.dimensions)


def infer_relu(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's type."""
    output = _infer_same_shape(view)
    check_output_keeps_quantization(view, view.input(0).type)
    return (output,)


def infer_floor(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's type, float32."""
    return (_infer_same_shape(view, (FLOAT32,)),)


def infer_logistic(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; a quant8 output has scale 1/256 and zero point 0."""
    output = _infer_same_shape(view)
    if output.code is QUANT8:
        check_output_quantization(view, PROBABILITY_SCALE, 0)
        _check_argument_scale(view)
    return (output,)


def infer_tanh(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; quant8 came with level 29, its output has scale 1/128 and zero point 128."""
    output = _infer_same_shape(view, (FLOAT32,) if is_level_27(view) else REAL)
    if output.code is QUANT8:
        check_output_quantization(view, UNIT_SCALE, UNIT_ZERO_POINT)
        _check_argument_scale(view)
    return (output,)


def _check_argument_scale(view: OperationView) -> None:
    scale = view.input(0).type.scale
    if not scale > MIN_ARGUMENT_SCALE:
        raise failed(view, f"input (input 0) has scale {scale:.9g}, must be greater than 2^-27")


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map a TFLite operator of one input without options."""
    return [tflite_options.tensor(operator, 0, "input")]


def lower_relu(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A table of clamped raw values, which fusion may move into the producer as a clamp."""
    clamp = clamp_range(view)
    table = np.clip(np.arange(256), *clamp).astype(np.uint8)
    domain = flat_rows(view.output().type.dimensions)
    return [table_stage(view, view.operation.inputs[0], domain, table, whole_output(view, domain), clamp)]


def lower_relu_float(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A clamp on the vector unit's float lanes."""
    fixed = {"function": UnaryFunction.CLAMP, **float_clamp(_FUSED_TWINS[view.operation.code])}
    return [element_stage(view, FloatUnary, fixed)]


def _lower_float(function: UnaryFunction) -> Lower:
    """One stage on the vector unit's float lanes."""

    def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
        return [element_stage(view, FloatUnary, {"function": function})]

    return lower


def lower_logistic(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A table of the fixed-point function at all 256 codes."""
    input_type = view.input(0).type
    return [_function_stage(view, logistic_table(input_type.scale, input_type.zero_point))]


def lower_tanh(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A table of the fixed-point function at all 256 codes."""
    input_type = view.input(0).type
    return [_function_stage(view, tanh_table(input_type.scale, input_type.zero_point))]


def _function_stage(view: OperationView, table: npt.NDArray[np.uint8]) -> Stage:
    domain = flat_rows(view.output().type.dimensions)
    return table_stage(view, view.operation.inputs[0], domain, table, whole_output(view, domain))


register(
    OperationSpec(
        code=OperationCode.RELU,
        summary="max(0, x)",
        notes=OperationNotes(
            inputs=(tensor("input", REAL, RANKS_TO_4, "any shape"),),
            outputs=(tensor("output", REAL, RANKS_TO_4, "the input's shape"),),
            limits=(SAME_QUANTISATION,),
            runs=QUANT8_OR_FLOAT,
            cycles=(
                CycleNote("quant8; none where the operation before can clamp", "ceil(E / L)"),
                CycleNote("float32", "ceil(E / F)"),
            ),
        ),
        infer=infer_relu,
        npu_refusal=quant8_or_float,
        lower=lower_by_type(quant8=lower_relu, float32=lower_relu_float),
        tflite="RELU",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.RELU1,
        summary="min(1, max(-1, x))",
        notes=OperationNotes(
            inputs=(tensor("input", REAL, RANKS_TO_4, "any shape"),),
            outputs=(tensor("output", REAL, RANKS_TO_4, "the input's shape"),),
            limits=(SAME_QUANTISATION,),
            runs=QUANT8_OR_FLOAT,
            cycles=(
                CycleNote("quant8; none where the operation before can clamp", "ceil(E / L)"),
                CycleNote("float32", "ceil(E / F)"),
            ),
        ),
        infer=infer_relu,
        npu_refusal=quant8_or_float,
        lower=lower_by_type(quant8=lower_relu, float32=lower_relu_float),
        tflite="RELU_N1_TO_1",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.RELU6,
        summary="min(6, max(0, x))",
        notes=OperationNotes(
            inputs=(tensor("input", REAL, RANKS_TO_4, "any shape"),),
            outputs=(tensor("output", REAL, RANKS_TO_4, "the input's shape"),),
            limits=(SAME_QUANTISATION,),
            runs=QUANT8_OR_FLOAT,
            cycles=(
                CycleNote("quant8; none where the operation before can clamp", "ceil(E / L)"),
                CycleNote("float32", "ceil(E / F)"),
            ),
        ),
        infer=infer_relu,
        npu_refusal=quant8_or_float,
        lower=lower_by_type(quant8=lower_relu, float32=lower_relu_float),
        tflite="RELU6",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.LOGISTIC,
        summary="1 / (1 + exp(-x))",
        notes=OperationNotes(
            inputs=(tensor("input", REAL, RANKS_TO_4, "any shape"),),
            outputs=(tensor("output", REAL, RANKS_TO_4, "the input's shape"),),
            limits=(
                "quant8: the input scale is greater than 2^-27; the output has scale 1/256, zero point 0.",
            ),
            runs=QUANT8_OR_FLOAT,
            cycles=(
                CycleNote("quant8, from a table of 256 entries", "ceil(E / L)"),
                CycleNote("float32", "ceil(E / F) * 30"),
            ),
        ),
        infer=infer_logistic,
        npu_refusal=quant8_or_float,
        lower=lower_by_type(quant8=lower_logistic, float32=_lower_float(UnaryFunction.LOGISTIC)),
        tflite="LOGISTIC",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.TANH,
        summary="tanh(x)",
        notes=OperationNotes(
            inputs=(tensor("input", REAL, RANKS_TO_4, "any shape"),),
            outputs=(tensor("output", REAL, RANKS_TO_4, "the input's shape"),),
            limits=(
                "quant8: from level 29 on.",
                "quant8: the input scale is greater than 2^-27; the output has scale 1/128, zero point 128.",
            ),
            runs=QUANT8_OR_FLOAT,
            cycles=(
                CycleNote("quant8, from a table of 256 entries", "ceil(E / L)"),
                CycleNote("float32", "ceil(E / F) * 48"),
            ),
        ),
        infer=infer_tanh,
        npu_refusal=quant8_or_float,
        lower=lower_by_type(quant8=lower_tanh, float32=_lower_float(UnaryFunction.TANH)),
        tflite="TANH",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.FLOOR,
        summary="The largest integer that is not greater than x",
        notes=OperationNotes(
            inputs=(tensor("input", (FLOAT32,), RANKS_TO_4, "any shape"),),
            outputs=(tensor("output", (FLOAT32,), RANKS_TO_4, "the input's shape"),),
            runs="NPU, vector unit, where it has float lanes; else host",
            cycles=(CycleNote("float32", "ceil(E / F)"),),
        ),
        infer=infer_floor,
        npu_refusal=quant8_or_float,
        lower=_lower_float(UnaryFunction.FLOOR),
        tflite="FLOOR",
        from_tflite=from_tflite,
    )
)
