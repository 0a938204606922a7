"""Stages that copy tensors byte by byte."""

from compiler.stage import Access, Shape4, Stage, StageInput, StageOutput, Tile, same_place
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Copy


def move_stage(operation: int, source: int, domain: Shape4, output: StageOutput) -> Stage:
    """Copy operand `source`, seen as `domain`, to where `output` has its tiles; elements of its size."""
    element_bytes = output.element_bytes

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return Copy(
            unit_mask=unit_mask,
            count0=tile.channels * element_bytes,
            count1=tile.width,
            count2=tile.height,
            input_address=inputs[0].address,
            input_pitch1=inputs[0].pixel_pitch,
            input_pitch2=inputs[0].row_pitch,
            output_address=output.address,
            output_pitch1=output.pixel_pitch,
            output_pitch2=output.row_pitch,
        )

    image = StageInput(tensor=source, shape=domain, footprint=same_place, element_bytes=element_bytes)
    return Stage(
        operation=operation,
        kind=UnitKind.VECTOR,
        domain=domain,
        inputs=(image,),
        output=output,
        emit=emit,
    )


def copy_stage(operation: int, source: int, target: int, size_bytes: int) -> Stage:
    """Copy all `size_bytes` bytes of operand `source` to operand `target`."""
    shape = (1, 1, 1, size_bytes)
    return move_stage(operation, source, shape, StageOutput(tensor=target, shape=shape))
