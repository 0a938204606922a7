import numpy as np
import pytest

from compiler.nnapi import FuseCode
from compiler.reference.real import clamp, logistic, to_single


@pytest.mark.parametrize(
    ("fuse", "expected"),
    [
        (FuseCode.NONE, [-9.0, 0.5, 9.0]),
        (FuseCode.RELU, [0.0, 0.5, 9.0]),
        (FuseCode.RELU1, [-1.0, 0.5, 1.0]),
        (FuseCode.RELU6, [0.0, 0.5, 6.0]),
    ],
)
def test_activations_clamp(fuse: FuseCode, expected: list[float]) -> None:
    assert clamp(np.array([-9.0, 0.5, 9.0]), fuse).tolist() == expected


@pytest.mark.parametrize("fuse", FuseCode)
def test_nan_stays_nan(fuse: FuseCode) -> None:
    assert np.isnan(clamp(np.array([np.nan]), fuse)).all()


def test_results_are_single_precision() -> None:
    assert to_single(0.1).dtype == np.float32
    assert to_single(1 + 2.0**-25) == 1


def test_the_logistic_function_has_its_ends() -> None:
    assert logistic(np.array([-700.0, 0.0, 700.0])) == pytest.approx([0, 0.5, 1], abs=1e-300)
