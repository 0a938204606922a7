"""FULLY_CONNECTED."""

import dataclasses
import math
from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperationCode
from compiler.operation import ImportedInput, OperationSpec, OperationView, TfliteOperator, register
from compiler.operation_notes import CycleNote, OperationNotes, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import BIAS, FUSED_ACTIVATION, MULTIPLIER
from compiler.ops.macs import matrix_macs
from compiler.ops.matrix_stage import convolution_stage
from compiler.ops.operands import (
    RANKS_TO_4,
    REAL,
    check_counts,
    failed,
    fused_activation,
    is_level_27,
    tensor_input,
    tensor_output,
)
from compiler.ops.quantization import check_bias, check_convolution_multiplier
from compiler.ops.window import Window, WindowAxis
from compiler.stage import LoweringContext, Stage, View


@dataclasses.dataclass(frozen=True, slots=True)
class MatmulAttributes:
    """The product [batches, depth] x [units, depth] transposed, and the fused activation."""

    batches: int
    depth: int
    units: int
    activation: FuseCode


def parse(view: OperationView) -> MatmulAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted."""
    check_counts(view, (4,))
    image = tensor_input(view, 0, "input", range(1 if is_level_27(view) else 2, 5))
    units, depth = tensor_input(view, 1, "weights", (2,), (image.code,)).dimensions
    elements = math.prod(image.dimensions)
    if elements % depth:
        raise failed(
            view,
            f"input (input 0) {list(image.dimensions)} has {elements} elements, must have a multiple of the"
            f" weights' input size {depth}",
        )
    return MatmulAttributes(elements // depth, depth, units, fused_activation(view, 3))


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, units]."""
    attributes = parse(view)
    input_type, weights_type = view.input(0).type, view.input(1).type
    check_bias(view, 2, attributes.units, input_type, weights_type)
    output = tensor_output(view, input_type.code, (attributes.batches, attributes.units))
    check_convolution_multiplier(view, input_type, weights_type)
    return (output,)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's FULLY_CONNECTED; its output must have rank 2, its weights the default format."""
    weights_format = tflite_options.option(operator, "weights_format")
    if weights_format != "DEFAULT":
        raise UnsupportedError(
            f"{tflite_options.label(operator)}: weights format {weights_format} is not"
            " implemented (only DEFAULT)"
        )
    rank = len(operator.outputs[0].type.dimensions)
    if tflite_options.option(operator, "keep_num_dims") and rank != 2:
        raise UnsupportedError(
            f"{tflite_options.label(operator)}: keep_num_dims with an output of rank {rank} is not in NNAPI"
            " (rank 2)"
        )
    return [
        tflite_options.tensor(operator, 0, "input"),
        tflite_options.tensor(operator, 1, "weights"),
        tflite_options.bias(operator, tflite_options.dimension(operator, 1, "weights", 0)),
        tflite_options.fused_activation(operator),
    ]


def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A 1x1 convolution over an image of one row: a pixel for each batch element."""
    attributes = parse(view)
    one = WindowAxis(size=1, stride=1, dilation=1, pad_head=0, pad_tail=0)
    return [
        convolution_stage(
            view,
            Window(one, one),
            image=(1, 1, attributes.batches, attributes.depth),
            filters=(attributes.units, 1, 1, attributes.depth),
            domain=(1, 1, attributes.batches, attributes.units),
            activation=attributes.activation,
        )
    ]


register(
    OperationSpec(
        code=OperationCode.FULLY_CONNECTED,
        summary="Matrix product of the flattened input with transposed weights",
        notes=OperationNotes(
            inputs=(
                tensor(
                    "input", REAL, RANKS_TO_4, "its elements are batches x depth; rank 1 at level 27 only"
                ),
                tensor("weights", REAL, (2,), "[units, depth], of the input's type"),
                BIAS,
                FUSED_ACTIVATION,
            ),
            outputs=(tensor("output", REAL, (2,), "[batches, units]"),),
            limits=(MULTIPLIER,),
            runs="NPU, matrix unit: quant8; float32 on the host",
            cycles=(CycleNote("quant8, K = depth, N = units", "product(P, K, N)"),),
        ),
        infer=infer,
        lower=lower,
        macs=matrix_macs(1),
        tflite="FULLY_CONNECTED",
        from_tflite=from_tflite,
    )
)
