"""SOFTMAX."""

import dataclasses
import math
from collections.abc import Sequence

from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode
from compiler.operation import (
    ImportedInput,
    OperationSpec,
    OperationView,
    ScalarInput,
    TfliteOperator,
    register,
)
from compiler.ops import tflite_options
from compiler.ops.lowering import operation_number, whole_output
from compiler.ops.operands import (
    RANKS_TO_4,
    check_counts,
    check_output_quantization,
    failed,
    float32_scalar,
    int32_scalar,
    quant8_input,
    quant8_output,
    unsupported,
)
from compiler.ops.quantization import PROBABILITY_SCALE
from compiler.stage import Access, LoweringContext, Stage, StageInput, Tile, View, same_place
from isa.arithmetic import softmax_parameters
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Softmax

MIN_SOFTMAX_SCALE = 2.0**-26
"""beta x input scale is greater: differences are rescaled to Q5.26 by a factor above 1."""


@dataclasses.dataclass(frozen=True, slots=True)
class SoftmaxAttributes:
    """Softmax over each of `rows` rows of `depth` elements (the last dimension)."""

    rows: int
    depth: int
    beta: float


def parse(view: OperationView) -> SoftmaxAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted.

    Level 29 adds an optional axis (input 2) and ranks 1 and 3; only the last axis is implemented.
    """
    level_27 = view.numerics is Numerics.NNAPI27
    check_counts(view, (2, 3))
    if level_27 and len(view.operation.inputs) == 3:
        raise view.error("has an axis (input 2), which came with level 29 (numerics nnapi27)")
    shape = quant8_input(view, 0, "input", (2, 4) if level_27 else RANKS_TO_4).dimensions
    beta = float32_scalar(view, 1, "beta")
    if not (beta > 0 and math.isfinite(beta)):
        raise view.error(f"beta (input 1) is {beta:g}, must be greater than 0 and finite")
    if len(view.operation.inputs) == 3:
        _check_axis(view, len(shape))
    return SoftmaxAttributes(math.prod(shape[:-1]), shape[-1], beta)


def _check_axis(view: OperationView, rank: int) -> None:
    axis = int32_scalar(view, 2, "axis")
    if not -rank <= axis < rank:
        raise failed(view, f"axis (input 2) is {axis}, must be {-rank} to {rank - 1}")
    if axis not in (-1, rank - 1):
        raise unsupported(view, f"axis (input 2) is {axis}; only the last axis ({rank - 1}) is implemented")


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the input's shape, scale 1/256 and zero point 0."""
    attributes = parse(view)
    input_type = view.input(0).type
    output = quant8_output(view, input_type.dimensions)
    check_output_quantization(view, PROBABILITY_SCALE, 0)
    if not attributes.beta * input_type.scale > MIN_SOFTMAX_SCALE:
        raise failed(
            view,
            f"beta x input scale = {attributes.beta:.9g} x {input_type.scale:.9g}, must be greater than"
            " 2^-26",
        )
    return (output,)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's SOFTMAX."""
    beta = float(tflite_options.option(operator, "beta"))
    return [tflite_options.tensor(operator, 0, "input"), ScalarInput(OperandCode.FLOAT32, beta)]


def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit: an image of one row with a pixel per softmax row."""
    attributes = parse(view)
    parameters = softmax_parameters(view.input(0).type.scale, attributes.beta)
    domain = (1, 1, attributes.rows, attributes.depth)

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return Softmax(
            unit_mask=unit_mask,
            rows=tile.width,
            depth=tile.channels,
            input_address=inputs[0].address,
            input_row_pitch=inputs[0].pixel_pitch,
            output_address=output.address,
            output_row_pitch=output.pixel_pitch,
            multiplier=parameters.multiplier,
            shift=parameters.shift,
            difference_limit=parameters.difference_limit,
        )

    return [
        Stage(
            operation=operation_number(view),
            kind=UnitKind.VECTOR,
            domain=domain,
            channel_step=0,
            inputs=(StageInput(tensor=view.operation.inputs[0], shape=domain, footprint=same_place),),
            output=whole_output(view, domain),
            emit=emit,
        )
    ]


register(
    OperationSpec(
        code=OperationCode.SOFTMAX,
        summary="exp(beta x) over the last dimension, normalised to sum 1",
        infer=infer,
        lower=lower,
        tflite="SOFTMAX",
        from_tflite=from_tflite,
    )
)
