"""SOFTMAX."""

import dataclasses
import math
from collections.abc import Sequence

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from compiler.operation import (
    ImportedInput,
    OperationSpec,
    OperationView,
    ScalarInput,
    TfliteOperator,
    quant8_or_float,
    register,
)
from compiler.operation_notes import CycleNote, OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import LAST_AXIS, QUANT8_OR_FLOAT
from compiler.ops.float_lowering import lower_by_type
from compiler.ops.operands import (
    QUANT8,
    RANKS_TO_4,
    REAL,
    axis_scalar,
    check_counts,
    check_output_quantization,
    failed,
    float32_scalar,
    is_level_27,
    tensor_input,
    tensor_output,
)
from compiler.ops.quantization import PROBABILITY_SCALE
from compiler.ops.rows import row_stage
from compiler.stage import LoweringContext, Stage, View
from isa.arithmetic import softmax_parameters
from isa.float_bits import float32_bits
from isa.instructions.float_vector import FloatRows, RowFunction
from isa.instructions.vector import Softmax
from isa.target import Target

MIN_SOFTMAX_SCALE = 2.0**-26
"""beta x input scale is greater: differences are rescaled to Q5.26 by a factor above 1."""


@dataclasses.dataclass(frozen=True, slots=True)
class SoftmaxAttributes:
    """Axis to sum over, counted from 0, and the factor of the exponents."""

    axis: int
    beta: float


def parse(view: OperationView) -> SoftmaxAttributes:
    """Read the attributes; GraphError if one is not permitted.

    Level 29 adds an optional axis (input 2) and ranks 1 and 3.
    """
    check_counts(view, (2,), level_29=(3,))
    ranks = (2, 4) if is_level_27(view) else RANKS_TO_4
    rank = len(tensor_input(view, 0, "input", ranks).dimensions)
    beta = float32_scalar(view, 1, "beta")
    if not (beta > 0 and math.isfinite(beta)):
        raise view.error(f"beta (input 1) is {beta:g}, must be greater than 0 and finite")
    return SoftmaxAttributes(axis_scalar(view, 2, rank), beta)


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's shape, a quant8 one scale 1/256 and zero point 0."""
    attributes = parse(view)
    input_type = view.input(0).type
    output = tensor_output(view, input_type.code, input_type.dimensions)
    if input_type.code is not QUANT8:
        return (output,)
    check_output_quantization(view, PROBABILITY_SCALE, 0)
    if not attributes.beta * input_type.scale > MIN_SOFTMAX_SCALE:
        raise failed(
            view,
            f"beta x input scale = {attributes.beta:.9g} x {input_type.scale:.9g}, must be greater than"
            " 2^-26",
        )
    return (output,)


def npu_refusal(view: OperationView, target: Target) -> str | None:
    """The vector unit computes rows along the last dimension."""
    axis, last = parse(view).axis, len(view.input(0).type.dimensions) - 1
    if axis != last:
        return f"axis is {axis}; the NPU takes the last one ({last}) only"
    return quant8_or_float(view, target)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's SOFTMAX."""
    beta = float(tflite_options.option(operator, "beta"))
    return [tflite_options.tensor(operator, 0, "input"), ScalarInput(OperandCode.FLOAT32, beta)]


def lower_quant8(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's integer lanes."""
    parameters = softmax_parameters(view.input(0).type.scale, parse(view).beta)
    fixed = {
        "multiplier": parameters.multiplier,
        "shift": parameters.shift,
        "difference_limit": parameters.difference_limit,
    }
    return [row_stage(view, Softmax, fixed)]


def lower_float(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's float lanes."""
    fixed = {"function": RowFunction.SOFTMAX, "beta": float32_bits(parse(view).beta)}
    return [row_stage(view, FloatRows, fixed)]


register(
    OperationSpec(
        code=OperationCode.SOFTMAX,
        summary="exp(beta x) along one dimension, normalised to sum 1",
        notes=OperationNotes(
            inputs=(
                tensor("input", REAL, RANKS_TO_4, "ranks 2 and 4 only at level 27"),
                scalar("beta", "greater than 0", types=(OperandCode.FLOAT32,)),
                scalar("axis", "level 29: the dimension to sum over, the last without it", counts=(0, 1)),
            ),
            outputs=(tensor("output", REAL, RANKS_TO_4, "the input's shape"),),
            limits=(
                "quant8: the output has scale 1/256 and zero point 0.",
                "quant8: beta x input scale is greater than 2^-26.",
            ),
            runs=f"{QUANT8_OR_FLOAT}; {LAST_AXIS}",
            cycles=(
                CycleNote("quant8", "ceil(E / L) * 20 + rows * (2 * log2(L) + 10)"),
                CycleNote("float32", "ceil(E / F) * 27 + rows * (2 * log2(F) + 7)"),
            ),
        ),
        infer=infer,
        npu_refusal=npu_refusal,
        lower=lower_by_type(quant8=lower_quant8, float32=lower_float),
        tflite="SOFTMAX",
        from_tflite=from_tflite,
    )
)
