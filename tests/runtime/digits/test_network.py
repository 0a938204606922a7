import numpy as np
import numpy.typing as npt
import pytest

from runtime.digits import network


def loss(parameters: network.Parameters, images: network.Floats, labels: npt.NDArray[np.int64]) -> float:
    logits = network.forward(parameters, images).logits
    logits = logits - logits.max(axis=1, keepdims=True)
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return float(-log_probabilities[np.arange(len(labels)), labels].mean())


@pytest.mark.parametrize("name", ["conv", "depthwise", "pointwise", "dense"])
@pytest.mark.parametrize("kind", ["weights", "bias"])
def test_gradient_is_the_slope_of_the_loss(name: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    images, labels = rng.random((4, 8, 8, 1)), rng.integers(0, 10, 4)
    parameters = network.initial_parameters(rng)
    gradient = network.gradients(parameters, images, labels)[f"{name}_{kind}"]
    place = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
    step = 1e-6
    losses = []
    for sign in (1, -1):
        moved = {key: value.copy() for key, value in parameters.items()}
        moved[f"{name}_{kind}"][place] += sign * step
        losses.append(loss(moved, images, labels))
    assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(gradient[place], rel=1e-4)


def test_parameters_stay_on_their_grid() -> None:
    rng = np.random.default_rng(6)
    trained = network.train(rng.random((64, 8, 8, 1)), rng.integers(0, 10, 64), seed=7)
    assert all(np.array_equal(value * 2**24, np.round(value * 2**24)) for value in trained.values())
