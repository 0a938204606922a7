"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION."""

import dataclasses
from collections.abc import Sequence

from compiler.errors import UnsupportedError
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
    FLOAT32,
    QUANT8,
    RANKS_TO_4,
    REAL,
    axis_scalar,
    check_counts,
    check_output_quantization,
    failed,
    float32_scalar,
    int32_scalar,
    is_level_27,
    tensor_input,
    tensor_output,
)
from compiler.ops.quantization import UNIT_SCALE, UNIT_ZERO_POINT
from compiler.ops.rows import row_stage
from compiler.stage import LoweringContext, Stage, View
from isa.float_bits import float32_bits
from isa.instructions.float_vector import FloatRows, RowFunction
from isa.instructions.vector import L2Normalize
from isa.target import Target


def parse_l2_axis(view: OperationView) -> int:
    """The axis of an L2_NORMALIZATION, counted from 0; GraphError if the operands are not permitted.

    Level 29 adds an optional axis (input 1), quant8, and ranks 1 to 3.
    """
    check_counts(view, (1,), level_29=(2,))
    codes = (FLOAT32,) if is_level_27(view) else REAL
    rank = len(tensor_input(view, 0, "input", _ranks(view), codes).dimensions)
    return axis_scalar(view, 1, rank)


def _ranks(view: OperationView) -> Sequence[int]:
    return (4,) if is_level_27(view) else RANKS_TO_4


def infer_l2(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's shape, a quant8 one scale 1/128 and zero point 128."""
    parse_l2_axis(view)
    input_type = view.input(0).type
    output = tensor_output(view, input_type.code, input_type.dimensions)
    if output.code is QUANT8:
        check_output_quantization(view, UNIT_SCALE, UNIT_ZERO_POINT)
    return (output,)


def l2_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's L2_NORMALIZATION; NNAPI's has no fused activation."""
    activation = tflite_options.option(operator, "fused_activation_function")
    if activation != "NONE":
        raise UnsupportedError(
            f"{tflite_options.label(operator)}: fused activation {activation} is not in NNAPI (NONE)"
        )
    return [tflite_options.tensor(operator, 0, "input")]


@dataclasses.dataclass(frozen=True, slots=True)
class LocalResponseAttributes:
    """out = x (bias + alpha sum x^2)^-beta over `radius` neighbours on both sides along an axis."""

    radius: int
    bias: float
    alpha: float
    beta: float
    axis: int


def parse_local_response(view: OperationView) -> LocalResponseAttributes:
    """Read the attributes; GraphError if one is not permitted.

    Level 29 adds an optional axis (input 5) and ranks 1 to 3.
    """
    check_counts(view, (5,), level_29=(6,))
    rank = len(tensor_input(view, 0, "input", _ranks(view), (FLOAT32,)).dimensions)
    radius = int32_scalar(view, 1, "radius")
    if radius < 0:
        raise failed(view, f"radius (input 1) is {radius}, must be at least 0")
    bias = float32_scalar(view, 2, "bias")
    if bias == 0:
        raise failed(view, f"bias (input 2) is {bias:g}, must not be zero")
    alpha, beta = float32_scalar(view, 3, "alpha"), float32_scalar(view, 4, "beta")
    return LocalResponseAttributes(radius, bias, alpha, beta, axis_scalar(view, 5, rank))


def infer_local_response(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's shape, float32."""
    parse_local_response(view)
    return (tensor_output(view, FLOAT32, view.input(0).type.dimensions),)


def local_response_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's LOCAL_RESPONSE_NORMALIZATION."""
    factors = [float(tflite_options.option(operator, name)) for name in ("bias", "alpha", "beta")]
    return [
        tflite_options.tensor(operator, 0, "input"),
        tflite_options.int32(tflite_options.option(operator, "radius")),
        *(ScalarInput(OperandCode.FLOAT32, factor) for factor in factors),
    ]


def _axis_refusal(view: OperationView, axis: int) -> str | None:
    last = len(view.input(0).type.dimensions) - 1
    return None if axis == last else f"axis is {axis}; the NPU takes the last one ({last}) only"


def l2_refusal(view: OperationView, target: Target) -> str | None:
    """The vector unit computes rows along the last dimension."""
    return _axis_refusal(view, parse_l2_axis(view)) or quant8_or_float(view, target)


def lower_l2_quant8(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's integer lanes."""
    return [row_stage(view, L2Normalize, {"input_zero": view.input(0).type.zero_point})]


def lower_l2_float(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's float lanes."""
    return [row_stage(view, FloatRows, {"function": RowFunction.L2_NORMALIZE})]


def local_response_refusal(view: OperationView, target: Target) -> str | None:
    """The vector unit computes rows along the last dimension."""
    return _axis_refusal(view, parse_local_response(view).axis) or quant8_or_float(view, target)


def lower_local_response(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's float lanes."""
    attributes = parse_local_response(view)
    depth = view.input(0).type.dimensions[-1]
    fixed = {
        "function": RowFunction.LOCAL_RESPONSE,
        "radius": min(attributes.radius, depth),
        "bias": float32_bits(attributes.bias),
        "alpha": float32_bits(attributes.alpha),
        "beta": float32_bits(attributes.beta),
    }
    return [row_stage(view, FloatRows, fixed)]


_AXIS_NOTE = scalar("axis", "level 29: the dimension to sum over, the last without it", counts=(0, 1))

register(
    OperationSpec(
        code=OperationCode.L2_NORMALIZATION,
        summary="x / sqrt(sum of x^2) along one dimension",
        notes=OperationNotes(
            inputs=(tensor("input", REAL, RANKS_TO_4, "rank 4 only at level 27"), _AXIS_NOTE),
            outputs=(tensor("output", REAL, RANKS_TO_4, "the input's shape"),),
            limits=("quant8: from level 29 on; the output has scale 1/128 and zero point 128.",),
            runs=f"{QUANT8_OR_FLOAT}; {LAST_AXIS}",
            cycles=(
                CycleNote("quant8", "ceil(E / L) * 4 + rows * (log2(L) + 39)"),
                CycleNote("float32", "ceil(E / F) * 3 + rows * (log2(F) + 11)"),
            ),
        ),
        infer=infer_l2,
        npu_refusal=l2_refusal,
        lower=lower_by_type(quant8=lower_l2_quant8, float32=lower_l2_float),
        tflite="L2_NORMALIZATION",
        from_tflite=l2_from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.LOCAL_RESPONSE_NORMALIZATION,
        summary="x (bias + alpha sum of x^2 nearby)^-beta along one dimension",
        notes=OperationNotes(
            inputs=(
                tensor("input", (FLOAT32,), RANKS_TO_4, "rank 4 only at level 27"),
                scalar("radius", "neighbours on each side, at least 0"),
                scalar("bias", "not 0", types=(OperandCode.FLOAT32,)),
                scalar("alpha and beta", "factor and exponent", types=(OperandCode.FLOAT32,), counts=(2,)),
                _AXIS_NOTE,
            ),
            outputs=(tensor("output", (FLOAT32,), RANKS_TO_4, "the input's shape"),),
            runs=f"NPU, vector unit, where it has float lanes; else host; {LAST_AXIS}",
            cycles=(
                CycleNote(
                    "float32, window = 2 x radius + 1, at most the depth", "ceil(E / F) * (window + 57)"
                ),
            ),
        ),
        infer=infer_local_response,
        npu_refusal=local_response_refusal,
        lower=lower_local_response,
        tflite="LOCAL_RESPONSE_NORMALIZATION",
        from_tflite=local_response_from_tflite,
    )
)
