"""The vector unit: depthwise convolution, pooling, elementwise operations, tables, rows, copies."""

import dataclasses
import enum

from isa.fields import bits
from isa.instruction import Instruction, UnitKind, instruction
from isa.instructions.window import Weighted, Windowed


class PoolMode(enum.IntEnum):
    """Reductions of a pooling window."""

    MAX = 0
    AVERAGE = 1


@instruction(opcode=0x30, kind=UnitKind.VECTOR)
class DepthwiseConvolve(Weighted):
    """Convolve each channel with its own filters.

    Output channel c*channel_multiplier + q reads input channel c. The weight of tap t and output
    channel k is at weight_address + t*weight_tap_pitch + k elements; output_channels =
    input_channels*channel_multiplier.
    """

    channel_multiplier: int = bits(16, "output channels per input channel", default=1)

    @property
    def macs(self) -> int:
        """Multiply-accumulates, padded taps included."""
        return self.output_pixels * self.output_channels * self.taps


@instruction(opcode=0x31, kind=UnitKind.VECTOR)
class Pool(Windowed):
    """Reduce each window of each channel; raw values, no requantisation.

    AVERAGE divides the sum by the number of valid taps, rounding half up; taps outside the image do
    not count. MAX starts from the smallest value of the type.
    """

    mode: PoolMode = bits(4, "reduction", enum=PoolMode)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Elementwise(Instruction):
    """A four-dimensional loop over an input and an output; pitches in bytes, all four explicit.

    An input pitch of 0 broadcasts along that dimension. Elements are bytes unless the instruction says
    otherwise.
    """

    unit_mask: int = bits(16, "units, one bit each")
    count0: int = bits(24, "elements of the innermost dimension")
    count1: int = bits(24, "repetitions of dimension 1", default=1)
    count2: int = bits(24, "repetitions of dimension 2", default=1)
    count3: int = bits(24, "repetitions of dimension 3", default=1)
    input_address: int = bits(32, "SRAM address of the input")
    input_pitch0: int = bits(24, "input pitch of dimension 0", default=1)
    input_pitch1: int = bits(32, "input pitch of dimension 1", default=0)
    input_pitch2: int = bits(32, "input pitch of dimension 2", default=0)
    input_pitch3: int = bits(32, "input pitch of dimension 3", default=0)
    output_address: int = bits(32, "SRAM address of the output")
    output_pitch0: int = bits(24, "output pitch of dimension 0", default=1)
    output_pitch1: int = bits(32, "output pitch of dimension 1", default=0)
    output_pitch2: int = bits(32, "output pitch of dimension 2", default=0)
    output_pitch3: int = bits(32, "output pitch of dimension 3", default=0)

    @property
    def elements(self) -> int:
        """Output elements."""
        return self.count0 * self.count1 * self.count2 * self.count3


@instruction(opcode=0x32, kind=UnitKind.VECTOR)
class Copy(Elementwise):
    """Copy bytes from one layout to another."""


@instruction(opcode=0x33, kind=UnitKind.VECTOR)
class Lookup(Elementwise):
    """Replace each byte by its entry in a 256-byte table."""

    table_address: int = bits(32, "SRAM address of the table")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BinaryElementwise(Elementwise):
    """An elementwise loop over two inputs; either may repeat along a dimension (pitch 0)."""

    second_address: int = bits(32, "SRAM address of the second input")
    second_pitch0: int = bits(24, "second input pitch of dimension 0", default=1)
    second_pitch1: int = bits(32, "second input pitch of dimension 1", default=0)
    second_pitch2: int = bits(32, "second input pitch of dimension 2", default=0)
    second_pitch3: int = bits(32, "second input pitch of dimension 3", default=0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QuantizedBinary(BinaryElementwise):
    """Two quantised inputs and a requantised result: clamp(rescaled + output_zero)."""

    input_zero: int = bits(16, "zero point of the input", signed=True)
    second_zero: int = bits(16, "zero point of the second input", signed=True)
    output_zero: int = bits(16, "zero point of the output", signed=True)
    output_multiplier: int = bits(32, "multiplier of the result, Q0.31", signed=True)
    output_shift: int = bits(8, "exponent of the result, <= 0", signed=True)
    clamp_min: int = bits(16, "smallest output value", signed=True, default=0)
    clamp_max: int = bits(16, "largest output value", signed=True, default=255)


@instruction(opcode=0x34, kind=UnitKind.VECTOR)
class Add(QuantizedBinary):
    """Add two quantised inputs.

    a = MBQM-style rescale of (x - zero) << left_shift by each input's multiplier and shift (<= 0);
    output = clamp(rescale(a1 + a2) by the output's multiplier and shift + output_zero).
    """

    left_shift: int = bits(5, "left shift of both inputs before they are rescaled", default=20)
    input_multiplier: int = bits(32, "multiplier of the input, Q0.31", signed=True)
    input_shift: int = bits(8, "exponent of the input, <= 0", signed=True)
    second_multiplier: int = bits(32, "multiplier of the second input, Q0.31", signed=True)
    second_shift: int = bits(8, "exponent of the second input, <= 0", signed=True)


@instruction(opcode=0x36, kind=UnitKind.VECTOR)
class Multiply(QuantizedBinary):
    """Multiply two quantised inputs.

    output = clamp(MBQM((x - input_zero)(y - second_zero), output_multiplier, output_shift) + output_zero).
    """


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RowWise(Instruction):
    """`rows` rows of `depth` contiguous elements, each computed from one input row."""

    unit_mask: int = bits(16, "units, one bit each")
    rows: int = bits(24, "rows")
    depth: int = bits(24, "elements of a row")
    input_address: int = bits(32, "SRAM address of the first row")
    input_row_pitch: int = bits(32, "bytes from one input row to the next")
    output_address: int = bits(32, "SRAM address of the first output row")
    output_row_pitch: int = bits(32, "bytes from one output row to the next")

    @property
    def elements(self) -> int:
        """Output elements."""
        return self.rows * self.depth


@instruction(opcode=0x35, kind=UnitKind.VECTOR)
class Softmax(RowWise):
    """Fixed-point softmax of each row of bytes; the output has scale 1/256, zero 0.

    Differences to the row's maximum below -`difference_limit` yield 0 and stay out of the sum; the others
    are rescaled by (multiplier, shift) to Q5.26 and exponentiated.
    """

    multiplier: int = bits(32, "input multiplier, Q0.31", signed=True)
    shift: int = bits(6, "left shift of a difference before the multiplier")
    difference_limit: int = bits(32, "largest difference below the maximum that still counts")


@instruction(opcode=0x37, kind=UnitKind.VECTOR)
class L2Normalize(RowWise):
    """Divide each row of bytes by its Euclidean norm; the output has scale 1/128, zero 128.

    The norm's inverse is fixed point: five Newton steps in Q3.28 on the int32 sum of (x - input_zero)
    squared. A row of sum 0 counts as sum 1.
    """

    input_zero: int = bits(16, "zero point of the input", signed=True)
