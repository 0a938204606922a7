"""RESIZE_BILINEAR."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from compiler.errors import UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
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
from compiler.ops.common_notes import DATA_LAYOUT, SAME_QUANTISATION
from compiler.ops.layout import Layout, data_layout, layout_refusal
from compiler.ops.lowering import operation_number, whole_output
from compiler.ops.operands import (
    FLOAT32,
    REAL,
    check_counts,
    check_output_keeps_quantization,
    failed,
    float32_scalar,
    is_level_27,
    positive_scalar,
    tensor_input,
    tensor_output,
)
from compiler.ops.window import MAX_FIELD
from compiler.stage import Access, Box, LoweringContext, Stage, StageInput, Tile, View
from isa.float_bits import float32_bits
from isa.instruction import Instruction, UnitKind
from isa.instructions.resize import ResizeBilinear
from isa.interpolation import neighbours
from isa.target import Target

MAX_SIZE = 2.0**31
"""Sizes of images stay below what an int32 holds."""


@dataclasses.dataclass(frozen=True, slots=True)
class ResizeAttributes:
    """Data layout, the input's (batches, height, width, depth), and the output's height and width."""

    layout: Layout
    image: tuple[int, int, int, int]
    height: int
    width: int


def parse(view: OperationView) -> ResizeAttributes:
    """Read the attributes; GraphError if one is not permitted.

    Input 1 is the output's width, input 2 its height (the header of level 27 names them the other way
    round; every runtime takes the width first). Level 29 adds quant8, a data layout (input 3) and factors
    (FLOAT32) in the place of sizes.
    """
    check_counts(view, (3,), level_29=(4,))
    codes = (FLOAT32,) if is_level_27(view) else REAL
    dimensions = tensor_input(view, 0, "input", (4,), codes).dimensions
    layout = data_layout(view, 3)
    image = layout.nhwc(dimensions)
    _, height, width, _ = image
    return ResizeAttributes(
        layout, image, _size(view, 2, "output height", height), _size(view, 1, "output width", width)
    )


def _size(view: OperationView, position: int, name: str, input_size: int) -> int:
    if is_level_27(view) or view.input(1).type.code is not OperandCode.FLOAT32:
        return positive_scalar(view, position, name)
    factor = float32_scalar(view, position, f"{name} factor")
    if not (factor > 0 and math.isfinite(factor)):
        raise failed(
            view, f"{name} factor (input {position}) is {factor:g}, must be greater than 0 and finite"
        )
    with np.errstate(over="ignore", under="ignore"):
        size = np.floor(np.float32(input_size) * np.float32(factor))
    if not size < MAX_SIZE:
        raise failed(view, f"{name} factor (input {position}) is {factor:g}; sizes must be below 2^31")
    return int(size)


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, new height, new width, depth] in the input's layout."""
    attributes = parse(view)
    batches, _, _, depth = attributes.image
    shape = attributes.layout.arrange((batches, attributes.height, attributes.width, depth))
    output = tensor_output(view, view.input(0).type.code, shape)
    check_output_keeps_quantization(view, view.input(0).type)
    return (output,)


def npu_refusal(view: OperationView, target: Target) -> str | None:
    """The vector unit resizes quant8 images in NHWC, of sizes that an instruction can hold."""
    attributes = parse(view)
    _, *size, _ = attributes.image
    largest = max(*size, attributes.height, attributes.width)
    if largest > MAX_FIELD:
        return f"an image has {largest} rows or columns; the NPU takes at most {MAX_FIELD}"
    return quant8_only(view, target) or layout_refusal(attributes.layout)


def _neighbours(input_size: int, output_size: int) -> tuple[float, list[int]]:
    """Input rows per output row, a float32, and the input row at or before each output row."""
    scale = float(np.float32(input_size) / np.float32(output_size))
    return scale, neighbours(0, output_size, scale, input_size).before.tolist()


def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit; a tile reads the pixels around its own."""
    attributes = parse(view)
    image = attributes.image
    batches, height, width, channels = image
    domain = (batches, attributes.height, attributes.width, channels)
    row_scale, row_before = _neighbours(height, attributes.height)
    column_scale, column_before = _neighbours(width, attributes.width)

    def footprint(tile: Tile) -> Box:
        rows = row_before[tile.h0], min(height, row_before[tile.h1 - 1] + 2)
        columns = column_before[tile.w0], min(width, column_before[tile.w1 - 1] + 2)
        return Box(tile.n, tile.n + 1, *rows, *columns, tile.c0, tile.c1)

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        box = footprint(tile)
        return ResizeBilinear(
            unit_mask=unit_mask,
            input_address=inputs[0].address,
            input_row_pitch=inputs[0].row_pitch,
            input_pixel_pitch=inputs[0].pixel_pitch,
            input_height=box.h1 - box.h0,
            input_width=box.w1 - box.w0,
            first_input_row=box.h0,
            first_input_column=box.w0,
            row_scale=float32_bits(row_scale),
            column_scale=float32_bits(column_scale),
            output_address=output.address,
            output_row_pitch=output.row_pitch,
            output_pixel_pitch=output.pixel_pitch,
            output_height=tile.height,
            output_width=tile.width,
            first_output_row=tile.h0,
            first_output_column=tile.w0,
            channels=tile.channels,
        )

    return [
        Stage(
            operation=operation_number(view),
            kind=UnitKind.VECTOR,
            domain=domain,
            inputs=(StageInput(tensor=view.operation.inputs[0], shape=image, footprint=footprint),),
            output=whole_output(view, domain),
            emit=emit,
        )
    ]


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's RESIZE_BILINEAR, whose second input is a constant [height, width]."""
    for name in ("align_corners", "half_pixel_centers"):
        if tflite_options.option(operator, name):
            raise UnsupportedError(
                f"{tflite_options.label(operator)}: {name} is true; only false is implemented"
            )
    height, width = tflite_options.constant(operator, 1, "size", (2,))
    return [
        tflite_options.tensor(operator, 0, "input"),
        tflite_options.int32(width),
        tflite_options.int32(height),
    ]


register(
    OperationSpec(
        code=OperationCode.RESIZE_BILINEAR,
        summary="An image scaled to another size with bilinear interpolation",
        notes=OperationNotes(
            inputs=(
                tensor("input", REAL, (4,), "[batches, height, width, depth]"),
                scalar(
                    "output size",
                    "width, height; at least 1. Level 29: or factors of the input's size, as FLOAT32",
                    types=(OperandCode.INT32, OperandCode.FLOAT32),
                    counts=(2,),
                ),
                DATA_LAYOUT,
            ),
            outputs=(tensor("output", REAL, (4,), "[batches, output height, output width, depth]"),),
            limits=("quant8: from level 29 on.", SAME_QUANTISATION),
            runs="NPU, vector unit: quant8 images in NHWC of at most 65535 rows and columns; else host",
            cycles=(CycleNote("quant8", "ceil(E / L) * 17"),),
        ),
        infer=infer,
        npu_refusal=npu_refusal,
        lower=lower,
        tflite="RESIZE_BILINEAR",
        from_tflite=from_tflite,
    )
)
