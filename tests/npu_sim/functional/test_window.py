"""Parts that windowed instructions share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.instructions.matrix import Convolve
from npu_sim.functional.window import centre_weights, row_groups


def convolve(*, batch: int = 1, output_height: int = 1) -> Convolve:
    return Convolve(
        unit_mask=1,
        batch=batch,
        input_address=0,
        input_row_pitch=1,
        input_pixel_pitch=1,
        input_height=1,
        input_width=1,
        input_channels=1,
        weight_address=1,
        weight_tap_pitch=1,
        weight_channel_pitch=1,
        output_address=2,
        output_row_pitch=1,
        output_pixel_pitch=1,
        output_height=output_height,
        output_width=1,
        output_channels=1,
    )


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 20), st.integers(1, 400))
def test_row_groups_cover_every_row_once_in_order(
    batch: int, height: int, elements_per_row: int, limit: int
) -> None:
    groups = list(row_groups(convolve(batch=batch, output_height=height), elements_per_row, limit))
    rows = [
        (image, row) for g in groups for image in range(g.image0, g.image1) for row in range(g.row0, g.row1)
    ]
    assert rows == [(image, row) for image in range(batch) for row in range(height)]


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 20), st.integers(1, 400))
def test_row_groups_keep_the_limit_or_hold_one_row(
    batch: int, height: int, elements_per_row: int, limit: int
) -> None:
    for g in row_groups(convolve(batch=batch, output_height=height), elements_per_row, limit):
        rows = (g.image1 - g.image0) * (g.row1 - g.row0)
        assert rows == 1 or rows * elements_per_row <= limit


@pytest.mark.parametrize(
    ("depth", "weight", "dtype"),
    [(257, 255, np.float32), (259, 255, np.float64), (3000, 10, np.float32), (65_793, 1, np.float32)],
)
def test_weights_take_the_narrowest_exact_float(depth: int, weight: int, dtype: type) -> None:
    weights = np.full((2, depth), weight, np.uint8)
    assert centre_weights(weights, convolve(), axis=1).values.dtype == dtype


def test_sums_that_may_leave_int32_are_marked() -> None:
    weights = np.full((1, 33_026), 255, np.uint8)
    assert not centre_weights(weights, convolve(), axis=1).sums_fit_int32
    assert centre_weights(weights[:, :33_000], convolve(), axis=1).sums_fit_int32
