"""DEPTHWISE_CONV_2D."""

import dataclasses
from collections.abc import Sequence

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperationCode
from compiler.operation import (
    ImportedInput,
    OperationSpec,
    OperationView,
    TfliteOperator,
    quant8_only,
    register,
)
from compiler.operation_notes import CycleNote, OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import (
    BIAS,
    DATA_LAYOUT,
    DILATIONS,
    FUSED_ACTIVATION,
    MULTIPLIER,
    NHWC_WINDOWS,
    PADDING,
    STRIDES,
)
from compiler.ops.layout import Layout, data_layout, layout_refusal
from compiler.ops.lowering import (
    WeightOperands,
    constant_weights,
    image_shape,
    matrix_product_macs,
    operation_number,
    weighted_fields,
    whole_output,
    window_fields,
    window_footprint,
)
from compiler.ops.macs import filter_macs
from compiler.ops.operands import REAL, failed, fused_activation, positive_scalar, tensor_input, tensor_output
from compiler.ops.quantization import check_bias, check_convolution_multiplier
from compiler.ops.window import Window, locate_window, parse_window, window_refusal
from compiler.stage import Access, Box, LoweringContext, Stage, StageInput, Tile, View
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import DepthwiseConvolve
from isa.target import Target


@dataclasses.dataclass(frozen=True, slots=True)
class DepthwiseAttributes:
    """Data layout of the images, window, output channels per input channel, and fused activation."""

    layout: Layout
    window: Window
    depth_multiplier: int
    activation: FuseCode


def parse(view: OperationView) -> DepthwiseAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted."""
    operands = locate_window(view, first=3, own=2, dilatable=True)
    image = tensor_input(view, 0, "input", (4,))
    filters = tensor_input(view, 1, "filter", (4,), (image.code,)).dimensions
    layout = data_layout(view, operands.layout)
    window = parse_window(view, operands, layout.nhwc(image.dimensions)[1:3], filters[1:3])
    multiplier = positive_scalar(view, operands.rest, "depth multiplier")
    return DepthwiseAttributes(layout, window, multiplier, fused_activation(view, operands.rest + 1))


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, rows, columns, depth x multiplier] in the input's layout."""
    attributes = parse(view)
    input_type, filter_type = view.input(0).type, view.input(1).type
    batches, height, width, depth = attributes.layout.nhwc(input_type.dimensions)
    filters, _, _, channels = filter_type.dimensions
    if filters != 1:
        raise failed(view, f"filter (input 1) has first dimension {filters}, must have 1")
    if channels != depth * attributes.depth_multiplier:
        raise failed(
            view,
            f"filter (input 1) has depth {channels}, must have input depth {depth} x depth multiplier"
            f" {attributes.depth_multiplier}",
        )
    check_bias(view, 2, channels, input_type, filter_type)
    shape = (batches, *attributes.window.output_size(height, width), channels)
    output = tensor_output(view, input_type.code, attributes.layout.arrange(shape))
    check_convolution_multiplier(view, input_type, filter_type)
    return (output,)


def npu_refusal(view: OperationView, target: Target) -> str | None:
    """The vector unit convolves quant8 images in NHWC, with windows that an instruction can hold."""
    attributes = parse(view)
    return quant8_only(view, target) or layout_refusal(attributes.layout) or window_refusal(attributes.window)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's DEPTHWISE_CONV_2D; its depth multiplier follows from the shapes, as in TFLite."""
    depth = tflite_options.dimension(operator, 0, "input", -1)
    channels = tflite_options.dimension(operator, 1, "filter", -1)
    if depth < 1 or channels % depth:
        raise GraphError(
            f"{tflite_options.label(operator)}: filter depth {channels} must be a multiple of the input's"
            f" depth {depth}"
        )
    return [
        tflite_options.tensor(operator, 0, "input"),
        tflite_options.tensor(operator, 1, "filter"),
        tflite_options.bias(operator, channels),
        *tflite_options.padding_and_strides(operator),
        tflite_options.int32(channels // depth),
        tflite_options.fused_activation(operator),
        *tflite_options.layout_and_dilations(operator),
    ]


def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit; weights keep NNAPI's layout [1, row, column, channel]."""
    attributes = parse(view)
    window, multiplier = attributes.window, attributes.depth_multiplier
    image, filters = image_shape(view.input(0).type.dimensions), image_shape(view.input(1).type.dimensions)
    domain = image_shape(view.output().type.dimensions)
    _, rows, columns, channels = filters
    fixed = weighted_fields(view, attributes.activation) | {"channel_multiplier": multiplier}
    footprint = window_footprint(window, image, lambda tile: (tile.c0 // multiplier, tile.c1 // multiplier))
    operands = WeightOperands(
        view,
        constant_weights(view, (rows * columns, channels), channel_axis=1),
        filters,
        lambda tile: Box(0, 1, 0, rows, 0, columns, tile.c0, tile.c1),
    )

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        packed = Access(0, 0, columns * tile.channels, tile.channels)
        weights, bias = operands.locate(inputs, constants, packed)
        return DepthwiseConvolve(
            unit_mask=unit_mask,
            weight_address=weights.address,
            weight_tap_pitch=weights.pixel_pitch,
            bias_address=bias,
            **fixed,
            **window_fields(window, tile, footprint(tile), inputs[0], output),
        )

    return [
        Stage(
            operation=operation_number(view),
            kind=UnitKind.VECTOR,
            domain=domain,
            channel_step=multiplier,
            inputs=(
                StageInput(tensor=view.operation.inputs[0], shape=image, footprint=footprint),
                *operands.inputs,
            ),
            output=whole_output(view, domain),
            constants=operands.constants,
            emit=emit,
            shape_key=(window, image, multiplier, len(operands.inputs)),
            can_clamp=True,
            macs=matrix_product_macs(domain, rows * columns),
        )
    ]


register(
    OperationSpec(
        code=OperationCode.DEPTHWISE_CONV_2D,
        summary="2-D convolution of each channel with its own filters",
        notes=OperationNotes(
            inputs=(
                tensor("input", REAL, (4,), "[batches, height, width, depth]"),
                tensor("filter", REAL, (4,), "[1, rows, columns, depth x multiplier], of the input's type"),
                BIAS,
                PADDING,
                STRIDES,
                scalar("depth multiplier", "output channels of each input channel, at least 1"),
                FUSED_ACTIVATION,
                DATA_LAYOUT,
                DILATIONS,
            ),
            outputs=(
                tensor("output", REAL, (4,), "[batches, output rows, output columns, depth x multiplier]"),
            ),
            limits=(MULTIPLIER,),
            runs=f"NPU, vector unit: quant8, {NHWC_WINDOWS}; else host",
            cycles=(CycleNote("quant8", "ceil(E / L) * (taps + 1)"),),
        ),
        infer=infer,
        npu_refusal=npu_refusal,
        lower=lower,
        macs=filter_macs(channel_axis=3),
        tflite="DEPTHWISE_CONV_2D",
        from_tflite=from_tflite,
    )
)
