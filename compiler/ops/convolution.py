"""CONV_2D."""

import dataclasses
from collections.abc import Sequence

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
from compiler.operation_notes import CycleNote, OperationNotes, tensor
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
from compiler.ops.lowering import image_shape
from compiler.ops.macs import filter_macs
from compiler.ops.matrix_stage import convolution_stage
from compiler.ops.operands import REAL, failed, fused_activation, tensor_input, tensor_output
from compiler.ops.quantization import check_bias, check_convolution_multiplier
from compiler.ops.window import MAX_FIELD, Window, locate_window, parse_window, window_refusal
from compiler.stage import LoweringContext, Shape4, Stage, View
from isa.target import Target


@dataclasses.dataclass(frozen=True, slots=True)
class ConvolutionAttributes:
    """Data layout of the images, window and fused activation; filters are always [out, h, w, in]."""

    layout: Layout
    window: Window
    activation: FuseCode


def parse(view: OperationView) -> ConvolutionAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted."""
    operands = locate_window(view, first=3, own=1, dilatable=True)
    image = tensor_input(view, 0, "input", (4,))
    filters = tensor_input(view, 1, "filter", (4,), (image.code,)).dimensions
    layout = data_layout(view, operands.layout)
    window = parse_window(view, operands, layout.nhwc(image.dimensions)[1:3], filters[1:3])
    return ConvolutionAttributes(layout, window, fused_activation(view, operands.rest))


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, rows, columns, filters] in the input's layout."""
    attributes = parse(view)
    input_type, filter_type = view.input(0).type, view.input(1).type
    batches, height, width, depth = attributes.layout.nhwc(input_type.dimensions)
    channels, _, _, filter_depth = filter_type.dimensions
    if filter_depth != depth:
        raise failed(view, f"filter (input 1) has depth {filter_depth}, must have the input's depth {depth}")
    check_bias(view, 2, channels, input_type, filter_type)
    shape = (batches, *attributes.window.output_size(height, width), channels)
    output = tensor_output(view, input_type.code, attributes.layout.arrange(shape))
    check_convolution_multiplier(view, input_type, filter_type)
    return (output,)


def npu_refusal(view: OperationView, target: Target) -> str | None:
    """The matrix unit convolves quant8 images in NHWC, with windows that an instruction can hold."""
    attributes = parse(view)
    return quant8_only(view, target) or layout_refusal(attributes.layout) or window_refusal(attributes.window)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's CONV_2D: implicit padding, dilation where there is one."""
    return [
        tflite_options.tensor(operator, 0, "input"),
        tflite_options.tensor(operator, 1, "filter"),
        tflite_options.bias(operator, tflite_options.dimension(operator, 1, "filter", 0)),
        *tflite_options.padding_and_strides(operator),
        tflite_options.fused_activation(operator),
        *tflite_options.layout_and_dilations(operator),
    ]


def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the matrix unit; weights keep NNAPI's layout [channel, row, column, depth].

    Where no pixel meets its neighbours, the images of a batch are one high image, so that tiles span them.
    """
    attributes = parse(view)
    image, filters = image_shape(view.input(0).type.dimensions), image_shape(view.input(1).type.dimensions)
    domain = image_shape(view.output().type.dimensions)
    if attributes.window.is_pointwise and image[0] * image[1] <= MAX_FIELD:
        image, domain = _one_image(image), _one_image(domain)
    return [
        convolution_stage(view, attributes.window, image, filters, domain, attributes.activation),
    ]


def _one_image(shape: Shape4) -> Shape4:
    """The images of a batch, one below the other."""
    batches, height, width, channels = shape
    return (1, batches * height, width, channels)


register(
    OperationSpec(
        code=OperationCode.CONV_2D,
        summary="2-D convolution with a filter over all input channels",
        notes=OperationNotes(
            inputs=(
                tensor("input", REAL, (4,), "[batches, height, width, depth]"),
                tensor("filter", REAL, (4,), "[filters, rows, columns, depth], of the input's type"),
                BIAS,
                PADDING,
                STRIDES,
                FUSED_ACTIVATION,
                DATA_LAYOUT,
                DILATIONS,
            ),
            outputs=(tensor("output", REAL, (4,), "[batches, output rows, output columns, filters]"),),
            limits=(MULTIPLIER,),
            runs=f"NPU, matrix unit: quant8, {NHWC_WINDOWS}; else host",
            cycles=(CycleNote("quant8, K = rows x columns x depth, N = filters", "product(P, K, N)"),),
        ),
        infer=infer,
        npu_refusal=npu_refusal,
        lower=lower,
        macs=filter_macs(channel_axis=0),
        tflite="CONV_2D",
        from_tflite=from_tflite,
    )
)
