"""CONV_2D."""

import dataclasses
from collections.abc import Sequence

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperationCode
from compiler.operation import ImportedInput, OperationSpec, OperationView, TfliteOperator, register
from compiler.ops import tflite_options
from compiler.ops.lowering import image_shape
from compiler.ops.matrix_stage import convolution_stage
from compiler.ops.operands import failed, fused_activation, quant8_input, quant8_output
from compiler.ops.quantization import check_bias, check_convolution_multiplier
from compiler.ops.window import Window, locate_window, parse_window
from compiler.stage import LoweringContext, Stage, View


@dataclasses.dataclass(frozen=True, slots=True)
class ConvolutionAttributes:
    """Window and fused activation of a convolution; data layout is NHWC."""

    window: Window
    activation: FuseCode


def parse(view: OperationView) -> ConvolutionAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted."""
    operands = locate_window(view, first=3, own=1, dilatable=True)
    image = quant8_input(view, 0, "input", (4,)).dimensions
    filters = quant8_input(view, 1, "filter", (4,)).dimensions
    window = parse_window(view, operands, image[1:3], filters[1:3])
    return ConvolutionAttributes(window, fused_activation(view, operands.rest))


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, rows, columns, filters]."""
    attributes = parse(view)
    input_type, filter_type = view.input(0).type, view.input(1).type
    batches, height, width, depth = input_type.dimensions
    channels, _, _, filter_depth = filter_type.dimensions
    if filter_depth != depth:
        raise failed(view, f"filter (input 1) has depth {filter_depth}, must have the input's depth {depth}")
    check_bias(view, 2, channels, input_type, filter_type)
    output = quant8_output(view, (batches, *attributes.window.output_size(height, width), channels))
    check_convolution_multiplier(view, input_type, filter_type)
    return (output,)


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
    """One stage on the matrix unit; weights keep NNAPI's layout [channel, row, column, depth]."""
    attributes = parse(view)
    image, filters = image_shape(view.input(0).type.dimensions), image_shape(view.input(1).type.dimensions)
    domain = image_shape(view.output().type.dimensions)
    return [
        convolution_stage(view, attributes.window, image, filters, domain, attributes.activation),
    ]


register(
    OperationSpec(
        code=OperationCode.CONV_2D,
        summary="2-D convolution with a filter over all input channels",
        infer=infer,
        lower=lower,
        tflite="CONV_2D",
        from_tflite=from_tflite,
    )
)
