"""A tiling: tile sizes and loop order of one stage, and what follows from them."""

import dataclasses
import enum
from collections.abc import Iterator

from compiler.memory_plan.sram_map import align
from compiler.stage import Box, Stage, Tile


class LoopOrder(enum.StrEnum):
    """Which loop stands outside."""

    SPATIAL_OUTER = "spatial_outer"
    """For each part of the image, all channels: rows are finished one after the other."""
    CHANNEL_OUTER = "channel_outer"
    """For each slice of channels, the whole image: each weight is needed once."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """Tile sizes, loop order, and whether constants stay in SRAM from first to last use."""

    height: int
    width: int
    channels: int
    reduction: int
    order: LoopOrder
    hold_constants: bool

    def counts(self, stage: Stage) -> tuple[int, int, int, int, int]:
        """Number of tiles along n, h, w, c and k."""
        n, h, w, c = stage.domain
        return (
            n,
            -(-h // self.height),
            -(-w // self.width),
            -(-c // self.channels),
            -(-stage.reduction // self.reduction),
        )

    def tiles(self, stage: Stage) -> Iterator[Tile]:
        """Tiles in execution order; the parts of one sum (k) follow each other."""
        n, h, w, c = stage.domain
        spatial = [
            (image, h0, min(h, h0 + self.height), w0, min(w, w0 + self.width))
            for image in range(n)
            for h0 in range(0, h, self.height)
            for w0 in range(0, w, self.width)
        ]
        channels = [(c0, min(c, c0 + self.channels)) for c0 in range(0, c, self.channels)]
        depth = range(0, stage.reduction, self.reduction)
        if self.order is LoopOrder.SPATIAL_OUTER:
            pairs = ((s, ch) for s in spatial for ch in channels)
        else:
            pairs = ((s, ch) for ch in channels for s in spatial)
        for (image, h0, h1, w0, w1), (c0, c1) in pairs:
            for k0 in depth:
                yield Tile(image, h0, h1, w0, w1, c0, c1, k0, min(stage.reduction, k0 + self.reduction))


def constant_key(stage: Stage, tile: Tile) -> tuple[int, int, int, int]:
    """Identifies the constants a tile needs: tiles with equal keys share one chunk."""
    by_channel = any(c.channel_axis is not None for c in stage.constants)
    by_reduction = any(c.reduction_axis is not None for c in stage.constants)
    return (
        *((tile.c0, tile.c1) if by_channel else (0, 0)),
        *((tile.k0, tile.k1) if by_reduction else (0, 0)),
    )


def constant_bytes(stage: Stage, tile: Tile) -> int:
    """SRAM bytes of the constants a tile needs, each part aligned."""
    return sum(align(constant.part(tile).nbytes) for constant in stage.constants)


def box_range(box: Box, shape: tuple[int, int, int, int], element_bytes: int) -> tuple[int, int]:
    """Byte range, from the tensor's start, that a box of it spans (its gaps included)."""
    _, height, width, channels = shape
    first = ((box.n0 * height + box.h0) * width + box.w0) * channels + box.c0
    last = (((box.n1 - 1) * height + box.h1 - 1) * width + box.w1 - 1) * channels + box.c1 - 1
    return first * element_bytes, (last + 1) * element_bytes
