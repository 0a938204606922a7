"""Fields shared by instructions that slide a window over an image in SRAM.

The image at `input_address` has `input_height` x `input_width` valid pixels of `input_channels`
elements. Output pixel (y, x) covers the taps at rows y*stride_height - pad_top + i*dilation_height and
columns x*stride_width - pad_left + j*dilation_width; a tap outside the valid pixels contributes
nothing. Pitches are in bytes, channels are contiguous.
"""

import dataclasses

from isa.dtypes import DataType, Rounding
from isa.fields import bits
from isa.instruction import Instruction


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Window(Instruction):
    """Where an image lies, how a window slides over it, and where the output tile goes."""

    unit_mask: int = bits(16, "units of the kind, one bit each")
    batch: int = bits(16, "images", default=1)
    input_address: int = bits(32, "SRAM address of the first valid pixel")
    input_batch_pitch: int = bits(32, "bytes from one image to the next", default=0)
    input_row_pitch: int = bits(32, "bytes from one image row to the next")
    input_pixel_pitch: int = bits(24, "bytes from one pixel to the next")
    input_height: int = bits(16, "valid rows")
    input_width: int = bits(16, "valid columns")
    input_channels: int = bits(24, "channels read per pixel")
    kernel_height: int = bits(16, "window rows", default=1)
    kernel_width: int = bits(16, "window columns", default=1)
    stride_height: int = bits(16, "rows between windows", default=1)
    stride_width: int = bits(16, "columns between windows", default=1)
    dilation_height: int = bits(16, "rows between taps", default=1)
    dilation_width: int = bits(16, "columns between taps", default=1)
    pad_top: int = bits(16, "rows of the first window above the first valid row", default=0)
    pad_left: int = bits(16, "columns of the first window left of the first valid one", default=0)
    output_address: int = bits(32, "SRAM address of the first output element")
    output_batch_pitch: int = bits(32, "bytes from one output image to the next", default=0)
    output_row_pitch: int = bits(32, "bytes from one output row to the next")
    output_pixel_pitch: int = bits(24, "bytes from one output pixel to the next")
    output_height: int = bits(16, "output rows")
    output_width: int = bits(16, "output columns")
    output_channels: int = bits(24, "output channels")

    @property
    def output_pixels(self) -> int:
        """Output pixels of all images."""
        return self.batch * self.output_height * self.output_width

    @property
    def taps(self) -> int:
        """Taps of the window."""
        return self.kernel_height * self.kernel_width


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Windowed(Window):
    """A window over integer elements."""

    input_type: DataType = bits(4, "element type of the input", enum=DataType, default=DataType.U8)
    input_zero: int = bits(16, "zero point of the input", signed=True, default=0)
    output_type: DataType = bits(4, "element type of the output", enum=DataType, default=DataType.U8)
    clamp_min: int = bits(16, "smallest output value", signed=True, default=0)
    clamp_max: int = bits(16, "largest output value", signed=True, default=255)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Weighted(Windowed):
    """A window with weights, a bias and a requantised result.

    acc = sum (x - input_zero)(w - weight_zero) + bias modulo 2**32; output =
    clamp(MBQM(acc, multiplier, shift) + output_zero). A per-channel table holds, for each output
    channel, an int32 multiplier and an int32 shift.
    """

    weight_address: int = bits(32, "SRAM address of the first weight")
    weight_type: DataType = bits(4, "element type of the weights", enum=DataType, default=DataType.U8)
    weight_zero: int = bits(16, "zero point of the weights", signed=True, default=0)
    weight_tap_pitch: int = bits(32, "bytes from one tap's weights to the next tap's")
    has_bias: int = bits(1, "1: add a bias", default=0)
    bias_address: int = bits(32, "SRAM address of the int32 biases", default=0)
    output_zero: int = bits(16, "zero point of the output", signed=True, default=0)
    multiplier: int = bits(32, "requantisation multiplier, Q0.31", signed=True, default=0)
    shift: int = bits(8, "requantisation exponent, positive to the left", signed=True, default=0)
    rounding: Rounding = bits(2, "rounding rule", enum=Rounding, default=Rounding.DOUBLE)
    per_channel: int = bits(1, "1: multipliers and shifts come from the table", default=0)
    table_address: int = bits(32, "SRAM address of the per-channel table", default=0)
