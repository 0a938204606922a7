import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.nnapi import Numerics, OperationCode
from tests.compiler.reference.calls import Array, compute
from tests.support.one_operation import quant8

CODES = np.arange(256)


@pytest.mark.parametrize(
    ("code", "low", "high"),
    [(OperationCode.RELU, 4, 255), (OperationCode.RELU1, 2, 6), (OperationCode.RELU6, 4, 16)],
)
def test_rectifiers_clamp_raw_bytes(code: OperationCode, low: int, high: int) -> None:
    kind = quant8(scale=0.5, zero_point=4)
    assert compute(code, [(kind, CODES)], [], kind).tolist() == np.clip(CODES, low, high).tolist()


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("code", [OperationCode.RELU, OperationCode.RELU1, OperationCode.RELU6])
def test_rectifiers_that_would_rescale_are_refused(code: OperationCode, numerics: Numerics) -> None:
    with pytest.raises(GraphError, match="does not rescale"):
        compute(code, [(quant8(scale=0.5), CODES)], [], quant8(scale=0.5, zero_point=1), numerics)


def logistic(scale: float, zero_point: int) -> Array:
    kind = quant8(scale=scale, zero_point=zero_point)
    return compute(OperationCode.LOGISTIC, [(kind, CODES)], [], quant8(scale=1 / 256))


@pytest.mark.parametrize("scale", [0.002, 0.0078125, 0.05, 0.2, 1.0])
def test_logistic_is_within_a_step_of_the_real_function(scale: float) -> None:
    real = 256 / (1 + np.exp(-(CODES - 100) * np.float64(np.float32(scale))))
    assert np.abs(logistic(scale, 100) - np.minimum(real, 255)).max() < 0.51


def test_logistic_of_zero_is_one_half() -> None:
    assert logistic(0.1, 100)[100] == 128


@pytest.mark.parametrize(
    ("scale", "near"), [(4.0, (5, 128, 251)), (8.0, (0, 128, 255)), (1e6, (0, 128, 255))]
)
def test_the_edge_of_the_fixed_point_range_is_exclusive(scale: float, near: tuple[int, int, int]) -> None:
    assert tuple(logistic(scale, 100)[99:102].tolist()) == near


def test_logistic_keeps_the_shape() -> None:
    kind = quant8(scale=0.1)
    values = np.zeros((2, 1, 3))
    output = compute(OperationCode.LOGISTIC, [(kind, values)], [], quant8(scale=1 / 256))
    assert output.shape == (2, 1, 3)


@pytest.mark.parametrize("output", [quant8(scale=1 / 128), quant8(scale=1 / 256, zero_point=1)])
def test_logistic_demands_its_output_scale(output: object) -> None:
    with pytest.raises(GraphError, match="must be 1/256 and 0"):
        compute(OperationCode.LOGISTIC, [(quant8(scale=0.1), CODES)], [], output)  # type: ignore[arg-type]


def test_logistic_refuses_a_scale_that_the_fixed_point_cannot_hold() -> None:
    with pytest.raises(GraphError, match="larger than 2⁻²⁷"):
        logistic(2.0**-27, 0)
