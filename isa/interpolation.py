"""Bilinear interpolation of bytes in single precision, step by step as the instruction set states it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Distances = npt.NDArray[np.float32]

_ONE = np.float32(1)
_HALF = np.float32(0.5)


class Neighbours(NamedTuple):
    """Of each output row (or column): the input row at or before it, and the distance from there, float32."""

    before: Indices
    distance: Distances


def neighbours(first: int, count: int, scale: float, size: int) -> Neighbours:
    """Neighbours of output rows [first, first + count) in an image of `size` rows; `scale` is a float32."""
    place = np.arange(first, first + count).astype(np.float32) * np.float32(scale)
    before = np.minimum(np.floor(place).astype(np.int64), size - 1)
    return Neighbours(before, place - before.astype(np.float32))


def interpolate(
    image: npt.NDArray[np.uint8], rows: Neighbours, columns: Neighbours, origin: tuple[int, int] = (0, 0)
) -> npt.NDArray[np.uint8]:
    """Interpolate uint8 [height, width, channels], whose first pixel is number `origin` of the whole image.

    The result is uint8 [rows, columns, channels]. IndexError if a row or column before the image is needed.
    """
    dy, dx = rows.distance[:, None, None], columns.distance[None, :, None]
    top, bottom = _pair(rows.before - origin[0], image.shape[0])
    left, right = _pair(columns.before - origin[1], image.shape[1])

    def term(row: Indices, column: Indices, vertical: Any, horizontal: Any) -> Distances:
        product: Distances = image[row[:, None], column].astype(np.float32) * vertical * horizontal
        return product

    total = term(top, left, _ONE - dy, _ONE - dx)
    total = total + term(bottom, left, dy, _ONE - dx)
    total = total + term(top, right, _ONE - dy, dx)
    total = total + term(bottom, right, dy, dx)
    return (total + _HALF).astype(np.uint8)


def _pair(first: Indices, size: int) -> tuple[Indices, Indices]:
    """Positions of both neighbours in a tile of `size`; the one behind the last is the last."""
    if first.min() < 0 or first.max() >= size:
        raise IndexError(f"rows or columns {first.min()} to {first.max()} of a tile of {size}")
    return first, np.minimum(first + 1, size - 1)
