from typing import Any

import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from tests.compiler.reference.calls import FLOAT, Array, compute
from tests.support.one_operation import quant8

BYTES = quant8(scale=0.5, zero_point=3)
IMAGE = np.array([[1, 2], [3, 4]]).reshape(1, 2, 2, 1)


def resize(
    values: Any, *scalars: int | float | bool, kind: OperandType = FLOAT, numerics: Numerics = Numerics.NNAPI
) -> Array:
    return compute(OperationCode.RESIZE_BILINEAR, [(kind, values)], scalars, kind, numerics)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_the_width_comes_first(numerics: Numerics) -> None:
    output = resize(IMAGE, 4, 2, numerics=numerics)
    assert output[0, :, :, 0].tolist() == [[1, 1.5, 2, 2], [3, 3.5, 4, 4]]


def test_rows_are_interpolated_as_columns_are() -> None:
    assert resize(IMAGE, 2, 4)[0, :, :, 0].tolist() == [[1, 2], [2, 3], [3, 4], [3, 4]]


def test_bytes_are_rounded_with_halves_up() -> None:
    assert resize(IMAGE, 4, 2, kind=BYTES)[0, :, :, 0].tolist() == [[1, 2, 2, 2], [3, 4, 4, 4]]


def test_a_smaller_image_skips_pixels() -> None:
    values = np.arange(36).reshape(1, 6, 6, 1)
    assert resize(values, 2, 3)[0, :, :, 0].tolist() == [[0, 3], [12, 15], [24, 27]]


@pytest.mark.parametrize("kind", [FLOAT, BYTES])
def test_the_same_size_changes_nothing(kind: OperandType) -> None:
    values = np.random.default_rng(0).integers(0, 256, (2, 7, 5, 3))
    assert (resize(values, 5, 7, kind=kind) == values).all()


def test_factors_give_sizes_rounded_down() -> None:
    values = np.zeros((1, 3, 5, 2))
    assert resize(values, 1.5, 0.7).shape == (1, 2, 7, 2)


def test_channels_first_transposes_input_and_output() -> None:
    values = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    usual = resize(values, 7, 2, False)
    other = resize(values.transpose(0, 3, 1, 2), 7, 2, True)
    assert (other == usual.transpose(0, 3, 1, 2)).all()


@pytest.mark.parametrize(
    ("scalars", "fragment"),
    [
        ((0, 2), "width 2 cannot become 0"),
        ((2, -1), "height 2 cannot become -1"),
        ((0.1, 1.0), "width 2 cannot become 0"),
        ((1.0, float("inf")), "factor inf"),
        ((float("nan"), 1.0), "factor nan"),
    ],
)
def test_an_image_without_pixels_fails(scalars: tuple[int | float, ...], fragment: str) -> None:
    with pytest.raises(GraphError, match=fragment) as caught:
        resize(IMAGE, *scalars)
    assert caught.value.result_code is ResultCode.OP_FAILED


def test_a_size_and_a_factor_do_not_mix() -> None:
    with pytest.raises(GraphError, match="input 2 is FLOAT32, not INT32"):
        resize(IMAGE, 2, 2.0)
    with pytest.raises(GraphError, match="input 2 is INT32, not FLOAT32"):
        resize(IMAGE, 2.0, 2)


def test_level_27_knows_neither_bytes_nor_factors_nor_layouts() -> None:
    for scalars, kind, fragment in (
        ((2, 2), BYTES, "came with level 29"),
        ((2.0, 2.0), FLOAT, "FLOAT32, not INT32"),
        ((2, 2, False), FLOAT, "4 inputs"),
    ):
        with pytest.raises(GraphError, match=fragment) as caught:
            resize(IMAGE, *scalars, kind=kind, numerics=Numerics.NNAPI27)
        assert caught.value.result_code is ResultCode.BAD_DATA
