import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.interpolation import interpolate, neighbours

sizes = st.integers(1, 9)


def resized(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """The whole image at once."""
    rows = neighbours(0, height, float(np.float32(image.shape[0]) / np.float32(height)), image.shape[0])
    columns = neighbours(0, width, float(np.float32(image.shape[1]) / np.float32(width)), image.shape[1])
    return interpolate(image, rows, columns)


def test_twice_as_many_pixels_lie_at_halves() -> None:
    image = np.array([[10, 20], [30, 41]], np.uint8)[:, :, None]
    expected = [[10, 15, 20, 20], [20, 25, 31, 31], [30, 36, 41, 41], [30, 36, 41, 41]]
    assert resized(image, 4, 4)[:, :, 0].tolist() == expected


def test_half_as_many_pixels_are_every_second() -> None:
    image = np.arange(16, dtype=np.uint8).reshape(4, 4, 1)
    assert resized(image, 2, 2)[:, :, 0].tolist() == [[0, 2], [8, 10]]


@given(sizes, sizes, st.integers(0, 2**32 - 1))
def test_the_same_size_is_the_same_image(height: int, width: int, seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    np.testing.assert_array_equal(resized(image, height, width), image)


@given(sizes, sizes, sizes, sizes, st.integers(0, 255))
def test_a_constant_image_stays_constant(
    height: int, width: int, new_height: int, new_width: int, code: int
) -> None:
    image = np.full((height, width, 1), code, np.uint8)
    assert (resized(image, new_height, new_width) == code).all()


def test_a_tile_without_the_rows_it_needs_is_refused() -> None:
    axis = neighbours(0, 4, 1.0, 4)
    with pytest.raises(IndexError, match="-1 to 2 of a tile of 3"):
        interpolate(np.zeros((3, 4, 1), np.uint8), axis, axis, (1, 0))
