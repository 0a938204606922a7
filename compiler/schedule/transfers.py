"""DMA instructions for boxes of tensors and for plain byte ranges."""

from typing import TypeVar

from compiler.memory_plan.sram_map import align
from compiler.memory_plan.storage import DramPlace
from compiler.stage import Access, Box, Shape4
from isa.instructions.dma import Transfer

TransferT = TypeVar("TransferT", bound=Transfer)

_MIN_TRANSFER_BYTES = 4096
_TRANSFER_PARTS = 8
"""A tensor that is loaded or stored whole moves in about this many transfers, so that work can overlap."""


def box_transfer(
    kind: type[TransferT],
    channel_mask: int,
    box: Box,
    shape: Shape4,
    element_bytes: int,
    dram: DramPlace,
    sram: Access,
) -> TransferT:
    """Move a box of the row-major tensor at `dram` from or to the SRAM layout `sram`."""
    n, h, w, c = box.shape
    _, height, width, channels = shape
    pixel = channels * element_bytes
    row, image = width * pixel, height * width * pixel
    offset = box.n0 * image + box.h0 * row + box.w0 * pixel + box.c0 * element_bytes
    run = c * element_bytes
    loops: list[tuple[int, int, int]] = []
    for count, dram_stride, sram_stride in (
        (w, pixel, sram.pixel_pitch),
        (h, row, sram.row_pitch),
        (n, image, sram.batch_pitch),
    ):
        if count == 1:
            continue
        if not loops and dram_stride == run == sram_stride:
            run *= count
        else:
            loops.append((count, dram_stride, sram_stride))
    loops += [(1, 0, 0)] * (3 - len(loops))
    (c1, d1, s1), (c2, d2, s2), (c3, d3, s3) = loops
    return kind(
        unit_mask=channel_mask,
        region=dram.region,
        dram_offset=dram.offset_bytes + offset,
        dram_stride1=d1,
        dram_stride2=d2,
        dram_stride3=d3,
        sram_address=sram.address,
        sram_stride1=s1,
        sram_stride2=s2,
        sram_stride3=s3,
        run_bytes=run,
        count1=c1,
        count2=c2,
        count3=c3,
    )


def range_transfer(
    kind: type[TransferT], channel_mask: int, low: int, high: int, dram: DramPlace, address: int
) -> TransferT:
    """Move the bytes [low, high) of a contiguous buffer that starts at `address` in SRAM."""
    return kind(
        unit_mask=channel_mask,
        region=dram.region,
        dram_offset=dram.offset_bytes + low,
        sram_address=address + low,
        run_bytes=high - low,
    )


def dense_access(address: int, box: Box, element_bytes: int) -> Access:
    """Layout of a box stored without gaps."""
    _, h, w, c = box.shape
    pixel = c * element_bytes
    return Access(address, h * w * pixel, w * pixel, pixel)


def whole_access(address: int, box: Box, shape: Shape4, element_bytes: int) -> Access:
    """Layout of a box inside its whole tensor, which starts at `address`."""
    _, height, width, channels = shape
    pixel = channels * element_bytes
    row, image = width * pixel, height * width * pixel
    first = box.n0 * image + box.h0 * row + box.w0 * pixel + box.c0 * element_bytes
    return Access(address + first, image, row, pixel)


def whole_parts(size_bytes: int) -> list[tuple[int, int]]:
    """Ranges that cut a tensor into about `_TRANSFER_PARTS` transfers."""
    part = max(_MIN_TRANSFER_BYTES, align(-(-size_bytes // _TRANSFER_PARTS)))
    return [(low, min(size_bytes, low + part)) for low in range(0, size_bytes, part)]
