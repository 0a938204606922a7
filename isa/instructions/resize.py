"""The vector unit: bilinear interpolation."""

from isa.fields import bits
from isa.instruction import Instruction, UnitKind, instruction


@instruction(opcode=0x3B, kind=UnitKind.VECTOR)
class ResizeBilinear(Instruction):
    """Interpolate bytes between four pixels; every step is rounded to single precision.

    Output row r lies at y = (first_output_row + r) * row_scale in the whole image, between the rows floor(y)
    and floor(y) + 1; SRAM holds the rows from `first_input_row` on, and a row behind the last of them is
    the last. Columns likewise. With dy = y - floor(y), dx alike and p[row, column] the four raw bytes (no
    zero point), output = trunc(p00(1-dy)(1-dx) + p10 dy(1-dx) + p01(1-dy)dx + p11 dy dx + 1/2), products
    and sums from left to right.
    """

    unit_mask: int = bits(16, "units, one bit each")
    input_address: int = bits(32, "SRAM address of the first input pixel")
    input_row_pitch: int = bits(32, "bytes from one input row to the next")
    input_pixel_pitch: int = bits(24, "bytes from one input pixel to the next")
    input_height: int = bits(16, "input rows in SRAM")
    input_width: int = bits(16, "input columns in SRAM")
    first_input_row: int = bits(16, "number of the first input row in the whole image")
    first_input_column: int = bits(16, "number of the first input column in the whole image")
    row_scale: int = bits(32, "input rows per output row, bits of an fp32")
    column_scale: int = bits(32, "input columns per output column, bits of an fp32")
    output_address: int = bits(32, "SRAM address of the first output pixel")
    output_row_pitch: int = bits(32, "bytes from one output row to the next")
    output_pixel_pitch: int = bits(24, "bytes from one output pixel to the next")
    output_height: int = bits(16, "output rows")
    output_width: int = bits(16, "output columns")
    first_output_row: int = bits(16, "number of the first output row in the whole image")
    first_output_column: int = bits(16, "number of the first output column in the whole image")
    channels: int = bits(24, "channels of a pixel")

    @property
    def elements(self) -> int:
        """Output elements."""
        return self.output_height * self.output_width * self.channels
