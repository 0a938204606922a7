"""DMA descriptors of boxes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compiler.memory_plan.storage import DramPlace
from compiler.schedule.transfers import box_transfer, dense_access
from compiler.stage import Box
from isa.dtypes import Region
from isa.instructions.dma import Load


def _gather(load: Load, memory: np.ndarray) -> np.ndarray:
    """SRAM after the load, by the descriptor's definition, one byte at a time."""
    sram = np.zeros(memory.size, memory.dtype)
    for i3 in range(load.count3):
        for i2 in range(load.count2):
            for i1 in range(load.count1):
                source = load.dram_offset + i1 * load.dram_stride1 + i2 * load.dram_stride2
                source += i3 * load.dram_stride3
                target = load.sram_address + i1 * load.sram_stride1 + i2 * load.sram_stride2
                target += i3 * load.sram_stride3
                sram[target : target + load.run_bytes] = memory[source : source + load.run_bytes]
    return sram


@st.composite
def _boxes(draw):
    shape = tuple(draw(st.integers(1, 5)) for _ in range(4))
    box = []
    for extent in shape:
        low = draw(st.integers(0, extent - 1))
        box += [low, draw(st.integers(low + 1, extent))]
    return shape, Box(*box)


@given(_boxes())
def test_a_box_arrives_dense_and_in_order(case):
    shape, box = case
    tensor = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    load = box_transfer(Load, 1, box, shape, 1, DramPlace(Region.INPUT, 0), dense_access(0, box, 1))
    part = tensor[box.n0 : box.n1, box.h0 : box.h1, box.w0 : box.w1, box.c0 : box.c1]
    np.testing.assert_array_equal(_gather(load, tensor.reshape(-1))[: part.size], part.reshape(-1))


def test_whole_rows_are_one_run():
    box = Box(0, 1, 2, 5, 0, 4, 0, 8)
    load = box_transfer(Load, 1, box, (1, 9, 4, 8), 1, DramPlace(Region.INPUT, 64), dense_access(16, box, 1))
    assert (load.run_bytes, load.count1, load.dram_offset) == (3 * 4 * 8, 1, 64 + 2 * 4 * 8)
