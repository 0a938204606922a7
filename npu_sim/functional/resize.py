"""Bilinear interpolation."""

from isa.float_bits import float32_value
from isa.instructions.resize import ResizeBilinear
from isa.interpolation import interpolate, neighbours
from npu_sim.errors import MachineError
from npu_sim.functional.registry import executes
from npu_sim.functional.state import MachineState


@executes(ResizeBilinear)
def resize_bilinear(state: MachineState, i: ResizeBilinear, unit_index: int) -> None:
    """Interpolate between the four pixels around each output pixel."""
    image = state.sram_view(
        i.input_address,
        (i.input_height, i.input_width, i.channels),
        (i.input_row_pitch, i.input_pixel_pitch, 1),
    )
    output = state.sram_view(
        i.output_address,
        (i.output_height, i.output_width, i.channels),
        (i.output_row_pitch, i.output_pixel_pitch, 1),
    )
    last_row, last_column = i.first_input_row + i.input_height, i.first_input_column + i.input_width
    rows = neighbours(i.first_output_row, i.output_height, float32_value(i.row_scale), last_row)
    columns = neighbours(i.first_output_column, i.output_width, float32_value(i.column_scale), last_column)
    try:
        output[...] = interpolate(image, rows, columns, (i.first_input_row, i.first_input_column))
    except IndexError as error:
        raise MachineError(f"the tile lacks a pixel: {error}") from None
