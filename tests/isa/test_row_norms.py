"""L2 normalisation against plain integers, written from the text of the semantics."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.row_norms import inverse_square_root, l2_normalize
from tests.support import scalar_arithmetic as scalar

sums = st.integers(0, 2**31 - 1) | st.integers(0, 40) | st.integers(0, 31).map(lambda n: 2**n - 1)


@given(st.lists(sums, min_size=1, max_size=20))
def test_inverse_square_root_follows_the_text(values: list[int]) -> None:
    multipliers, shifts = inverse_square_root(np.array(values, np.int64))
    found = list(zip(multipliers.tolist(), shifts.tolist(), strict=True))
    assert found == [scalar.inverse_square_root(value) for value in values]


@given(st.integers(2, 2**31 - 1))
def test_inverse_square_root_is_close(value: int) -> None:
    multiplier, shift = (int(part) for part in inverse_square_root(np.array(value, np.int64)))
    assert math.isclose(multiplier / 2.0 ** (31 + shift), 1 / math.sqrt(value), rel_tol=1e-3)


@given(st.lists(st.integers(0, 255), min_size=1, max_size=40), st.integers(0, 255))
def test_rows_equal_the_scalar_rule(codes: list[int], zero_point: int) -> None:
    row = np.array([codes], np.uint8)
    assert l2_normalize(row, zero_point)[0].tolist() == scalar.l2_codes(codes, zero_point)


def test_the_sides_of_a_3_4_5_triangle() -> None:
    """3/5 and 4/5 are 76.8 and 102.4 steps of 1/128."""
    row = np.array([[131, 132, 128], [125, 124, 128]], np.uint8)
    assert l2_normalize(row, 128).tolist() == [[205, 230, 128], [51, 26, 128]]


def test_a_row_at_the_zero_point_stays_there() -> None:
    assert l2_normalize(np.full((1, 4), 7, np.uint8), 7).tolist() == [[128] * 4]


@pytest.mark.parametrize(("code", "expected"), [(9, 255), (0, 0)])
def test_a_single_element_becomes_one(code: int, expected: int) -> None:
    assert l2_normalize(np.array([[code]], np.uint8), 5).tolist() == [[expected]]


def test_a_sum_beyond_int32_wraps() -> None:
    codes = [255] * 33_100
    assert l2_normalize(np.array([codes], np.uint8), 0)[0].tolist() == scalar.l2_codes(codes, 0)
