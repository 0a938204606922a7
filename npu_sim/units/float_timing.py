"""Closed-form cycles of the vector unit's float lanes: one single-precision operation per lane and cycle.

An instruction with E output elements on F float lanes costs startup + ceil(E/F) * steps, where a step is one
multiplication, or one addition or what costs no more (compare, floor, conversion, move of an exponent).
Clamps belong to the output register and take no step. FloatRows adds a fixed number of cycles per row. No
count depends on data: both sides of a choice between two formulas are computed.

    FloatBinary     1 addition or 1 multiplication
    FloatUnary      CLAMP, FLOOR 1 addition; LOGISTIC, TANH below
    FloatPool       taps compares; taps additions + 1 quotient; taps (square, addition) + quotient + root
    Dequantize      1 conversion of the difference to the zero point, 1 multiplication
    SOFTMAX         compare, subtract, factor beta, exp, addition to the sum, product with the reciprocal;
                    a row: two tree reductions over the lanes and a reciprocal
    L2_NORMALIZE    square, addition, product; a row: one tree reduction, a compare and a reciprocal root
    LOCAL_RESPONSE  square, one addition per element of the window, alpha and bias, power, product

Functions are counted by their published single-precision algorithms, as (multiplications, additions):

    exp (10, 12), log (14, 16)   Cephes 2.2 expf and logf (Moshier 1992), frexp and ldexp as one addition each
    tanh (22, 26)                Cephes 2.2 tanhf: 1 - 2/(exp(2x) + 1), a polynomial, and the choice
    reciprocal (4, 3)            a first guess of 8 bits, two Newton steps x(2 - dx)
    reciprocal root (7, 3)       a first guess, d/2, two Newton steps x(3/2 - (d/2)x*x)
    root (8, 3)                  reciprocal root, product
    logistic (14, 16)            exp, + 1, reciprocal
    power (25, 28)               log, product, exp
    quotient by a tap count (3, 2)   product with a stored reciprocal, remainder, correction (Markstein 1990)
"""

import functools
from typing import NamedTuple

from isa.instruction import Instruction
from isa.instructions.float_vector import (
    BinaryFunction,
    Dequantize,
    FloatBinary,
    FloatPool,
    FloatPoolMode,
    FloatRows,
    FloatUnary,
    RowFunction,
    UnaryFunction,
)
from npu_sim.actions import Action
from npu_sim.core.work import Activities


class Operations(NamedTuple):
    """Single-precision operations by kind."""

    multiplies: int = 0
    adds: int = 0

    def plus(self, *others: "Operations") -> "Operations":
        """The sum."""
        every = (self, *others)
        return Operations(sum(o.multiplies for o in every), sum(o.adds for o in every))

    @property
    def steps(self) -> int:
        """Lane steps, one after the other."""
        return self.multiplies + self.adds


class FloatSteps(NamedTuple):
    """Operations of each output element; of each row, and how often a row is reduced over the lanes."""

    elements: int
    element: Operations
    rows: int = 0
    row: Operations = Operations()
    reductions: int = 0


_ADD, _MULTIPLY = Operations(adds=1), Operations(multiplies=1)
EXP = Operations(10, 12)
LOG = Operations(14, 16)
RECIPROCAL = Operations(4, 3)
RECIPROCAL_ROOT = Operations(7, 3)
ROOT = RECIPROCAL_ROOT.plus(_MULTIPLY)
QUOTIENT = Operations(3, 2)
POWER = LOG.plus(_MULTIPLY, EXP)
_TANH_POLYNOMIAL = Operations(multiplies=7, adds=5)
_TANH_CHOICE = Operations(adds=3)

_BINARY = {BinaryFunction.ADD: _ADD, BinaryFunction.MULTIPLY: _MULTIPLY}
_UNARY = {
    UnaryFunction.CLAMP: _ADD,
    UnaryFunction.FLOOR: _ADD,
    UnaryFunction.LOGISTIC: EXP.plus(_ADD, RECIPROCAL),
    # 2x, exp, + 1, reciprocal, product with 2, 1 - …
    UnaryFunction.TANH: EXP.plus(RECIPROCAL, Operations(1, 3), _TANH_POLYNOMIAL, _TANH_CHOICE),
}


@functools.singledispatch
def float_steps(instruction: Instruction) -> FloatSteps:
    """Steps of an instruction of the float lanes; TypeError for any other."""
    raise TypeError(f"{type(instruction).__name__} is no instruction of the float lanes")


@float_steps.register
def _binary(instruction: FloatBinary) -> FloatSteps:
    return FloatSteps(instruction.elements, _BINARY[instruction.function])


@float_steps.register
def _unary(instruction: FloatUnary) -> FloatSteps:
    return FloatSteps(instruction.elements, _UNARY[instruction.function])


@float_steps.register
def _dequantize(instruction: Dequantize) -> FloatSteps:
    return FloatSteps(instruction.elements, _ADD.plus(_MULTIPLY))


@float_steps.register
def _pool(instruction: FloatPool) -> FloatSteps:
    taps = instruction.taps
    element = {
        FloatPoolMode.MAX: Operations(adds=taps),
        FloatPoolMode.AVERAGE: Operations(adds=taps).plus(QUOTIENT),
        FloatPoolMode.L2: Operations(taps, taps).plus(QUOTIENT, ROOT),
    }[instruction.mode]
    return FloatSteps(instruction.output_pixels * instruction.output_channels, element)


@float_steps.register
def _rows(instruction: FloatRows) -> FloatSteps:
    elements, rows = instruction.elements, instruction.rows
    match instruction.function:
        case RowFunction.SOFTMAX:
            return FloatSteps(elements, EXP.plus(Operations(2, 3)), rows, RECIPROCAL, 2)
        case RowFunction.L2_NORMALIZE:
            return FloatSteps(elements, Operations(2, 1), rows, RECIPROCAL_ROOT.plus(_ADD), 1)
        case RowFunction.LOCAL_RESPONSE:
            return FloatSteps(elements, POWER.plus(Operations(3, instruction.window + 1)))


def float_cycles(steps: FloatSteps, lanes: int) -> int:
    """Cycles on `lanes` float lanes, startup aside; a lower bound of the same work cut into tiles."""
    row_cycles = steps.row.steps + steps.reductions * (lanes - 1).bit_length()
    return -(-steps.elements // lanes) * steps.element.steps + steps.rows * row_cycles


def float_activities(steps: FloatSteps, lanes: int) -> Activities:
    """The countable actions; a tree reduction combines the results of all lanes but one."""
    row_adds = steps.row.adds + steps.reductions * (lanes - 1)
    return (
        (Action.VECTOR_FLOAT_ADD, steps.elements * steps.element.adds + steps.rows * row_adds),
        (
            Action.VECTOR_FLOAT_MULTIPLY,
            steps.elements * steps.element.multiplies + steps.rows * steps.row.multiplies,
        ),
    )


def peak_float_cycles(steps: FloatSteps, lanes: int) -> float:
    """Element steps divided by one step per lane and cycle."""
    return steps.elements * steps.element.steps / lanes
