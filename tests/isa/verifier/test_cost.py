"""What the verifier costs on programs of the size that networks compile to."""

import dataclasses
import time

import pytest

from isa.accesses import accesses
from isa.dtypes import Region
from isa.instruction import Instruction, UnitKind
from isa.instructions.control import Halt
from isa.program import Program
from isa.verifier import verify
from tests.support.programs import TARGET, convolve, load, make_program, signal, wait

TARGET_2MIB = dataclasses.replace(TARGET, array_cols=32, accumulator_rows=4096, sram_bytes=1 << 21)
DMA, MATRIX = UnitKind.DMA, UnitKind.MATRIX
IMAGE_BYTES = 28 * 28 * 64


def layered_program(layers: int) -> Program:
    """Layers of 28x28x64 on two matrix units, one half of the channels each, weights loaded behind."""
    made: list[Instruction] = [load(0, IMAGE_BYTES)]
    for layer in range(layers):
        source, destination = (layer % 2) << 19, (1 - layer % 2) << 19
        weights = (2 << 19) + (layer % 2 << 16)
        made += [wait(1 + unit, layer, DMA) for unit in range(2) if layer]
        made += [load(weights, 64 * 64), signal(0, DMA)]
        for unit in range(2):
            others = [wait(2 - unit, layer, MATRIX, unit)] if layer else []
            made += [wait(0, layer + 1, MATRIX, unit), *others]
            made += [_half_tile(source, destination, weights, unit, row) for row in range(0, 28, 14)]
            made += [signal(1 + unit, MATRIX, unit)]
    made += [wait(1 + unit, layers, DMA) for unit in range(2)]
    sizes = {Region.CODE: sum(i.size_bytes for i in [*made, Halt()]), Region.CONSTANTS: IMAGE_BYTES}
    return make_program([*made, Halt()], target=TARGET_2MIB, constants=bytes(IMAGE_BYTES), region_bytes=sizes)


def _half_tile(source: int, destination: int, weights: int, unit: int, row: int) -> Instruction:
    return convolve(
        unit_mask=1 << unit,
        input_address=source + row * 28 * 64,
        input_row_pitch=28 * 64,
        input_pixel_pitch=64,
        input_height=14,
        input_width=28,
        input_channels=64,
        kernel_height=1,
        kernel_width=1,
        output_address=destination + row * 28 * 64 + unit * 32,
        output_row_pitch=28 * 64,
        output_pixel_pitch=64,
        output_height=14,
        output_width=28,
        output_channels=32,
        weight_address=weights + unit * 32 * 64,
        weight_tap_pitch=64,
        weight_channel_pitch=64,
        has_bias=0,
    )


def verification_seconds(program: Program) -> float:
    """CPU time of the fastest of three runs."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        verify(program)
        times.append(time.process_time() - begin)
    return min(times)


def test_a_mobilenet_sized_program_takes_a_fraction_of_a_second() -> None:
    """1,900 instructions and 20 MB of accesses; measured 0.05 s, the limit leaves room for slow machines."""
    program = layered_program(130)
    assert len(program.instructions) > 1500
    assert sum(a.total_bytes for i in program.instructions for a in accesses(i)) > 20_000_000
    assert verification_seconds(program) < 0.3


@pytest.mark.slow
def test_cost_is_linear_in_the_number_of_accesses() -> None:
    small, large = layered_program(100), layered_program(800)
    assert verification_seconds(large) < 8 * 1.5 * verification_seconds(small)
