"""Loads and stores: strided copies between a DRAM region and SRAM."""

from isa.instructions.dma import Load, Store, Transfer
from npu_sim.functional.registry import executes
from npu_sim.functional.state import ByteArray, MachineState, view


@executes(Load)
def load(state: MachineState, instruction: Load, unit_index: int) -> None:
    """Copy DRAM bytes to SRAM."""
    _sram_side(state, instruction)[...] = _dram_side(state, instruction)


@executes(Store)
def store(state: MachineState, instruction: Store, unit_index: int) -> None:
    """Copy SRAM bytes to DRAM."""
    _dram_side(state, instruction)[...] = _sram_side(state, instruction)


def _dram_side(state: MachineState, t: Transfer) -> ByteArray:
    return view(
        state.regions[t.region],
        f"region {t.region.name}",
        t.dram_offset,
        (t.count3, t.count2, t.count1, t.run_bytes),
        (t.dram_stride3, t.dram_stride2, t.dram_stride1, 1),
    )


def _sram_side(state: MachineState, t: Transfer) -> ByteArray:
    return state.sram_view(
        t.sram_address,
        (t.count3, t.count2, t.count1, t.run_bytes),
        (t.sram_stride3, t.sram_stride2, t.sram_stride1, 1),
    )
