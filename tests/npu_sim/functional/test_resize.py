"""Bilinear interpolation, tile by tile, against one pixel at a time."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.float_bits import float32_bits
from isa.instructions.resize import ResizeBilinear
from npu_sim.errors import MachineError
from npu_sim.functional.executor import Executor
from tests.support.functional_states import random_state

F32 = np.float32
OUTPUT_ADDRESS = 2048
sizes = st.integers(1, 8)


def position(output: int, scale: np.float32, size: int) -> tuple[int, int, np.float32]:
    place = F32(output) * scale
    before = min(int(place), size - 1)
    return before, min(before + 1, size - 1), place - F32(before)


def pixel(image: np.ndarray, row: int, column: int, size: tuple[int, int], channel: int) -> int:
    """One output code, in single precision from left to right."""
    height, width, _ = image.shape
    y0, y1, dy = position(row, F32(height) / F32(size[0]), height)
    x0, x1, dx = position(column, F32(width) / F32(size[1]), width)
    one = F32(1)
    total = F32(image[y0, x0, channel]) * (one - dy) * (one - dx)
    total = total + F32(image[y1, x0, channel]) * dy * (one - dx)
    total = total + F32(image[y0, x1, channel]) * (one - dy) * dx
    total = total + F32(image[y1, x1, channel]) * dy * dx
    return int(total + F32(0.5))


@st.composite
def tiles(draw: st.DrawFn, height: int, width: int) -> tuple[int, int, int, int]:
    """Rows [r0, r1) and columns [c0, c1) of an image."""
    r0, c0 = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
    return r0, draw(st.integers(r0 + 1, height)), c0, draw(st.integers(c0 + 1, width))


def instruction(
    image: tuple[int, int, int], size: tuple[int, int], tile: tuple[int, int, int, int]
) -> ResizeBilinear:
    """The tile of the output; the whole image lies at 0, of which the rows and columns it needs are named."""
    height, width, channels = image
    r0, r1, c0, c1 = tile
    row_scale, column_scale = F32(height) / F32(size[0]), F32(width) / F32(size[1])
    top, left = position(r0, row_scale, height)[0], position(c0, column_scale, width)[0]
    bottom, right = position(r1 - 1, row_scale, height)[1], position(c1 - 1, column_scale, width)[1]
    return ResizeBilinear(
        unit_mask=1,
        input_address=(top * width + left) * channels,
        input_row_pitch=width * channels,
        input_pixel_pitch=channels,
        input_height=bottom + 1 - top,
        input_width=right + 1 - left,
        first_input_row=top,
        first_input_column=left,
        row_scale=float32_bits(float(row_scale)),
        column_scale=float32_bits(float(column_scale)),
        output_address=OUTPUT_ADDRESS,
        output_row_pitch=(c1 - c0) * channels + 3,
        output_pixel_pitch=channels,
        output_height=r1 - r0,
        output_width=c1 - c0,
        first_output_row=r0,
        first_output_column=c0,
        channels=channels,
    )


@given(sizes, sizes, st.integers(1, 3), sizes, sizes, st.data(), st.integers(0, 2**32 - 1))
def test_every_tile_equals_the_pixels_of_the_whole_image(
    height: int,
    width: int,
    channels: int,
    new_height: int,
    new_width: int,
    data: st.DataObject,
    seed: int,
) -> None:
    state = random_state(seed)
    image = state.sram[: height * width * channels].reshape(height, width, channels).copy()
    size, tile = (new_height, new_width), data.draw(tiles(new_height, new_width))
    i = instruction(image.shape, size, tile)
    expected = bytearray(state.sram)
    for y in range(i.output_height):
        for x in range(i.output_width):
            for channel in range(channels):
                address = i.output_address + y * i.output_row_pitch + x * i.output_pixel_pitch + channel
                expected[address] = pixel(image, tile[0] + y, tile[2] + x, size, channel)
    Executor(state).execute(i, 0)
    assert bytes(state.sram) == bytes(expected)


def test_a_tile_that_lacks_rows_is_an_error() -> None:
    whole = instruction((4, 4, 1), (8, 8), (0, 8, 0, 8))
    with pytest.raises(MachineError, match="ResizeBilinear: the tile lacks a pixel"):
        Executor(random_state(0)).execute(dataclasses.replace(whole, first_input_row=1, input_height=3), 0)
