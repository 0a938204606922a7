import hashlib
from typing import Any

import numpy as np
import pytest

from runtime.errors import BadDataError
from runtime.inputs import InputSlot, bind_inputs, fixed_input
from tests.support.shared import shared_json

UINT8 = np.dtype(np.uint8)
GOLDENS = (
    "coral_mobilenet_v1_0.25_128_quant",
    "coral_mobilenet_v2_1.0_224_quant",
    "mlperf_kws_int8",
    "mlperf_resnet8_float",
    "tflm_micro_speech_int8",
)
SLOTS = [InputSlot("image", UINT8, (1, 2)), InputSlot("mask", UINT8, (2,))]
IMAGE, MASK = np.array([[1, 2]], np.uint8), np.array([3, 4], np.uint8)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("uint8", 141), ("int8", 13), ("int16", 13 * 256), ("float32", 13 / 128)],
)
def test_the_gradient_is_a_formula_of_row_column_and_channel(dtype: str, value: float) -> None:
    array = fixed_input((2, 10, 10, 3), dtype, "gradient")
    assert array.dtype == dtype
    assert array[1, 9, 8, 1] == 7 * 9 + 3 * 8 + 50 + 9 * 8 // 16 - 141 + value


def test_missing_axes_of_the_gradient_count_as_zero() -> None:
    assert fixed_input((4,), "uint8", "gradient").tolist() == [0, 50, 100, 150]
    assert fixed_input((2, 2), "uint8", "gradient").tolist() == [[0, 50], [3, 53]]


def test_each_input_has_a_generator_of_its_own() -> None:
    first, second = (fixed_input((100,), "uint8", "random", index) for index in (0, 1))
    np.testing.assert_array_equal(
        second, np.random.default_rng(1).integers(0, 255, 100, np.uint8, endpoint=True)
    )
    assert not np.array_equal(first, second)


def test_random_floats_are_normally_distributed() -> None:
    array = fixed_input((3,), "float32", "random")
    np.testing.assert_array_equal(array, np.random.default_rng(0).standard_normal(3).astype(np.float32))


def test_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="input kind is 'zeros', must be one of random, gradient"):
        fixed_input((1,), "uint8", "zeros")


@pytest.mark.parametrize("kind", ["random", "gradient"])
@pytest.mark.parametrize("network", GOLDENS)
def test_the_patterns_are_the_inputs_of_the_goldens(network: str, kind: str) -> None:
    golden = shared_json("golden", f"{network}.json")
    expected = golden["runs"][kind]["inputs"]
    assert expected
    for index, given in enumerate(expected):
        array = fixed_input(given["shape"], given["dtype"], kind, index)
        assert hashlib.sha256(array.tobytes()).hexdigest() == given["sha256"]


def test_arrays_are_bound_in_order_or_by_name() -> None:
    for given in ([IMAGE, MASK], {"mask": MASK, "image": IMAGE}):
        image, mask = bind_inputs(SLOTS, given)
        assert (image is IMAGE, mask is MASK) == (True, True)


def test_one_array_stands_for_the_only_input() -> None:
    assert bind_inputs(SLOTS[:1], IMAGE)[0] is IMAGE


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([IMAGE], "1 inputs are given, the model has 2: “image” uint8 [1, 2], “mask” uint8 [2]"),
        ([IMAGE, MASK, MASK], "3 inputs are given, the model has 2"),
        (
            {"image": IMAGE, "task": MASK},
            "“task” is not an input; the model's inputs are “image” uint8 [1, 2]",
        ),
        ({"image": IMAGE}, "input “mask” is missing"),
        ([IMAGE, MASK.astype(np.int64)], "input 1 “mask” has dtype int64, must have uint8"),
        ([IMAGE[0], MASK], "input 0 “image” has shape [2], must have [1, 2]"),
    ],
)
def test_inputs_that_do_not_fit_are_bad_data(given: Any, message: str) -> None:
    with pytest.raises(BadDataError) as caught:
        bind_inputs(SLOTS, given)
    assert message in str(caught.value)
