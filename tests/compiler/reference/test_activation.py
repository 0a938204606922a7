import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.nnapi import Numerics, OperationCode, ResultCode
from tests.compiler.reference.calls import FLOAT, Array, compute
from tests.support.one_operation import quant8

CODES = np.arange(256)


@pytest.mark.parametrize(
    ("code", "low", "high"),
    [(OperationCode.RELU, 4, 255), (OperationCode.RELU1, 2, 6), (OperationCode.RELU6, 4, 16)],
)
def test_rectifiers_clamp_raw_bytes(code: OperationCode, low: int, high: int) -> None:
    kind = quant8(scale=0.5, zero_point=4)
    assert compute(code, [(kind, CODES)], [], kind).tolist() == np.clip(CODES, low, high).tolist()


def test_relu6_by_hand() -> None:
    # 0 is code 10 and 6 is code 10 + 6 / 0.1.
    kind = quant8(scale=0.1, zero_point=10)
    output = compute(OperationCode.RELU6, [(kind, [0, 9, 10, 40, 70, 71, 255])], [], kind)
    assert output.tolist() == [10, 10, 10, 40, 70, 70, 70]


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


def tanh(scale: float, zero_point: int, codes: object = CODES) -> Array:
    kind = quant8(scale=scale, zero_point=zero_point)
    return compute(OperationCode.TANH, [(kind, codes)], [], quant8(scale=1 / 128, zero_point=128))


def test_tanh_by_hand() -> None:
    # x = −8, −1, 0, 0.5, 1, 2, 8; 128 · tanh x = −127.99997, −97.48, 0, 59.15, 97.48, 123.40, 127.99997.
    codes = [112, 126, 128, 129, 130, 132, 144]
    assert tanh(0.5, 128, codes).tolist() == [0, 31, 128, 187, 225, 251, 255]


@pytest.mark.parametrize("scale", [0.002, 0.0078125, 0.05, 0.2, 1.0])
def test_tanh_is_within_a_step_of_the_real_function(scale: float) -> None:
    real = 128 + 128 * np.tanh((CODES - 100) * np.float64(np.float32(scale)))
    assert np.abs(tanh(scale, 100) - np.minimum(real, 255)).max() < 0.51


def test_tanh_is_odd() -> None:
    steps = tanh(0.01, 128)[1:].astype(int) - 128
    assert (steps == -steps[::-1]).all()


@pytest.mark.parametrize(
    ("scale", "near"), [(4.0, (0, 128, 255)), (7.99, (0, 128, 255)), (8.0, (0, 0, 255)), (1e6, (0, 0, 255))]
)
def test_tanh_far_from_zero_is_at_its_ends(scale: float, near: tuple[int, int, int]) -> None:
    assert tuple(tanh(scale, 100)[99:102].tolist()) == near


def test_tanh_demands_its_output_scale() -> None:
    with pytest.raises(GraphError, match="must be 1/128 and 128"):
        compute(OperationCode.TANH, [(quant8(scale=0.1), CODES)], [], quant8(scale=1 / 128))


def test_level_27_has_no_quantised_tanh() -> None:
    tensors = [(quant8(scale=0.1), CODES)]
    with pytest.raises(GraphError, match="level 29") as caught:
        compute(OperationCode.TANH, tensors, [], quant8(scale=1 / 128, zero_point=128), Numerics.NNAPI27)
    assert caught.value.result_code is ResultCode.BAD_DATA


@pytest.mark.parametrize(
    ("code", "values", "expected"),
    [
        (OperationCode.RELU, [-1.5, 0.25, 7.0], [0.0, 0.25, 7.0]),
        (OperationCode.RELU1, [-1.5, 0.25, 7.0], [-1.0, 0.25, 1.0]),
        (OperationCode.RELU6, [-1.5, 0.25, 7.0], [0.0, 0.25, 6.0]),
        (OperationCode.FLOOR, [-1.5, 0.25, 7.0], [-2.0, 0.0, 7.0]),
        (OperationCode.LOGISTIC, [-1e3, 0.0, 1e3], [0.0, 0.5, 1.0]),
        (OperationCode.LOGISTIC, [1.0], [float(np.float32(0.7310585786300049))]),
        (OperationCode.TANH, [-1e3, 0.0, 1e3], [-1.0, 0.0, 1.0]),
        (OperationCode.TANH, [1.0], [float(np.float32(0.7615941559557649))]),
    ],
)
@pytest.mark.parametrize("numerics", list(Numerics))
def test_floats_are_rounded_once(
    code: OperationCode, values: list[float], expected: list[float], numerics: Numerics
) -> None:
    assert compute(code, [(FLOAT, values)], [], FLOAT, numerics).tolist() == expected


def test_floor_has_no_quantised_form() -> None:
    with pytest.raises(GraphError, match="TENSOR_QUANT8_ASYMM, not TENSOR_FLOAT32"):
        compute(OperationCode.FLOOR, [(quant8(), CODES)], [], quant8())


def test_more_than_four_dimensions_are_refused() -> None:
    with pytest.raises(GraphError, match="has rank 5"):
        compute(OperationCode.TANH, [(FLOAT, np.zeros((1, 1, 1, 1, 1)))], [], FLOAT)
