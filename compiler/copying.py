"""A stage that copies a tensor byte by byte (for views that need bytes of their own)."""

from compiler.stage import Access, Stage, StageInput, StageOutput, Tile, same_place
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Copy


def _emit(
    tile: Tile,
    unit_mask: int,
    inputs: tuple[Access, ...],
    output: Access,
    constants: tuple[int, ...],
) -> Instruction:
    return Copy(
        unit_mask=unit_mask,
        count0=tile.channels,
        count1=tile.width,
        count2=tile.height,
        input_address=inputs[0].address,
        input_pitch1=inputs[0].pixel_pitch,
        input_pitch2=inputs[0].row_pitch,
        output_address=output.address,
        output_pitch1=output.pixel_pitch,
        output_pitch2=output.row_pitch,
    )


def copy_stage(operation: int, source: int, target: int, size_bytes: int) -> Stage:
    """A vector-unit copy of `size_bytes` bytes from operand `source` to operand `target`."""
    shape = (1, 1, 1, size_bytes)
    return Stage(
        operation=operation,
        kind=UnitKind.VECTOR,
        domain=shape,
        inputs=(StageInput(tensor=source, shape=shape, footprint=same_place),),
        output=StageOutput(tensor=target, shape=shape),
        emit=_emit,
    )
