"""Post-training quantisation of the digits classifier to asymmetric uint8.

real = scale · (code − zero_point); ranges always include 0, so that 0 has a code. Weights take the range of
their values, activations the range seen on calibration images, biases int32 at scale input · weights.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.digits.network import (
    CLASSES,
    CONV_CHANNELS,
    KERNEL,
    POINTWISE_CHANNELS,
    Floats,
    Parameters,
    forward,
)

IMAGE_SCALE = np.float32(1 / 255)
"""Scale of the images: codes 0 to 255 are grey values 0 to 1; zero point 0."""

_FILTER_SHAPES = {
    "conv": (CONV_CHANNELS, KERNEL, KERNEL, 1),
    "depthwise": (1, KERNEL, KERNEL, CONV_CHANNELS),
    "pointwise": (POINTWISE_CHANNELS, 1, 1, CONV_CHANNELS),
    "dense": (CLASSES, 4 * 4 * POINTWISE_CHANNELS),
}
"""NNAPI's filter shapes: output channels first, but for the depthwise filter."""


class Quantization(NamedTuple):
    """Scale (a float32 value) and zero point of a uint8 tensor."""

    scale: np.float32
    zero_point: int


def quantization_of(lowest: float, highest: float) -> Quantization:
    """The quantisation whose 256 codes cover lowest … highest and 0."""
    lowest, highest = min(lowest, 0.0), max(highest, 0.0)
    scale = np.float32((highest - lowest) / 255)
    return Quantization(scale, round(-lowest / float(scale)))


def quantize(values: Floats, to: Quantization) -> npt.NDArray[np.uint8]:
    """Round values to their nearest codes, saturating."""
    codes = np.round(values / float(to.scale)) + to.zero_point
    return np.clip(codes, 0, 255).astype(np.uint8)


def quantize_network(parameters: Parameters, calibration: Floats) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays that `digits_model` builds the network from.

    `calibration` are images (N, 8, 8, 1) with values 0 to 1. For every layer: `<layer>_weights` uint8 in
    NNAPI's shape, `<layer>_weights_scale`, `<layer>_weights_zero_point`, `<layer>_bias` int32,
    `<layer>_output_scale`, `<layer>_output_zero_point`.
    """
    activations = forward(parameters, calibration)
    outputs = {
        "conv": activations.conv,
        "depthwise": activations.depthwise,
        "pointwise": activations.pointwise,
        "dense": activations.logits,
    }
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    input_scale = IMAGE_SCALE
    for layer, values in outputs.items():
        weights = parameters[f"{layer}_weights"]
        weight_codes = quantization_of(weights.min(), weights.max())
        output_codes = quantization_of(values.min(), values.max())
        filters = weights if layer == "depthwise" else weights.T
        bias_scale = float(input_scale * weight_codes.scale)
        arrays[f"{layer}_weights"] = quantize(filters, weight_codes).reshape(_FILTER_SHAPES[layer])
        arrays[f"{layer}_weights_scale"] = np.asarray(weight_codes.scale)
        arrays[f"{layer}_weights_zero_point"] = np.asarray(weight_codes.zero_point, np.int32)
        arrays[f"{layer}_bias"] = np.round(parameters[f"{layer}_bias"] / bias_scale).astype(np.int32)
        arrays[f"{layer}_output_scale"] = np.asarray(output_codes.scale)
        arrays[f"{layer}_output_zero_point"] = np.asarray(output_codes.zero_point, np.int32)
        input_scale = output_codes.scale
    return arrays
