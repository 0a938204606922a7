"""The matrix unit: one output tile of a convolution or matrix product."""

from isa.fields import bits
from isa.instruction import UnitKind, instruction
from isa.instructions.window import Weighted


@instruction(opcode=0x20, kind=UnitKind.MATRIX)
class Convolve(Weighted):
    """Convolve one output tile, all taps and input channels given.

    The weight of output channel n, tap t, channel c is at
    weight_address + n*weight_channel_pitch + t*weight_tap_pitch + c elements. `start` initialises the
    accumulators (with the bias, if any); without it the sums go on from the instruction before.
    `finish` requantises and writes the output; without it the sums stay in the accumulators, from
    row `accumulator_row` on, one row per output pixel.
    """

    weight_channel_pitch: int = bits(32, "bytes from one output channel's weights to the next")
    start: int = bits(1, "1: begin new sums", default=1)
    finish: int = bits(1, "1: requantise and write the output", default=1)
    accumulator_row: int = bits(24, "first accumulator row", default=0)

    @property
    def depth(self) -> int:
        """Products summed per output element (the K of the matrix product)."""
        return self.taps * self.input_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates, padded taps included."""
        return self.output_pixels * self.output_channels * self.depth
