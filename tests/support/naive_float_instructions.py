"""What float instructions do, element by element: slow, and written from the field descriptions alone."""

import math
import struct
from collections.abc import Sequence

import numpy as np

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
from tests.support.naive_instructions import Memory, elements, input_byte, output_address, pixels, taps

Single = np.float32


def number(bits: int) -> Single:
    return Single(struct.unpack("<f", bits.to_bytes(4, "little"))[0])


def read(sram: Memory, address: int) -> Single:
    return number(int.from_bytes(sram[address : address + 4], "little"))


def write(sram: Memory, address: int, value: Single) -> None:
    sram[address : address + 4] = struct.pack("<f", value)


def clamped(i: FloatBinary | FloatUnary | FloatPool, value: Single) -> Single:
    return max(min(value, number(i.clamp_max)), number(i.clamp_min))


def address_of(i: FloatBinary | FloatUnary | Dequantize, operand: str, d: tuple[int, int, int, int]) -> int:
    pitches = (getattr(i, f"{operand}_pitch{dimension}") for dimension in (3, 2, 1, 0))
    return getattr(i, f"{operand}_address") + sum(p * n for p, n in zip(pitches, d, strict=True))


def unary_value(function: UnaryFunction, x: Single) -> Single:
    match function:
        case UnaryFunction.FLOOR:
            return Single(math.floor(x))
        case UnaryFunction.LOGISTIC:
            return Single(1 / (1 + math.exp(-x)))
        case UnaryFunction.TANH:
            return Single(math.tanh(x))
        case UnaryFunction.CLAMP:
            return x


def elementwise(i: FloatBinary | FloatUnary | Dequantize, sram: Memory) -> None:
    written = {}
    for d in elements(i):
        match i:
            case FloatBinary():
                x, y = read(sram, address_of(i, "input", d)), read(sram, address_of(i, "second", d))
                value = clamped(i, x + y if i.function is BinaryFunction.ADD else x * y)
            case FloatUnary():
                value = clamped(i, unary_value(i.function, read(sram, address_of(i, "input", d))))
            case Dequantize():
                value = Single(input_byte(i, sram, d) - i.input_zero) * number(i.scale)
        written[address_of(i, "output", d)] = value
    for address, value in written.items():
        write(sram, address, value)


def pool(i: FloatPool, sram: Memory) -> None:
    written = {}
    for n, y, x in pixels(i):
        for channel in range(i.output_channels):
            window = [(tap, read(sram, pixel + 4 * channel)) for tap, pixel in taps(i, n, y, x)]
            written[output_address(i, n, y, x) + 4 * channel] = clamped(i, pooled(i, window))
    for address, value in written.items():
        write(sram, address, value)


def pooled(i: FloatPool, window: list[tuple[int, Single]]) -> Single:
    if i.mode is FloatPoolMode.MAX:
        return max([np.finfo(Single).min, *(value for _, value in window)])
    columns = [Single(0)] * i.kernel_width
    for tap, value in window:
        columns[tap % i.kernel_width] += value if i.mode is FloatPoolMode.AVERAGE else value * value
    mean = added(columns) / Single(len(window))
    return mean if i.mode is FloatPoolMode.AVERAGE else np.sqrt(mean)


def added(values: Sequence[Single]) -> Single:
    total = Single(0)
    for value in values:
        total += value
    return total


def rows(i: FloatRows, sram: Memory) -> None:
    written = {}
    for row in range(i.rows):
        first = i.input_address + row * i.input_row_pitch
        values = [read(sram, first + 4 * d) for d in range(i.depth)]
        for d, value in enumerate(row_values(i, values)):
            written[i.output_address + row * i.output_row_pitch + 4 * d] = value
    for address, value in written.items():
        write(sram, address, value)


def row_values(i: FloatRows, x: list[Single]) -> list[Single]:
    beta = number(i.beta)
    match i.function:
        case RowFunction.SOFTMAX:
            exponentials = [Single(math.exp(beta * (value - max(x)))) for value in x]
            factor = Single(1) / tree_sum(exponentials)
            return [value * factor for value in exponentials]
        case RowFunction.L2_NORMALIZE:
            total = tree_sum([value * value for value in x])
            factor = Single(1) / np.sqrt(total if total != 0 else Single(1))
            return [value * factor for value in x]
        case RowFunction.LOCAL_RESPONSE:
            windows = [x[max(0, d - i.radius) : d + i.radius + 1] for d in range(len(x))]
            sums = [added([value * value for value in window]) for window in windows]
            bases = [number(i.bias) + number(i.alpha) * total for total in sums]
            return [v * Single(float(b) ** -float(beta)) for v, b in zip(x, bases, strict=True)]


def tree_sum(values: list[Single]) -> Single:
    if len(values) == 1:
        return values[0]
    kept = len(values) - len(values) // 2
    tail = values[kept:]
    return tree_sum([a + b for a, b in zip(values, tail, strict=False)] + values[len(tail) : kept])
