from typing import Any

import numpy as np
import pytest

from runtime.conformance.comparison import Agreement, compare

EXACT, NEAR, FAILED = Agreement.EXACT, Agreement.WITHIN_TOLERANCE, Agreement.FAILED
NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("output", "expected", "agreement"),
    [
        (1.0, 1.0, EXACT),
        (1.0 + 1e-5, 1.0, NEAR),
        (1.0 + 2e-5, 1.0, FAILED),
        # 1e-5 + 5 · 2^-23 · 1000 = 6.06e-4
        (1000.0005, 1000.0, NEAR),
        (1000.001, 1000.0, FAILED),
        (NAN, NAN, EXACT),
        (NAN, 1.0, FAILED),
        (1.0, NAN, FAILED),
        (INFINITY, INFINITY, EXACT),
        (1.0, INFINITY, FAILED),
        (-INFINITY, INFINITY, FAILED),
    ],
)
def test_floats_may_differ_by_a_part_and_a_little(output: float, expected: float, agreement: Any) -> None:
    arrays = [np.array([value], np.float32) for value in (output, expected)]
    assert compare(arrays[0], arrays[1], "test").agreement is agreement


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint16, np.int32])
@pytest.mark.parametrize(("output", "agreement"), [(100, EXACT), (101, NEAR), (99, NEAR), (102, FAILED)])
def test_integers_may_differ_by_one(dtype: Any, output: int, agreement: Agreement) -> None:
    arrays = [np.array([7, value], dtype) for value in (output, 100)]
    assert compare(arrays[0], arrays[1], "test").agreement is agreement


def test_the_ends_of_a_byte_are_255_apart() -> None:
    assert compare(np.array([255], np.uint8), np.array([0], np.uint8), "test").agreement is FAILED


def test_the_ends_of_int32_are_far_apart() -> None:
    ends = np.iinfo(np.int32)
    assert compare(np.array([ends.min], np.int32), np.array([ends.max], np.int32), "").agreement is FAILED


@pytest.mark.parametrize(("output", "agreement"), [(103, NEAR), (104, FAILED)])
def test_mobilenet_may_differ_by_three(output: int, agreement: Agreement) -> None:
    arrays = [np.array([value], np.uint8) for value in (output, 100)]
    assert compare(arrays[0], arrays[1], "mobilenet_quantized").agreement is agreement


def test_booleans_must_be_equal() -> None:
    assert compare(np.array([True]), np.array([False]), "test").agreement is FAILED


@pytest.mark.parametrize("output", [np.zeros((1, 2), np.uint8), np.zeros(2, np.int8)])
def test_shape_and_dtype_must_be_equal(output: Any) -> None:
    comparison = compare(output, np.zeros(2, np.uint8), "test")
    assert comparison.agreement is FAILED
    assert "expected [2] and uint8" in comparison.difference


def test_a_difference_tells_the_first_element_that_fails() -> None:
    comparison = compare(np.array([[1, 2], [9, 8]], np.uint8), np.array([[2, 2], [4, 4]], np.uint8), "test")
    assert comparison.difference == "2 of 4 elements differ; the first, at [1, 0], is 9, expected 4"


def test_nothing_differs_between_arrays_without_elements() -> None:
    assert compare(np.zeros((0, 2)), np.zeros((0, 2)), "test").agreement is EXACT
