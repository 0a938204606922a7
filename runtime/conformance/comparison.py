"""AOSP's rules for comparing an output with what a case expects.

Float32: |output − expected| ≤ 1e-5 + 5·2⁻²³·|expected|. Integers and quantised types: at most 1 apart,
3 in tests whose name has "mobilenet". Booleans: equal.
"""

import enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.device import Array

ABSOLUTE_FLOAT_TOLERANCE = 1e-5
RELATIVE_FLOAT_TOLERANCE = 5 * 2.0**-23
INTEGER_TOLERANCE = 1
MOBILENET_TOLERANCE = 3


class Agreement(enum.IntEnum):
    """How well an output agrees with what is expected; larger is worse."""

    EXACT = 0
    WITHIN_TOLERANCE = 1
    FAILED = 2


class Comparison(NamedTuple):
    """An agreement, and the difference in words; empty if there is none."""

    agreement: Agreement
    difference: str = ""


def compare(output: Array, expected: Array, test: str) -> Comparison:
    """Compare arrays of any one type; another shape or dtype is a failure. `test` is the example's name."""
    if (output.shape, output.dtype) != (expected.shape, expected.dtype):
        return Comparison(
            Agreement.FAILED,
            f"has shape {list(output.shape)} and dtype {output.dtype},"
            f" expected {list(expected.shape)} and {expected.dtype}",
        )
    differs = output != expected
    if expected.dtype.kind == "f":
        differs &= ~(np.isnan(output) & np.isnan(expected))
    if not differs.any():
        return Comparison(Agreement.EXACT)
    distances, allowed = _distances(output, expected, test)
    outside = differs & ~(distances <= allowed)
    agreement = Agreement.FAILED if outside.any() else Agreement.WITHIN_TOLERANCE
    return Comparison(agreement, _described(output, expected, outside if outside.any() else differs))


def _distances(
    output: Array, expected: Array, test: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """How far elements are apart, and how far they may be; what is not finite may not differ at all."""
    wide = expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        distances = np.abs(output.astype(np.float64) - wide)
    if expected.dtype.kind == "f":
        allowed = ABSOLUTE_FLOAT_TOLERANCE + RELATIVE_FLOAT_TOLERANCE * np.abs(wide)
        return distances, np.where(np.isfinite(wide), allowed, 0.0)
    if expected.dtype.kind == "b":
        return distances, np.zeros_like(wide)
    most = MOBILENET_TOLERANCE if "mobilenet" in test else INTEGER_TOLERANCE
    return distances, np.full_like(wide, most)


def _described(output: Array, expected: Array, where: npt.NDArray[np.bool_]) -> str:
    """How many elements are different, and the first of them."""
    count = int(np.count_nonzero(where))
    first = tuple(int(index) for index in np.argwhere(where)[0])
    return (
        f"{count} of {output.size} elements {'differs' if count == 1 else 'differ'}; the first, at"
        f" {list(first)}, is {output[first].item():.9g}, expected {expected[first].item():.9g}"
    )
