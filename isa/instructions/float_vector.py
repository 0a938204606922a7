"""Single precision on the vector unit, for targets whose data types include FP32.

Elements are little-endian IEEE 754 binary32 at addresses and pitches that are multiples of 4. Additions,
multiplications, divisions and square roots round to nearest even; exp, log, tanh and the logistic function
are the real function's value rounded once. Infinities and NaN follow IEEE 754; a clamp passes NaN on.
Parameters and clamps are fields that hold the bits of a binary32 number.
"""

import enum

from isa.fields import bits
from isa.float_bits import INFINITY_BITS, MINUS_INFINITY_BITS, ONE_BITS
from isa.instruction import UnitKind, instruction
from isa.instructions.vector import BinaryElementwise, Elementwise, RowWise
from isa.instructions.window import Window


class BinaryFunction(enum.IntEnum):
    """Functions of two elements."""

    ADD = 0
    MULTIPLY = 1


class UnaryFunction(enum.IntEnum):
    """Functions of one element. CLAMP is the element itself."""

    CLAMP = 0
    FLOOR = 1
    LOGISTIC = 2
    TANH = 3


class FloatPoolMode(enum.IntEnum):
    """Reductions of a pooling window over the taps inside the image; L2 is the root of the mean square."""

    MAX = 0
    AVERAGE = 1
    L2 = 2


class RowFunction(enum.IntEnum):
    """Functions of a row x along its elements d.

    SOFTMAX: e[d] = exp(beta*(x[d] - max x)); output = e[d] * (1 / sum e).
    L2_NORMALIZE: output = x[d] * (1 / sqrt(sum x*x)); a sum of 0 counts as 1.
    LOCAL_RESPONSE: output = x[d] * (bias + alpha*s[d])^(-beta), s[d] the sum of squares of the elements
    d - radius to d + radius that exist.

    SOFTMAX and L2_NORMALIZE sum a row as a tree: of n terms, the last floor(n/2) are added to the first
    ones, until one is left. LOCAL_RESPONSE adds from the lowest element up.
    """

    SOFTMAX = 0
    L2_NORMALIZE = 1
    LOCAL_RESPONSE = 2


@instruction(opcode=0x40, kind=UnitKind.VECTOR)
class FloatBinary(BinaryElementwise):
    """output = clamp(function(input, second))."""

    input_pitch0: int = bits(24, "input pitch of dimension 0", default=4)
    output_pitch0: int = bits(24, "output pitch of dimension 0", default=4)
    second_pitch0: int = bits(24, "second input pitch of dimension 0", default=4)
    function: BinaryFunction = bits(4, "function", enum=BinaryFunction)
    clamp_min: int = bits(32, "smallest output, bits of an fp32", default=MINUS_INFINITY_BITS)
    clamp_max: int = bits(32, "largest output, bits of an fp32", default=INFINITY_BITS)


@instruction(opcode=0x41, kind=UnitKind.VECTOR)
class FloatUnary(Elementwise):
    """output = clamp(function(input))."""

    input_pitch0: int = bits(24, "input pitch of dimension 0", default=4)
    output_pitch0: int = bits(24, "output pitch of dimension 0", default=4)
    function: UnaryFunction = bits(4, "function", enum=UnaryFunction)
    clamp_min: int = bits(32, "smallest output, bits of an fp32", default=MINUS_INFINITY_BITS)
    clamp_max: int = bits(32, "largest output, bits of an fp32", default=INFINITY_BITS)


@instruction(opcode=0x42, kind=UnitKind.VECTOR)
class FloatPool(Window):
    """Reduce each window of each channel, then clamp.

    Sums add the taps of each column of the window from the top down, then the columns from the left; taps
    outside the image count as 0, and are left out of the count by which AVERAGE and L2 divide. MAX starts
    from the smallest finite number.
    """

    mode: FloatPoolMode = bits(4, "reduction", enum=FloatPoolMode)
    clamp_min: int = bits(32, "smallest output, bits of an fp32", default=MINUS_INFINITY_BITS)
    clamp_max: int = bits(32, "largest output, bits of an fp32", default=INFINITY_BITS)


@instruction(opcode=0x43, kind=UnitKind.VECTOR)
class FloatRows(RowWise):
    """Compute each row from the input's row: a softmax or a normalisation."""

    function: RowFunction = bits(4, "function", enum=RowFunction)
    beta: int = bits(32, "factor of SOFTMAX, exponent of LOCAL_RESPONSE; bits of an fp32", default=ONE_BITS)
    radius: int = bits(24, "LOCAL_RESPONSE: elements to each side", default=0)
    bias: int = bits(32, "LOCAL_RESPONSE: bias, bits of an fp32", default=0)
    alpha: int = bits(32, "LOCAL_RESPONSE: factor of the squares, bits of an fp32", default=0)

    @property
    def window(self) -> int:
        """Most elements that a sum of LOCAL_RESPONSE has."""
        return min(2 * self.radius + 1, self.depth)


@instruction(opcode=0x44, kind=UnitKind.VECTOR)
class Dequantize(Elementwise):
    """output = (input - input_zero) * scale; input elements are bytes."""

    output_pitch0: int = bits(24, "output pitch of dimension 0", default=4)
    input_zero: int = bits(16, "zero point of the input", signed=True)
    scale: int = bits(32, "scale of the input, bits of an fp32")
