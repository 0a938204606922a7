"""The digits classifier, built through the calls of NNAPI."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode, PaddingCode
from runtime.model import Model
from runtime.model_builder import ModelBuilder, quant8

Arrays = Mapping[str, npt.NDArray[np.generic]]


def build(arrays: Arrays) -> Model:
    """The finished model from the stored arrays (named as `quantize_network` names them)."""
    same, relu, none = PaddingCode.SAME, FuseCode.RELU, FuseCode.NONE
    add = ModelBuilder("digits")
    image = add.variable(quant8((1, 8, 8, 1), 1 / 255, 0), "image")
    conv = _filter(add, arrays, "conv", OperationCode.CONV_2D, image, (1, 8, 8, 16), (same, 1, 1, relu))
    depthwise = _filter(
        add, arrays, "depthwise", OperationCode.DEPTHWISE_CONV_2D, conv, (1, 8, 8, 16), (same, 1, 1, 1, relu)
    )
    pointwise = _filter(
        add, arrays, "pointwise", OperationCode.CONV_2D, depthwise, (1, 8, 8, 32), (same, 1, 1, relu)
    )
    window = add.scalars(PaddingCode.VALID, 2, 2, 2, 2, none)
    pooled_type = _same_quantization(add, pointwise, (1, 4, 4, 32))
    pooled = add.operation(OperationCode.AVERAGE_POOL_2D, [pointwise, *window], pooled_type, "pooled")
    new_shape = add.constant(OperandType(OperandCode.TENSOR_INT32, (2,)), np.array([1, 512], np.int32))
    features_type = _same_quantization(add, pooled, (1, 512))
    features = add.operation(OperationCode.RESHAPE, [pooled, new_shape], features_type, "features")
    logits = _filter(add, arrays, "dense", OperationCode.FULLY_CONNECTED, features, (1, 10), (none,))
    beta = add.constant(OperandType(OperandCode.FLOAT32), np.asarray(1.0, np.float32))
    probabilities = add.operation(
        OperationCode.SOFTMAX, [logits, beta], quant8((1, 10), 1 / 256, 0), "probabilities"
    )
    return add.finish([image], [probabilities])


def _filter(
    add: ModelBuilder,
    arrays: Arrays,
    layer: str,
    code: OperationCode,
    source: int,
    shape: tuple[int, ...],
    options: tuple[int, ...],
) -> int:
    """Add an operation with stored weights and bias; the output has the layer's stored quantisation."""
    values = arrays[f"{layer}_weights"]
    weights = add.constant(_quantized(arrays, f"{layer}_weights", values.shape), values)
    bias = add.bias(source, weights, arrays[f"{layer}_bias"].astype(np.int32))
    inputs = [source, weights, bias, *add.scalars(*options)]
    return add.operation(code, inputs, _quantized(arrays, f"{layer}_output", shape), layer)


def _quantized(arrays: Arrays, name: str, shape: tuple[int, ...]) -> OperandType:
    """The quant8 type with the stored scale and zero point of that name."""
    return quant8(shape, float(arrays[f"{name}_scale"]), int(arrays[f"{name}_zero_point"]))


def _same_quantization(add: ModelBuilder, source: int, shape: tuple[int, ...]) -> OperandType:
    """A type with the quantisation of another operand."""
    type_ = add.type_of(source)
    return OperandType(type_.code, shape, type_.scale, type_.zero_point)
