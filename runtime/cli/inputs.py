"""Values for a model's inputs from `--input` options."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from runtime.cli.failures import Failure
from runtime.inputs import FIXED_KINDS, InputSlot, fixed_input


def input_arrays(specifications: Sequence[str], slots: Sequence[InputSlot]) -> list[npt.NDArray[np.generic]]:
    """One array per input. `slots` are the model's inputs in order.

    A specification is "random", "gradient" or the path of a .npy file. One word stands for all inputs;
    otherwise there must be one specification per input.
    """
    if len(specifications) == 1 and specifications[0] in FIXED_KINDS:
        specifications = [specifications[0]] * len(slots)
    if len(specifications) != len(slots):
        raise Failure(f"--input is given {len(specifications)} times; the model has {len(slots)} inputs")
    return [
        _fixed_array(specification, slot, index)
        if specification in FIXED_KINDS
        else _stored_array(specification)
        for index, (specification, slot) in enumerate(zip(specifications, slots, strict=True))
    ]


def _fixed_array(kind: str, slot: InputSlot, index: int) -> npt.NDArray[np.generic]:
    """A fixed pattern in the shape of an input, which the model must say."""
    if slot.shape is None or slot.is_open:
        raise Failure(f"--input {kind}: the shape of input {index} “{slot.name}” is open; give a .npy file")
    return fixed_input(slot.shape, slot.dtype, kind, index)


def _stored_array(path: str) -> npt.NDArray[np.generic]:
    """The array of a .npy file."""
    if not path.endswith(".npy"):
        raise Failure(
            f"--input {path or repr(path)}: must be random, gradient or a file whose name ends in .npy"
        )
    try:
        # Mapped, so that a header that promises more than the file holds is found before memory is taken.
        array = np.load(Path(path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Failure(f"--input {path}: not a valid .npy file of numbers") from error
    return np.array(array)
