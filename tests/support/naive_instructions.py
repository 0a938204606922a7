"""What instructions do, byte by byte in plain Python: slow, and written from the field descriptions alone."""

import itertools
from collections.abc import Iterator

from isa.instructions.dma import Load, Store, Transfer
from isa.instructions.matrix import Convolve
from isa.instructions.vector import (
    Add,
    Copy,
    DepthwiseConvolve,
    Elementwise,
    Lookup,
    Multiply,
    Pool,
    PoolMode,
    QuantizedBinary,
)
from isa.instructions.window import Weighted, Windowed
from tests.support.scalar_arithmetic import mbqm, wrap

Memory = bytearray
Sums = dict[tuple[int, int], int]
"""(accumulator row, output channel) -> int32."""


def pixels(i: Windowed) -> Iterator[tuple[int, int, int]]:
    return itertools.product(range(i.batch), range(i.output_height), range(i.output_width))


def taps(i: Windowed, n: int, y: int, x: int) -> Iterator[tuple[int, int]]:
    """Number and input pixel address of every tap inside the image."""
    for tap in range(i.taps):
        row = y * i.stride_height - i.pad_top + tap // i.kernel_width * i.dilation_height
        column = x * i.stride_width - i.pad_left + tap % i.kernel_width * i.dilation_width
        if 0 <= row < i.input_height and 0 <= column < i.input_width:
            yield (
                tap,
                i.input_address
                + n * i.input_batch_pitch
                + row * i.input_row_pitch
                + column * i.input_pixel_pitch,
            )


def output_address(i: Windowed, n: int, y: int, x: int) -> int:
    return i.output_address + n * i.output_batch_pitch + y * i.output_row_pitch + x * i.output_pixel_pitch


def bias(i: Weighted, sram: Memory, channel: int) -> int:
    if not i.has_bias:
        return 0
    address = i.bias_address + 4 * channel
    return int.from_bytes(sram[address : address + 4], "little", signed=True)


def requantized(i: Weighted, total: int) -> int:
    return min(max(mbqm(wrap(total), i.multiplier, i.shift) + i.output_zero, i.clamp_min), i.clamp_max)


def convolve(i: Convolve, sram: Memory, sums: Sums) -> None:
    written = {}
    for index, (n, y, x) in enumerate(pixels(i)):
        for k in range(i.output_channels):
            row = (i.accumulator_row + index, k)
            total = bias(i, sram, k) if i.start else sums[row]
            for tap, pixel in taps(i, n, y, x):
                weight = i.weight_address + k * i.weight_channel_pitch + tap * i.weight_tap_pitch
                for c in range(i.input_channels):
                    total += (sram[pixel + c] - i.input_zero) * (sram[weight + c] - i.weight_zero)
            if i.finish:
                written[output_address(i, n, y, x) + k] = requantized(i, total)
            else:
                sums[row] = wrap(total)
    for address, code in written.items():
        sram[address] = code


def depthwise_convolve(i: DepthwiseConvolve, sram: Memory) -> None:
    written = {}
    for n, y, x in pixels(i):
        for k in range(i.output_channels):
            total = bias(i, sram, k)
            for tap, pixel in taps(i, n, y, x):
                weight = sram[i.weight_address + tap * i.weight_tap_pitch + k]
                total += (sram[pixel + k // i.channel_multiplier] - i.input_zero) * (weight - i.weight_zero)
            written[output_address(i, n, y, x) + k] = requantized(i, total)
    for address, code in written.items():
        sram[address] = code


def pool(i: Pool, sram: Memory) -> None:
    written = {}
    for n, y, x in pixels(i):
        for k in range(i.output_channels):
            values = [sram[pixel + k] for _, pixel in taps(i, n, y, x)]
            if i.mode is PoolMode.MAX:
                value = max([0, *values])
            else:
                value = (sum(values) + len(values) // 2) // len(values)
            written[output_address(i, n, y, x) + k] = min(max(value, i.clamp_min), i.clamp_max)
    for address, code in written.items():
        sram[address] = code


def elements(i: Elementwise) -> Iterator[tuple[int, int, int, int]]:
    return itertools.product(range(i.count3), range(i.count2), range(i.count1), range(i.count0))


def input_byte(i: Elementwise, sram: Memory, d: tuple[int, int, int, int]) -> int:
    return sram[
        i.input_address
        + d[0] * i.input_pitch3
        + d[1] * i.input_pitch2
        + d[2] * i.input_pitch1
        + d[3] * i.input_pitch0
    ]


def elementwise(i: Copy | Lookup | QuantizedBinary, sram: Memory) -> None:
    written = {}
    for d in elements(i):
        address = (
            i.output_address
            + d[0] * i.output_pitch3
            + d[1] * i.output_pitch2
            + d[2] * i.output_pitch1
            + d[3] * i.output_pitch0
        )
        code = input_byte(i, sram, d)
        match i:
            case Lookup():
                code = sram[i.table_address + code]
            case Add():
                code = sum_code(i, code, second_byte(i, sram, d))
            case Multiply():
                code = product_code(i, code, second_byte(i, sram, d))
            case Copy():
                pass
        written[address] = code
    for address, code in written.items():
        sram[address] = code


def second_byte(i: QuantizedBinary, sram: Memory, d: tuple[int, int, int, int]) -> int:
    return sram[
        i.second_address
        + d[0] * i.second_pitch3
        + d[1] * i.second_pitch2
        + d[2] * i.second_pitch1
        + d[3] * i.second_pitch0
    ]


def sum_code(i: Add, first: int, second: int) -> int:
    a1 = mbqm(wrap((first - i.input_zero) << i.left_shift), i.input_multiplier, i.input_shift)
    a2 = mbqm(wrap((second - i.second_zero) << i.left_shift), i.second_multiplier, i.second_shift)
    raw = mbqm(wrap(a1 + a2), i.output_multiplier, i.output_shift)
    return min(max(raw + i.output_zero, i.clamp_min), i.clamp_max)


def product_code(i: Multiply, first: int, second: int) -> int:
    product = (first - i.input_zero) * (second - i.second_zero)
    raw = mbqm(product, i.output_multiplier, i.output_shift)
    return min(max(raw + i.output_zero, i.clamp_min), i.clamp_max)


def transfer(i: Load | Store, sram: Memory, dram: Memory) -> None:
    for d3, d2, d1, byte in _transfer_bytes(i):
        on_chip = i.sram_address + d3 * i.sram_stride3 + d2 * i.sram_stride2 + d1 * i.sram_stride1 + byte
        off_chip = i.dram_offset + d3 * i.dram_stride3 + d2 * i.dram_stride2 + d1 * i.dram_stride1 + byte
        if isinstance(i, Load):
            sram[on_chip] = dram[off_chip]
        else:
            dram[off_chip] = sram[on_chip]


def _transfer_bytes(i: Transfer) -> Iterator[tuple[int, int, int, int]]:
    return itertools.product(range(i.count3), range(i.count2), range(i.count1), range(i.run_bytes))
