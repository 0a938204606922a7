import numpy as np
import pytest

from compiler.nnapi import FuseCode, Numerics
from compiler.ops.quantization import (
    activation_range,
    convolution_multiplier,
    convolution_requantization,
    is_smaller_than_one,
)
from tests.support.one_operation import quant8


@pytest.mark.parametrize(
    ("activation", "scale", "zero_point", "limits"),
    [
        (FuseCode.NONE, 1.0, 7, (0, 255)),
        (FuseCode.RELU, 1.0, 7, (7, 255)),
        (FuseCode.RELU1, 0.5, 7, (5, 9)),
        (FuseCode.RELU1, 1.0, 0, (0, 1)),
        (FuseCode.RELU6, 0.1, 250, (250, 255)),
        (FuseCode.RELU6, 4.0, 1, (1, 3)),
        (FuseCode.RELU1, 2.0, 100, (99, 101)),
        (FuseCode.RELU6, 1e-38, 10, (10, 255)),
    ],
)
def test_activation_ranges_round_half_away_and_stay_in_the_type(
    activation: FuseCode, scale: float, zero_point: int, limits: tuple[int, int]
) -> None:
    assert activation_range(activation, quant8(1, scale=scale, zero_point=zero_point)) == limits


def test_the_quotient_is_double_from_level_29_on_and_single_before() -> None:
    image, filters, output = quant8(1, scale=0.1), quant8(1, scale=0.3), quant8(1, scale=0.7)
    product = np.float32(0.1) * np.float32(0.3)
    double = convolution_multiplier(image, filters, output, Numerics.NNAPI)
    single = convolution_multiplier(image, filters, output, Numerics.NNAPI27)
    assert double == float(product) / float(np.float32(0.7))
    assert single == float(product / np.float32(0.7))
    assert double != single


def test_a_requantisation_is_a_q31_multiplier_and_a_shift() -> None:
    kind = quant8(1, scale=0.5)
    assert convolution_requantization(kind, kind, quant8(1, scale=2.0), Numerics.NNAPI) == (1 << 30, -2)


def test_smaller_than_one_holds_after_rounding_too() -> None:
    assert is_smaller_than_one(1 - 2.0**-31)
    assert not is_smaller_than_one(1 - 2.0**-40)
    assert not is_smaller_than_one(1.0)
