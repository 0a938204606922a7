"""Small programs made by hand."""

from collections.abc import Sequence
from typing import Any

from isa.dtypes import Region
from isa.instruction import Instruction, UnitKind
from isa.instructions.control import Halt, Signal, Wait
from isa.instructions.dma import Load, Store
from isa.instructions.matrix import Convolve
from isa.instructions.vector import Copy
from isa.program import LayerInfo, Program, Symbol
from isa.target import Dataflow, Target

TARGET = Target(
    matrix_units=2,
    array_rows=8,
    array_cols=8,
    dataflow=Dataflow.WEIGHT_STATIONARY,
    accumulator_rows=32,
    vector_units=1,
    dma_channels=2,
    sram_bytes=4096,
    alignment_bytes=16,
)
LAYER = LayerInfo(
    index=0,
    op="CONV_2D",
    name="first",
    macs=1728,
    peak_cycles=27,
    mapped_cycles=32,
    unit="matrix",
    compulsory_bytes=124,
)
REGION_BYTES = {Region.CONSTANTS: 256, Region.INPUT: 256, Region.OUTPUT: 256, Region.SCRATCH: 256}


def make_program(instructions: Sequence[Instruction], **changes: Any) -> Program:
    """A program of one layer; `changes` replace fields of the Program, region sizes are completed."""
    sizes = {Region.CODE: sum(i.size_bytes for i in instructions), **REGION_BYTES}
    fields: dict[str, Any] = {
        "target": TARGET,
        "instructions": tuple(instructions),
        "constants": bytes(256),
        "symbols": (),
        "layers": (LAYER,),
        "layer_of": (0,) * len(instructions),
        "region_bytes": sizes,
        "notes": {"numerics": "nnapi"},
    }
    return Program(**fields | changes)


def load(address: int = 0, run_bytes: int = 16, *, unit: int = 0, **fields: Any) -> Load:
    """Load from the start of CONSTANTS unless told otherwise."""
    values = {"region": Region.CONSTANTS, "dram_offset": 0, "sram_address": address, "run_bytes": run_bytes}
    return Load(unit_mask=1 << unit, **values | fields)


def store(address: int = 0, run_bytes: int = 16, *, unit: int = 0, **fields: Any) -> Store:
    """Store to the start of OUTPUT unless told otherwise."""
    values = {"region": Region.OUTPUT, "dram_offset": 0, "sram_address": address, "run_bytes": run_bytes}
    return Store(unit_mask=1 << unit, **values | fields)


def copy(source: int, destination: int, count0: int = 16, **fields: Any) -> Copy:
    """Copy on vector unit 0."""
    return Copy(unit_mask=1, input_address=source, output_address=destination, count0=count0, **fields)


def signal(semaphore: int, kind: UnitKind, unit: int = 0) -> Signal:
    """Signal from a unit's queue."""
    return Signal(unit_kind=kind, unit_mask=1 << unit, semaphore=semaphore)


def wait(semaphore: int, count: int, kind: UnitKind, unit: int = 0) -> Wait:
    """Wait in a unit's queue."""
    return Wait(unit_kind=kind, unit_mask=1 << unit, semaphore=semaphore, count=count)


def convolve(**fields: Any) -> Convolve:
    """3x3 over the 4x4x3 image at 0, weights at 256, bias at 512, to 2x2x4 at 1024, on matrix unit 0."""
    values: dict[str, Any] = {
        "unit_mask": 1,
        "input_address": 0,
        "input_row_pitch": 12,
        "input_pixel_pitch": 3,
        "input_height": 4,
        "input_width": 4,
        "input_channels": 3,
        "kernel_height": 3,
        "kernel_width": 3,
        "output_address": 1024,
        "output_row_pitch": 8,
        "output_pixel_pitch": 4,
        "output_height": 2,
        "output_width": 2,
        "output_channels": 4,
        "weight_address": 256,
        "weight_tap_pitch": 3,
        "weight_channel_pitch": 27,
        "has_bias": 1,
        "bias_address": 512,
        "multiplier": 1 << 30,
    }
    return Convolve(**values | fields)


def convolution_instructions(**fields: Any) -> list[Instruction]:
    """Load image, weights and bias; convolve; store. Each step waits for the one before.

    Positions: 0-2 loads, 3 signal, 4 wait, 5 Convolve, 6 signal, 7 wait, 8 store, 9 Halt.
    """
    return [
        load(0, 48, region=Region.INPUT),
        load(256, 108),
        load(512, 16, dram_offset=108),
        signal(0, UnitKind.DMA),
        wait(0, 1, UnitKind.MATRIX),
        convolve(**fields),
        signal(1, UnitKind.MATRIX),
        wait(1, 1, UnitKind.DMA),
        store(1024, 16),
        Halt(),
    ]


OUTPUT_SYMBOL = Symbol(
    name="result",
    role="output",
    operand=3,
    region=Region.OUTPUT,
    offset_bytes=0,
    shape=(1, 2, 2, 4),
    dtype="uint8",
    scale=0.5,
    zero_point=3,
)


def convolution_program() -> Program:
    """The program of `convolution_instructions` with its output symbol."""
    return make_program(convolution_instructions(), symbols=(OUTPUT_SYMBOL,))
