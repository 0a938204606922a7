"""DEPTH_TO_SPACE and SPACE_TO_DEPTH."""

import dataclasses
from collections.abc import Callable, Sequence

from compiler.graph import OperandType
from compiler.nnapi import OperationCode
from compiler.operation import ImportedInput, OperationSpec, OperationView, TfliteOperator, register
from compiler.operation_notes import CycleNote, OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import DATA_LAYOUT, SAME_QUANTISATION
from compiler.ops.layout import Layout, data_layout, layout_refusal
from compiler.ops.lowering import image_shape, operation_number, whole_output
from compiler.ops.operands import (
    REAL,
    check_counts,
    check_output_keeps_quantization,
    failed,
    positive_scalar,
    tensor_input,
    tensor_output,
)
from compiler.stage import (
    Access,
    Box,
    LoweringContext,
    Shape4,
    Stage,
    StageInput,
    StageOutput,
    Tile,
    View,
    same_place,
)
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Copy
from isa.target import Target


@dataclasses.dataclass(frozen=True, slots=True)
class RearrangeAttributes:
    """Data layout and block size; `image` is the input's (batches, height, width, depth)."""

    layout: Layout
    block_size: int
    image: tuple[int, int, int, int]


def parse(view: OperationView) -> RearrangeAttributes:
    """Read the attributes; GraphError if one is not permitted. Level 29 adds a data layout (input 2)."""
    check_counts(view, (2,), level_29=(3,))
    dimensions = tensor_input(view, 0, "input", (4,)).dimensions
    block_size = positive_scalar(view, 1, "block size")
    layout = data_layout(view, 2)
    return RearrangeAttributes(layout, block_size, layout.nhwc(dimensions))


def _output(view: OperationView, layout: Layout, nhwc: tuple[int, ...]) -> tuple[OperandType, ...]:
    input_type = view.input(0).type
    output = tensor_output(view, input_type.code, layout.arrange(nhwc))
    check_output_keeps_quantization(view, input_type)
    return (output,)


def infer_depth_to_space(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, height x B, width x B, depth / B^2]."""
    attributes = parse(view)
    block = attributes.block_size
    batches, height, width, depth = attributes.image
    if depth % block**2:
        raise failed(
            view,
            f"block size (input 1) is {block}; its square {block**2} must divide the input's depth {depth}",
        )
    return _output(view, attributes.layout, (batches, height * block, width * block, depth // block**2))


def infer_space_to_depth(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, height / B, width / B, depth x B^2]."""
    attributes = parse(view)
    block = attributes.block_size
    batches, height, width, depth = attributes.image
    if height % block or width % block:
        raise failed(
            view,
            f"block size (input 1) is {block}, must divide the input's height {height} and width {width}",
        )
    return _output(view, attributes.layout, (batches, height // block, width // block, depth * block**2))


def npu_refusal(view: OperationView, target: Target) -> str | None:
    """The vector unit moves elements of any type, of images in NHWC."""
    return layout_refusal(parse(view).layout)


@dataclasses.dataclass(frozen=True, slots=True)
class _Blocks:
    """Both sides of a rearrangement: each pixel of the deep image is a square block of the flat one.

    A deep pixel holds the rows of its block one after the other, `run` elements each; in the flat image,
    seen as (batch, row of blocks, row in the block, the rest), such runs of neighbouring blocks touch.
    """

    deep: Shape4
    block_size: int
    element_bytes: int

    @property
    def run(self) -> int:
        """Elements of one row of a block."""
        return self.deep[3] // self.block_size

    @property
    def flat(self) -> Shape4:
        """How the flat image is seen."""
        batches, height, width, _ = self.deep
        return (batches, height, self.block_size, width * self.run)

    def flat_box(self, tile: Tile) -> Box:
        """The part of the flat image that belongs to a tile of whole deep pixels."""
        columns = tile.w0 * self.run, tile.w1 * self.run
        return Box(tile.n, tile.n + 1, tile.h0, tile.h1, 0, self.block_size, *columns)

    def deep_fields(self, operand: str, access: Access) -> dict[str, int]:
        """Address and pitches of the deep side: runs by pixel, by row of the block, by row of pixels."""
        run_bytes = self.run * self.element_bytes
        return _operand_fields(operand, access.address, access.pixel_pitch, run_bytes, access.row_pitch)

    def flat_fields(self, operand: str, access: Access) -> dict[str, int]:
        """Address and pitches of the flat side, in the same order."""
        run_bytes = self.run * self.element_bytes
        return _operand_fields(operand, access.address, run_bytes, access.pixel_pitch, access.row_pitch)


def _operand_fields(operand: str, address: int, *pitches: int) -> dict[str, int]:
    fields = {f"{operand}_pitch{dimension}": pitch for dimension, pitch in enumerate(pitches, 1)}
    return {f"{operand}_address": address, **fields}


def _stage(
    view: OperationView,
    blocks: _Blocks,
    source: StageInput,
    target: StageOutput,
    fields: Callable[[Access, Access], dict[str, int]],
) -> Stage:
    """A stage whose tiles are whole pixels of the deep image; `fields` locates both sides of a copy."""

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return Copy(
            unit_mask=unit_mask,
            count0=blocks.run * blocks.element_bytes,
            count1=tile.width,
            count2=blocks.block_size,
            count3=tile.height,
            **fields(inputs[0], output),
        )

    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=blocks.deep,
        channel_step=0,
        inputs=(source,),
        output=target,
        emit=emit,
    )


def lower_depth_to_space(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage of strided copies on the vector unit, tiled by pixels of the input."""
    attributes, tensor = parse(view), view.operation.inputs[0]
    blocks = _Blocks(attributes.image, attributes.block_size, view.input(0).type.dtype.itemsize)
    source = StageInput(
        tensor=tensor, shape=blocks.deep, footprint=same_place, element_bytes=blocks.element_bytes
    )
    target = dataclasses.replace(whole_output(view, blocks.flat), box=blocks.flat_box)

    def fields(source: Access, target: Access) -> dict[str, int]:
        return blocks.deep_fields("input", source) | blocks.flat_fields("output", target)

    return [_stage(view, blocks, source, target, fields)]


def lower_space_to_depth(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage of strided copies on the vector unit, tiled by pixels of the output."""
    attributes, tensor = parse(view), view.operation.inputs[0]
    deep = image_shape(view.output().type.dimensions)
    blocks = _Blocks(deep, attributes.block_size, view.input(0).type.dtype.itemsize)
    source = StageInput(
        tensor=tensor, shape=blocks.flat, footprint=blocks.flat_box, element_bytes=blocks.element_bytes
    )

    def fields(source: Access, target: Access) -> dict[str, int]:
        return blocks.flat_fields("input", source) | blocks.deep_fields("output", target)

    return [_stage(view, blocks, source, whole_output(view, deep), fields)]


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's operator of an image and a block size."""
    return [
        tflite_options.tensor(operator, 0, "input"),
        tflite_options.int32(tflite_options.option(operator, "block_size")),
    ]


_RUNS = "NPU, vector unit: every type on every machine, images in NHWC; else host"
_CYCLES = (CycleNote("any type", "ceil(B / L)"),)

register(
    OperationSpec(
        code=OperationCode.DEPTH_TO_SPACE,
        summary="Depth spread over square blocks of pixels",
        notes=OperationNotes(
            inputs=(
                tensor("input", REAL, (4,), "[batches, height, width, depth]"),
                scalar("block size", "b, at least 1; b^2 divides the depth"),
                DATA_LAYOUT,
            ),
            outputs=(tensor("output", REAL, (4,), "[batches, height x b, width x b, depth / b^2]"),),
            limits=(SAME_QUANTISATION,),
            runs=_RUNS,
            cycles=_CYCLES,
        ),
        infer=infer_depth_to_space,
        npu_refusal=npu_refusal,
        lower=lower_depth_to_space,
        tflite="DEPTH_TO_SPACE",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.SPACE_TO_DEPTH,
        summary="Square blocks of pixels gathered into depth",
        notes=OperationNotes(
            inputs=(
                tensor("input", REAL, (4,), "[batches, height, width, depth]"),
                scalar("block size", "b, at least 1; divides height and width"),
                DATA_LAYOUT,
            ),
            outputs=(tensor("output", REAL, (4,), "[batches, height / b, width / b, depth x b^2]"),),
            limits=(SAME_QUANTISATION,),
            runs=_RUNS,
            cycles=_CYCLES,
        ),
        infer=infer_space_to_depth,
        npu_refusal=npu_refusal,
        lower=lower_space_to_depth,
        tflite="SPACE_TO_DEPTH",
        from_tflite=from_tflite,
    )
)
