"""What `npu-sim run` does without a model: the embedded digits, then the preferences side by side."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import runtime
from compiler.nnapi import PreferenceCode
from runtime.cli.formatting import percent
from runtime.cli.options import PREFERENCES
from runtime.cli.progress import ProgressBar
from runtime.cli.tables import console, side_by_side
from runtime.compilation import Compilation
from runtime.devices.npu import NpuDevice
from runtime.digits import digits_model, held_out
from runtime.execution import Execution

if TYPE_CHECKING:
    from npu_sim.config import MachineConfig


def demonstrate(config: "MachineConfig", preference: str) -> None:
    """Print the accuracy on the held-out images, then time and energy under each preference."""
    images, labels = held_out()
    found = classify(config, preference, images)
    correct = int((found == labels).sum())
    output = console()
    output.print(
        f"Handwritten digits on the simulated NPU “{config.name}”: {correct} of {len(labels)} held-out "
        f"images are classified correctly ({percent(correct / len(labels))})."
    )
    output.print("One inference under each preference:")
    model = digits_model()
    results = [runtime.run(model, [images[:1]], machine=config, preference=name) for name in PREFERENCES]
    output.print(side_by_side([result.to_json_dict() for result in results], skip=["machine"]))
    output.print("Layers, units and energy of one inference: npu-sim run --input random")


def classify(config: "MachineConfig", preference: str, images: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
    """The digit that the NPU sees in each of the images (N, 8, 8, 1): compiled once, run for every image."""
    compilation = Compilation(digits_model(), NpuDevice(config))
    compilation.set_preference(PreferenceCode[preference.upper()])
    compilation.finish()
    found = np.empty(len(images), np.intp)
    with ProgressBar("classifying", len(images)) as progress:
        for index, image in enumerate(images):
            probabilities = np.empty((1, 10), np.uint8)
            execution = Execution(compilation)
            execution.set_input(0, image[np.newaxis])
            execution.set_output(0, probabilities)
            execution.compute()
            found[index] = probabilities.argmax()
            progress.advance()
    return found
