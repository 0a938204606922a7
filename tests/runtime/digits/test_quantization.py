import numpy as np
import pytest

from runtime.digits.quantization import Quantization, quantization_of, quantize


@pytest.mark.parametrize(("lowest", "highest"), [(-1.0, 3.0), (0.5, 2.0), (-4.0, -1.0), (0.0, 1.0)])
def test_zero_has_a_code(lowest: float, highest: float) -> None:
    found = quantization_of(lowest, highest)
    assert 0 <= found.zero_point <= 255
    assert quantize(np.array([0.0]), found)[0] == found.zero_point


def test_range_covers_the_extremes_within_half_a_step() -> None:
    found = quantization_of(-1.0, 3.0)
    codes = quantize(np.array([-1.0, 3.0]), found).astype(float)
    reals = (codes - found.zero_point) * float(found.scale)
    assert reals == pytest.approx([-1.0, 3.0], abs=float(found.scale) / 2 + 1e-9)


def test_values_outside_the_range_saturate() -> None:
    assert quantize(np.array([-1e9, 1e9]), Quantization(np.float32(0.5), 10)).tolist() == [0, 255]
