"""Train, quantise and store the digits classifier: `python -m runtime.digits.train [FILE.npz]`.

The data set is the one scikit-learn ships (`load_digits`: 1,797 images of 8x8 pixels with values 0 to 16,
from the UCI repository's "Optical Recognition of Handwritten Digits"). Everything is decided by one seed, so
the stored file can be reproduced.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.digits import STORED_FILE
from runtime.digits.network import train
from runtime.digits.quantization import quantize_network

_SEED = 1
_HELD_OUT_IMAGES = 360


class SplitDigits(NamedTuple):
    """The data set in two parts: images uint8 (N, 8, 8, 1) with grey values 0 to 255, labels uint8 (N,)."""

    training_images: npt.NDArray[np.uint8]
    training_labels: npt.NDArray[np.uint8]
    held_out_images: npt.NDArray[np.uint8]
    held_out_labels: npt.NDArray[np.uint8]


def split_digits() -> SplitDigits:
    """Load and split the data set. Needs the extra `training`."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = np.round(digits.images * (255 / 16)).astype(np.uint8)[..., np.newaxis]
    labels = digits.target.astype(np.uint8)
    order = np.random.default_rng(_SEED).permutation(len(images))
    held_out, training = order[:_HELD_OUT_IMAGES], order[_HELD_OUT_IMAGES:]
    return SplitDigits(images[training], labels[training], images[held_out], labels[held_out])


def trained_arrays() -> dict[str, npt.NDArray[np.generic]]:
    """Train and quantise the network; returns every array of the stored file.

    Besides the arrays of `quantize_network` these are `images` and `labels`, which took no part in training
    or calibration. Needs the extra `training`.
    """
    data = split_digits()
    grey = data.training_images / 255.0
    parameters = train(grey, data.training_labels, _SEED)
    arrays = quantize_network(parameters, grey)
    arrays["images"] = data.held_out_images
    arrays["labels"] = data.held_out_labels
    return arrays


def main() -> None:
    """Write the stored file, or the file that the command line names."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else STORED_FILE
    np.savez_compressed(path, **trained_arrays())  # type: ignore[arg-type]
    sys.stdout.write(f"wrote {path}\n")


if __name__ == "__main__":
    main()
