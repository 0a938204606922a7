"""DEQUANTIZE."""

from collections.abc import Sequence

from compiler.graph import OperandType
from compiler.nnapi import OperationCode
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
from compiler.ops.float_lowering import element_stage
from compiler.ops.operands import FLOAT32, QUANT8, RANKS_TO_4, check_counts, tensor_input, tensor_output
from compiler.stage import LoweringContext, Stage, View
from isa.float_bits import float32_bits
from isa.instructions.float_vector import Dequantize


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the quant8 input's shape and is float32."""
    check_counts(view, (1,))
    input_type = tensor_input(view, 0, "input", RANKS_TO_4, (QUANT8,))
    return (tensor_output(view, FLOAT32, input_type.dimensions),)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's DEQUANTIZE."""
    return [tflite_options.tensor(operator, 0, "input")]


def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's float lanes."""
    input_type = view.input(0).type
    fixed = {"input_zero": input_type.zero_point, "scale": float32_bits(input_type.scale)}
    return [element_stage(view, Dequantize, fixed)]


register(
    OperationSpec(
        code=OperationCode.DEQUANTIZE,
        summary="scale (x - zero point), as float32",
        notes=OperationNotes(
            inputs=(tensor("input", (QUANT8,), RANKS_TO_4, "any shape"),),
            outputs=(tensor("output", (FLOAT32,), RANKS_TO_4, "the input's shape"),),
            runs="NPU, vector unit, where it has float lanes; else host",
            cycles=(CycleNote("to float32", "ceil(E / F) * 2"),),
        ),
        infer=infer,
        npu_refusal=quant8_or_float,
        lower=lower,
        tflite="DEQUANTIZE",
        from_tflite=from_tflite,
    )
)
