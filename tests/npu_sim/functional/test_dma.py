"""Loads and stores against loops over single bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.dtypes import Region
from isa.instructions.dma import Load, Store
from npu_sim.errors import MachineError
from npu_sim.functional.executor import Executor
from tests.support import naive_instructions
from tests.support.functional_states import random_state


@st.composite
def transfers(draw: st.DrawFn) -> Load | Store:
    run, counts = draw(st.integers(1, 9)), draw(st.lists(st.integers(1, 4), min_size=3, max_size=3))
    fields: dict[str, int] = {}
    for side in ("dram", "sram"):
        pitch = run
        for dimension, count in enumerate(counts, start=1):
            pitch += draw(st.integers(0, 3))
            fields[f"{side}_stride{dimension}"] = pitch
            pitch *= count
    fields |= {f"count{dimension}": count for dimension, count in enumerate(counts, start=1)}
    fields |= {
        "unit_mask": 1,
        "dram_offset": draw(st.integers(0, 50)),
        "sram_address": draw(st.integers(0, 50)),
        "run_bytes": run,
    }
    if draw(st.booleans()):
        return Load(region=Region.SCRATCH, **fields)
    return Store(region=Region.SCRATCH, **fields)


@given(transfers(), st.integers(0, 2**32 - 1))
def test_transfers_equal_loops_over_bytes(transfer: Load | Store, seed: int) -> None:
    state = random_state(seed, region_bytes=4096)
    sram, dram = bytearray(state.sram), bytearray(state.regions[Region.SCRATCH])
    naive_instructions.transfer(transfer, sram, dram)
    Executor(state).execute(transfer, 0)
    assert bytes(state.sram) == bytes(sram)
    assert bytes(state.regions[Region.SCRATCH]) == bytes(dram)


@pytest.mark.parametrize("cls", [Load, Store])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dram_offset": 97, "sram_address": 0}, "region SCRATCH at address 97.*100 bytes"),
        ({"dram_offset": 0, "sram_address": 4093}, "SRAM at address 4093.*4096 bytes"),
        ({"dram_offset": 0, "sram_address": 0, "count1": 2, "sram_stride1": 4093}, "SRAM at address 0"),
        ({"dram_offset": 1 << 39, "sram_address": 0}, "region SCRATCH at address"),
    ],
)
def test_a_transfer_outside_a_memory_changes_nothing(
    cls: type[Load | Store], fields: dict[str, int], message: str
) -> None:
    state = random_state(3, region_bytes=100)
    before = state.sram.copy(), state.regions[Region.SCRATCH].copy()
    with pytest.raises(MachineError, match=f"{cls.__name__}: .*{message}"):
        Executor(state).execute(cls(unit_mask=1, region=Region.SCRATCH, run_bytes=4, **fields), 0)
    assert np.array_equal(state.sram, before[0])
    assert np.array_equal(state.regions[Region.SCRATCH], before[1])
