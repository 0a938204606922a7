"""AVERAGE_POOL_2D and MAX_POOL_2D."""

import dataclasses
from collections.abc import Sequence

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperationCode
from compiler.operation import ImportedInput, OperationSpec, OperationView, TfliteOperator, register
from compiler.ops import tflite_options
from compiler.ops.lowering import (
    image_shape,
    operation_number,
    whole_output,
    window_fields,
    window_footprint,
)
from compiler.ops.operands import (
    check_output_keeps_quantization,
    fused_activation,
    positive_scalar,
    quant8_input,
    quant8_output,
)
from compiler.ops.quantization import activation_range
from compiler.ops.window import Window, locate_window, parse_window
from compiler.stage import Access, LoweringContext, Stage, StageInput, Tile, View
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Pool, PoolMode


@dataclasses.dataclass(frozen=True, slots=True)
class PoolingAttributes:
    """Window and fused activation of a pool; data layout is NHWC."""

    window: Window
    activation: FuseCode


def parse(view: OperationView) -> PoolingAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted."""
    operands = locate_window(view, first=1, own=3, dilatable=False)
    image = quant8_input(view, 0, "input", (4,)).dimensions
    filter_width = positive_scalar(view, operands.rest, "filter width")
    filter_height = positive_scalar(view, operands.rest + 1, "filter height")
    window = parse_window(view, operands, image[1:3], (filter_height, filter_width))
    return PoolingAttributes(window, fused_activation(view, operands.rest + 2))


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, rows, columns, depth] in the input's quantisation."""
    attributes = parse(view)
    input_type = view.input(0).type
    batches, height, width, depth = input_type.dimensions
    output = quant8_output(view, (batches, *attributes.window.output_size(height, width), depth))
    check_output_keeps_quantization(view, input_type)
    return (output,)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map a TFLite pool: implicit padding."""
    return [
        tflite_options.tensor(operator, 0, "input"),
        *tflite_options.padding_and_strides(operator),
        tflite_options.int32(tflite_options.option(operator, "filter_width")),
        tflite_options.int32(tflite_options.option(operator, "filter_height")),
        tflite_options.fused_activation(operator),
    ]


def _lower(view: OperationView, mode: PoolMode) -> Sequence[Stage | View]:
    attributes = parse(view)
    window = attributes.window
    image = image_shape(view.input(0).type.dimensions)
    domain = image_shape(view.output().type.dimensions)
    clamp_min, clamp_max = activation_range(attributes.activation, view.output().type)
    footprint = window_footprint(window, image, lambda tile: (tile.c0, tile.c1))

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return Pool(
            unit_mask=unit_mask,
            mode=mode,
            clamp_min=clamp_min,
            clamp_max=clamp_max,
            **window_fields(window, tile, footprint(tile), inputs[0], output),
        )

    return [
        Stage(
            operation=operation_number(view),
            kind=UnitKind.VECTOR,
            domain=domain,
            inputs=(StageInput(tensor=view.operation.inputs[0], shape=image, footprint=footprint),),
            output=whole_output(view, domain),
            emit=emit,
            can_clamp=True,
        )
    ]


def lower_average(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit."""
    return _lower(view, PoolMode.AVERAGE)


def lower_max(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit."""
    return _lower(view, PoolMode.MAX)


register(
    OperationSpec(
        code=OperationCode.AVERAGE_POOL_2D,
        summary="Rounded mean of each window's valid pixels",
        infer=infer,
        lower=lower_average,
        tflite="AVERAGE_POOL_2D",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.MAX_POOL_2D,
        summary="Largest of each window's valid pixels",
        infer=infer,
        lower=lower_max,
        tflite="MAX_POOL_2D",
        from_tflite=from_tflite,
    )
)
