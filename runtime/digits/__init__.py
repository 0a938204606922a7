"""The embedded default: a small quant8 classifier of handwritten digits, and images it has never seen.

`python -m runtime.digits.train` trains it and reproduces the stored file.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from runtime.model import Model

STORED_FILE = Path(__file__).with_name("digits.npz")
"""Quantised weights, held-out images and their labels."""

__all__ = ["STORED_FILE", "digits_model", "held_out"]


def digits_model() -> "Model":
    """The classifier as an NNAPI model for one image.

    Input "image": quant8 (1, 8, 8, 1), scale 1/255, zero point 0. Output "probabilities": quant8 (1, 10),
    scale 1/256, zero point 0. Operations: CONV_2D, DEPTHWISE_CONV_2D, CONV_2D, AVERAGE_POOL_2D, RESHAPE,
    FULLY_CONNECTED, SOFTMAX.
    """
    from runtime.digits.model import build

    return build(_stored())


def held_out() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Images (360, 8, 8, 1) and their labels (360,) that took no part in the training."""
    stored = _stored()
    return stored["images"].astype(np.uint8, copy=False), stored["labels"].astype(np.uint8, copy=False)


def _stored() -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of the stored file."""
    with np.load(STORED_FILE, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
