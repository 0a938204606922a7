"""Longer hand-made programs: tiles that are loaded, computed and stored through double buffers."""

from isa.dtypes import Region
from isa.instruction import Instruction, UnitKind
from isa.instructions.control import Halt
from isa.instructions.matrix import Convolve
from isa.program import LayerInfo, Program, Symbol
from npu_sim.config import MachineConfig
from tests.support.programs import copy, load, make_program, signal, store, wait

TILE_BYTES = 2048
SLOTS = 2
_LOADED, _CONVOLVED, _COPIED, _STORED = range(4)


def convolve_tile(source: int, destination: int, weights: int, unit: int = 0) -> Convolve:
    """A 1x1 convolution of 8x8 pixels from 32 to 32 channels."""
    return Convolve(
        unit_mask=1 << unit,
        input_address=source,
        input_row_pitch=8 * 32,
        input_pixel_pitch=32,
        input_height=8,
        input_width=8,
        input_channels=32,
        output_address=destination,
        output_row_pitch=8 * 32,
        output_pixel_pitch=32,
        output_height=8,
        output_width=8,
        output_channels=32,
        weight_address=weights,
        weight_tap_pitch=32,
        weight_channel_pitch=32,
        multiplier=1 << 30,
        shift=-12,
    )


def pipeline_program(config: MachineConfig, tiles: int, *, layers: int = 1) -> Program:
    """Each tile: load (dma0), convolve (matrix0), copy (vector0), store (the last channel).

    Buffers have two slots; every buffer is reused only after its reader is done. Tiles are divided evenly
    over the layers.
    """
    last_channel = config.dma.channels - 1
    weights = 3 * SLOTS * TILE_BYTES
    body: list[Instruction] = [load(weights, 1024, dram_offset=0)]
    layer_of = [0]
    for tile in range(tiles):
        slot = tile % SLOTS * TILE_BYTES
        first, second, third = slot, slot + SLOTS * TILE_BYTES, slot + 2 * SLOTS * TILE_BYTES
        offset = tile * TILE_BYTES
        freed = tile - SLOTS + 1
        step: list[Instruction] = []
        if freed > 0:
            step.append(wait(_CONVOLVED, freed, UnitKind.DMA))
        step.append(load(first, TILE_BYTES, region=Region.INPUT, dram_offset=offset))
        step.append(signal(_LOADED, UnitKind.DMA))
        step.append(wait(_LOADED, tile + 1, UnitKind.MATRIX))
        if freed > 0:
            step.append(wait(_COPIED, freed, UnitKind.MATRIX))
        step.append(convolve_tile(first, second, weights))
        step.append(signal(_CONVOLVED, UnitKind.MATRIX))
        step.append(wait(_CONVOLVED, tile + 1, UnitKind.VECTOR))
        if freed > 0:
            step.append(wait(_STORED, freed, UnitKind.VECTOR))
        step.append(copy(second, third, TILE_BYTES))
        step.append(signal(_COPIED, UnitKind.VECTOR))
        step.append(wait(_COPIED, tile + 1, UnitKind.DMA, last_channel))
        step.append(store(third, TILE_BYTES, unit=last_channel, dram_offset=offset))
        if tile < tiles - SLOTS:
            step.append(signal(_STORED, UnitKind.DMA, last_channel))
        body += step
        layer_of += [tile * layers // tiles] * len(step)
    body.append(Halt())
    layer_of.append(layers - 1)
    return _assemble(config, tiles, layers, body, layer_of)


def _assemble(
    config: MachineConfig, tiles: int, layers: int, body: list[Instruction], layer_of: list[int]
) -> Program:
    size = tiles * TILE_BYTES
    macs = tiles * 64 * 32 * 32 // layers
    constants = bytes((37 * i + 11) % 256 for i in range(1024))
    infos = tuple(
        LayerInfo(
            index=i,
            op="CONV_2D",
            name=f"layer{i}",
            macs=macs,
            peak_cycles=1,
            mapped_cycles=1,
            unit="matrix",
            compulsory_bytes=0,
        )
        for i in range(layers)
    )
    symbols = tuple(
        Symbol(
            name=name,
            role=role,
            operand=operand,
            region=region,
            offset_bytes=0,
            shape=(size,),
            dtype="uint8",
            scale=1.0,
            zero_point=0,
        )
        for name, role, operand, region in (
            ("x", "input", 0, Region.INPUT),
            ("y", "output", 1, Region.OUTPUT),
        )
    )
    return make_program(
        body,
        target=config.target,
        constants=constants,
        symbols=symbols,
        layers=infos,
        layer_of=tuple(layer_of),
        region_bytes={
            Region.CODE: sum(i.size_bytes for i in body),
            Region.CONSTANTS: 1024,
            Region.INPUT: size,
            Region.OUTPUT: size,
            Region.SCRATCH: 0,
        },
    )
