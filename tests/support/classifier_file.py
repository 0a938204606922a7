"""A small .tflite classifier of five operations, the same bytes each time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite

from tests.support.tflite_files import Operator, Options, Tensor, options, tflite_file

IMAGE_SHAPE = (1, 6, 6, 2)


def classifier_file() -> bytes:
    """CONV_2D, AVERAGE_POOL_2D, RESHAPE, FULLY_CONNECTED (without bias) and SOFTMAX on a 6x6 image."""
    return tflite_file(_tensors(), _operators(), [0], [9])


def _tensors() -> list[Tensor]:
    draw = np.random.default_rng(7)
    return [
        _quant8("image", IMAGE_SHAPE, 0.5, 128),
        _quant8("filter", (4, 3, 3, 2), 0.25, 120, draw),
        _int32("bias", draw.integers(-99, 99, 4), [0.125]),
        _quant8("features", (1, 6, 6, 4), 8.0, 0),
        _quant8("pooled", (1, 3, 3, 4), 8.0, 0),
        _int32("shape", np.array([1, 36]), []),
        _quant8("flat", (1, 36), 8.0, 0),
        _quant8("weights", (5, 36), 0.125, 130, draw),
        _quant8("logits;fused/BiasAdd", (1, 5), 64.0, 128),
        _quant8("scores", (1, 5), 1 / 256, 0),
    ]


def _quant8(
    name: str, shape: tuple[int, ...], scale: float, zero_point: int, draw: np.random.Generator | None = None
) -> Tensor:
    data = None if draw is None else draw.integers(0, 256, shape, np.uint8)
    return Tensor(name=name, shape=shape, scales=[scale], zero_points=[zero_point], data=data)


def _int32(name: str, values: "np.ndarray[Any, Any]", scales: Sequence[float]) -> Tensor:
    return Tensor(
        name=name,
        shape=values.shape,
        type=tflite.TensorType.INT32,
        scales=scales,
        zero_points=[0] * len(scales),
        data=values.astype(np.int32),
    )


def _operators() -> list[Operator]:
    code = tflite.BuiltinOperator
    same = {"Padding": tflite.Padding.SAME, "StrideW": 1, "StrideH": 1}
    relu = tflite.ActivationFunctionType.RELU
    halve = {"StrideW": 2, "StrideH": 2, "FilterWidth": 2, "FilterHeight": 2}
    return [
        _step(code.CONV_2D, [0, 1, 2], 3, options("Conv2DOptions", **same, FusedActivationFunction=relu)),
        _step(code.AVERAGE_POOL_2D, [3], 4, options("Pool2DOptions", Padding=tflite.Padding.VALID, **halve)),
        _step(code.RESHAPE, [4, 5], 6, None),
        _step(code.FULLY_CONNECTED, [6, 7, -1], 8, options("FullyConnectedOptions")),
        _step(code.SOFTMAX, [8], 9, options("SoftmaxOptions", Beta=0.5)),
    ]


def _step(code: int, inputs: list[int], output: int, given: Options | None) -> Operator:
    return Operator(code=code, inputs=inputs, outputs=[output], options=given)
