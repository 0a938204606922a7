"""Small machine states for tests of single instructions."""

import numpy as np

from isa.dtypes import Region
from isa.program import Program, Symbol
from isa.target import Dataflow, Target
from npu_sim.functional.state import MachineState


def small_target(
    *,
    sram_bytes: int = 4096,
    dataflow: Dataflow = Dataflow.WEIGHT_STATIONARY,
    array_rows: int = 8,
) -> Target:
    return Target(
        matrix_units=2,
        array_rows=array_rows,
        array_cols=8,
        dataflow=dataflow,
        accumulator_rows=128,
        vector_units=1,
        dma_channels=1,
        sram_bytes=sram_bytes,
        alignment_bytes=16,
    )


def small_program(
    target: Target,
    *,
    symbols: tuple[Symbol, ...] = (),
    constants: bytes = b"",
    region_bytes: dict[Region, int] | None = None,
) -> Program:
    return Program(
        target=target,
        instructions=(),
        constants=constants,
        symbols=symbols,
        layers=(),
        layer_of=(),
        region_bytes=region_bytes or {},
        notes={},
    )


def random_state(seed: int, *, sram_bytes: int = 4096, region_bytes: int = 0) -> MachineState:
    """A state whose SRAM and SCRATCH region hold random bytes."""
    regions = {Region.SCRATCH: region_bytes}
    state = MachineState(small_program(small_target(sram_bytes=sram_bytes), region_bytes=regions))
    rng = np.random.default_rng(seed)
    for memory in (state.sram, state.regions[Region.SCRATCH]):
        memory[:] = rng.integers(0, 256, memory.size, np.uint8)
    return state
