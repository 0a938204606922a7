import numpy as np
import pytest

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import ScalarInput
from compiler.ops.resize import from_tflite
from tests.support.one_operation import Number, float32, int32, one_operation, quant8
from tests.support.operations import inferred, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor

OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
UNSHAPED = float32()


def resize(kind: OperandType, *scalars: Number, output: OperandType = UNSHAPED) -> Graph:
    return one_operation(OperationCode.RESIZE_BILINEAR, [(kind, None)], scalars, output)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_the_width_comes_before_the_height(numerics: Numerics) -> None:
    assert inferred(resize(float32(2, 3, 4, 5), 8, 6), numerics) == float32(2, 6, 8, 5)


def test_level_29_takes_factors_and_rounds_sizes_down() -> None:
    graph = resize(float32(1, 3, 5, 1), 1.5, 0.7)
    assert inferred(graph) == float32(1, 2, 7, 1)
    refused(graph, "output height (input 2) is FLOAT32, must be INT32", BAD_DATA, Numerics.NNAPI27)


def test_level_29_takes_channels_first() -> None:
    graph = resize(float32(1, 2, 3, 4), 8, 6, True)
    assert inferred(graph) == float32(1, 2, 6, 8)
    refused(graph, "has 4 inputs, must have 3 at NNAPI level 27", BAD_DATA, Numerics.NNAPI27)


def test_bytes_came_with_level_29_and_are_not_rescaled() -> None:
    graph = resize(quant8(1, 2, 2, 1), 3, 3, output=quant8())
    assert inferred(graph).dimensions == (1, 3, 3, 1)
    refused(graph, "must be TENSOR_FLOAT32", BAD_DATA, Numerics.NNAPI27)
    rescaling = resize(quant8(1, 2, 2, 1), 3, 3, output=quant8(scale=2.0))
    refused(rescaling, "the operation does not rescale", OP_FAILED)


@pytest.mark.parametrize(
    ("scalars", "fragment"),
    [
        ((0, 3), "output width (input 1) is 0, must be at least 1"),
        ((3, -1), "output height (input 2) is -1, must be at least 1"),
        ((0.0, 1.0), "output width factor (input 1) is 0, must be greater than 0"),
        ((1.0, float("nan")), "output height factor (input 2) is nan, must be greater than 0"),
        ((1.0, 3e38), "output height factor (input 2) is 3e+38; sizes must be below 2^31"),
        ((0.1, 1.0), "output would have shape [1, 2, 0, 1]"),
    ],
)
def test_sizes_below_one_pixel_fail(scalars: tuple[Number, ...], fragment: str) -> None:
    refused(resize(float32(1, 2, 2, 1), *scalars), fragment, OP_FAILED)


def test_a_size_and_a_factor_do_not_mix() -> None:
    graph = resize(float32(1, 2, 2, 1), 2.0, 4)
    refused(graph, "output height factor (input 2) is INT32, must be FLOAT32", BAD_DATA)


IMAGE = tflite_tensor(float32(1, 2, 2, 1))
SIZE = tflite_tensor(int32(2), np.array([6, 8], np.int32))
OPTIONS = {"align_corners": False, "half_pixel_centers": False}


def test_the_height_comes_before_the_width_in_a_file() -> None:
    operator = tflite_operator("RESIZE_BILINEAR", [IMAGE, SIZE], **OPTIONS)
    assert from_tflite(operator)[1:] == [ScalarInput(OperandCode.INT32, n) for n in (8, 6)]


@pytest.mark.parametrize("flag", list(OPTIONS))
def test_other_places_of_pixels_are_unsupported_in_a_file(flag: str) -> None:
    operator = tflite_operator("RESIZE_BILINEAR", [IMAGE, SIZE], **(OPTIONS | {flag: True}))
    with pytest.raises(UnsupportedError, match=f"{flag} is true; only false is implemented"):
        from_tflite(operator)


def test_a_computed_size_is_unsupported_in_a_file() -> None:
    operator = tflite_operator("RESIZE_BILINEAR", [IMAGE, tflite_tensor(int32(2))], **OPTIONS)
    with pytest.raises(UnsupportedError, match=r"size \(input 1\) is not constant in the file"):
        from_tflite(operator)


def test_a_size_of_another_shape_is_refused_in_a_file() -> None:
    size = tflite_tensor(int32(3), np.array([1, 6, 8], np.int32))
    operator = tflite_operator("RESIZE_BILINEAR", [IMAGE, size], **OPTIONS)
    with pytest.raises(GraphError, match=r"size \(input 1\) has shape \[3\], must have \[2\]"):
        from_tflite(operator)
