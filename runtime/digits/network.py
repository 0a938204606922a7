"""The digits classifier in float64: forward pass, gradients and training.

Every array is NHWC. The network is

    image 8x8x1 → conv 3x3, 16, ReLU → depthwise 3x3, ReLU → conv 1x1, 32, ReLU
                → average pool 2x2 → fully connected, 10 logits

Training is stochastic gradient descent with momentum on the cross-entropy.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Parameters = dict[str, Floats]

CLASSES = 10
CONV_CHANNELS = 16
POINTWISE_CHANNELS = 32
KERNEL = 3
POOL = 2

_GRID = 2.0**-24
"""Parameters are kept on this grid, so that last-bit differences between BLAS builds vanish at every
step instead of growing: another machine trains the same network."""

_LEARNING_RATE = 0.1
_MOMENTUM = 0.9
_BATCH = 64
_EPOCHS = 15


class Activations(NamedTuple):
    """What one forward pass computes, after ReLU where there is one. B is the batch.

    conv and depthwise (B, 8, 8, 16), pointwise (B, 8, 8, 32), pooled (B, 4, 4, 32), logits (B, 10).
    """

    conv: Floats
    depthwise: Floats
    pointwise: Floats
    pooled: Floats
    logits: Floats


def initial_parameters(rng: np.random.Generator) -> Parameters:
    """Weights drawn with variance 2 / fan-in (suited to ReLU), biases zero. Filters are (taps, in, out)."""
    taps = KERNEL * KERNEL
    features = 4 * 4 * POINTWISE_CHANNELS
    shapes = {
        "conv": (taps, CONV_CHANNELS),
        "depthwise": (taps, CONV_CHANNELS),
        "pointwise": (CONV_CHANNELS, POINTWISE_CHANNELS),
        "dense": (features, CLASSES),
    }
    parameters: Parameters = {}
    for name, (fan_in, outputs) in shapes.items():
        parameters[f"{name}_weights"] = rng.standard_normal((fan_in, outputs)) * np.sqrt(2.0 / fan_in)
        parameters[f"{name}_bias"] = np.zeros(outputs)
    return parameters


def forward(parameters: Parameters, images: Floats) -> Activations:
    """Run the network on images (B, 8, 8, 1) with values 0 to 1."""
    conv = _windows(images)[..., 0] @ parameters["conv_weights"] + parameters["conv_bias"]
    conv = np.maximum(conv, 0.0)
    depthwise = (_windows(conv) * parameters["depthwise_weights"]).sum(axis=3) + parameters["depthwise_bias"]
    depthwise = np.maximum(depthwise, 0.0)
    pointwise = np.maximum(depthwise @ parameters["pointwise_weights"] + parameters["pointwise_bias"], 0.0)
    batch, height, width, channels = pointwise.shape
    blocks = pointwise.reshape(batch, height // POOL, POOL, width // POOL, POOL, channels)
    pooled = blocks.mean(axis=(2, 4))
    logits = pooled.reshape(batch, -1) @ parameters["dense_weights"] + parameters["dense_bias"]
    return Activations(conv, depthwise, pointwise, pooled, logits)


def train(images: Floats, labels: npt.NDArray[np.integer], seed: int) -> Parameters:
    """Train on images (N, 8, 8, 1) with values 0 to 1 and labels (N,); the seed decides everything."""
    rng = np.random.default_rng(seed)
    parameters = {name: _on_grid(value) for name, value in initial_parameters(rng).items()}
    velocity = {name: np.zeros_like(value) for name, value in parameters.items()}
    for epoch in range(_EPOCHS):
        rate = _LEARNING_RATE * 0.5 * (1.0 + np.cos(np.pi * epoch / _EPOCHS))
        order = rng.permutation(len(images))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            for name, gradient in gradients(parameters, images[batch], labels[batch]).items():
                velocity[name] = _on_grid(_MOMENTUM * velocity[name] - rate * gradient)
                parameters[name] = parameters[name] + velocity[name]
    return parameters


def gradients(parameters: Parameters, images: Floats, labels: npt.NDArray[np.integer]) -> Parameters:
    """Gradients of the mean cross-entropy of a batch, by back-propagation."""
    values = forward(parameters, images)
    batch = len(images)
    probabilities = np.exp(values.logits - values.logits.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    error = probabilities
    error[np.arange(batch), labels] -= 1.0
    error /= batch
    features = values.pooled.reshape(batch, -1)
    slopes = {"dense_weights": features.T @ error, "dense_bias": error.sum(axis=0)}

    error = (error @ parameters["dense_weights"].T).reshape(values.pooled.shape)
    error = error.repeat(POOL, axis=1).repeat(POOL, axis=2) / (POOL * POOL)
    error *= values.pointwise > 0.0
    flat = error.reshape(-1, POINTWISE_CHANNELS)
    slopes["pointwise_weights"] = values.depthwise.reshape(-1, CONV_CHANNELS).T @ flat
    slopes["pointwise_bias"] = flat.sum(axis=0)

    error = (error @ parameters["pointwise_weights"].T) * (values.depthwise > 0.0)
    slopes["depthwise_weights"] = np.einsum("bhwtc,bhwc->tc", _windows(values.conv), error)
    slopes["depthwise_bias"] = error.sum(axis=(0, 1, 2))

    error = _scatter(error[:, :, :, None, :] * parameters["depthwise_weights"]) * (values.conv > 0.0)
    flat = error.reshape(-1, CONV_CHANNELS)
    slopes["conv_weights"] = _windows(images)[..., 0].reshape(len(flat), -1).T @ flat
    slopes["conv_bias"] = flat.sum(axis=0)
    return slopes


def _windows(values: Floats) -> Floats:
    """The 3x3 neighbourhoods of (B, H, W, C), zero outside: (B, H, W, 9, C)."""
    padded = np.pad(values, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = values.shape[1:3]
    taps = [padded[:, i : i + height, j : j + width] for i in range(KERNEL) for j in range(KERNEL)]
    return np.stack(taps, axis=3)


def _scatter(windows: Floats) -> Floats:
    """The transpose of `_windows`: adds every tap of (B, H, W, 9, C) back to its pixel, (B, H, W, C)."""
    batch, height, width, _, channels = windows.shape
    padded = np.zeros((batch, height + 2, width + 2, channels))
    for tap in range(KERNEL * KERNEL):
        i, j = divmod(tap, KERNEL)
        padded[:, i : i + height, j : j + width] += windows[:, :, :, tap]
    return padded[:, 1:-1, 1:-1]


def _on_grid(values: Floats) -> Floats:
    """Round to the grid on which parameters are kept."""
    return np.round(values / _GRID) * _GRID
