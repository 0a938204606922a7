"""RELU, RELU1, RELU6 and LOGISTIC."""

from collections.abc import Sequence

import numpy as np

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperationCode
from compiler.operation import ImportedInput, OperationSpec, OperationView, TfliteOperator, register
from compiler.ops import tflite_options
from compiler.ops.lowering import flat_rows, table_stage, whole_output
from compiler.ops.operands import (
    RANKS_TO_4,
    check_counts,
    check_output_keeps_quantization,
    check_output_quantization,
    failed,
    quant8_input,
    quant8_output,
)
from compiler.ops.quantization import PROBABILITY_SCALE, activation_range
from compiler.stage import LoweringContext, Stage, View
from isa.arithmetic import logistic_table

MIN_LOGISTIC_SCALE = 2.0**-27
"""Input scales of LOGISTIC are greater: its argument is rescaled to Q4.27 by a factor above 1."""

_FUSED_TWINS = {
    OperationCode.RELU: FuseCode.RELU,
    OperationCode.RELU1: FuseCode.RELU1,
    OperationCode.RELU6: FuseCode.RELU6,
}


def clamp_range(view: OperationView) -> tuple[int, int]:
    """Smallest and largest raw value that a RELU-family operation lets through."""
    return activation_range(_FUSED_TWINS[view.operation.code], view.input(0).type)


def infer_relu(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's shape and quantisation."""
    check_counts(view, (1,))
    input_type = quant8_input(view, 0, "input", RANKS_TO_4)
    output = quant8_output(view, input_type.dimensions)
    check_output_keeps_quantization(view, input_type)
    return (output,)


def infer_logistic(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's shape, scale 1/256 and zero point 0."""
    check_counts(view, (1,))
    input_type = quant8_input(view, 0, "input", RANKS_TO_4)
    output = quant8_output(view, input_type.dimensions)
    check_output_quantization(view, PROBABILITY_SCALE, 0)
    if not input_type.scale > MIN_LOGISTIC_SCALE:
        raise failed(view, f"input (input 0) has scale {input_type.scale:.9g}, must be greater than 2^-27")
    return (output,)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map a TFLite operator of one input without options."""
    return [tflite_options.tensor(operator, 0, "input")]


def lower_relu(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A table of clamped raw values, which fusion may move into the producer as a clamp."""
    clamp = clamp_range(view)
    table = np.clip(np.arange(256), *clamp).astype(np.uint8)
    domain = flat_rows(view.output().type.dimensions)
    return [table_stage(view, view.operation.inputs[0], domain, table, whole_output(view, domain), clamp)]


def lower_logistic(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A table of the fixed-point function at all 256 codes."""
    input_type = view.input(0).type
    table = logistic_table(input_type.scale, input_type.zero_point)
    domain = flat_rows(view.output().type.dimensions)
    return [table_stage(view, view.operation.inputs[0], domain, table, whole_output(view, domain))]


register(
    OperationSpec(
        code=OperationCode.RELU,
        summary="max(0, x)",
        infer=infer_relu,
        lower=lower_relu,
        tflite="RELU",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.RELU1,
        summary="min(1, max(-1, x))",
        infer=infer_relu,
        lower=lower_relu,
        tflite="RELU_N1_TO_1",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.RELU6,
        summary="min(6, max(0, x))",
        infer=infer_relu,
        lower=lower_relu,
        tflite="RELU6",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.LOGISTIC,
        summary="1 / (1 + exp(-x))",
        infer=infer_logistic,
        lower=lower_logistic,
        tflite="LOGISTIC",
        from_tflite=from_tflite,
    )
)
