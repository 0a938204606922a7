"""Input values: the two fixed patterns, and the checks that every run makes of what it is given."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.errors import BadDataError

Array = npt.NDArray[Any]

Inputs = Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike] | npt.NDArray[Any]
"""What a run accepts: arrays in model order, arrays by input name, or one array for the only input."""

FIXED_KINDS = ("random", "gradient")


def fixed_input(
    shape: Sequence[int], dtype: npt.DTypeLike, kind: str, index: int = 0
) -> npt.NDArray[np.generic]:
    """The pattern `kind` for input number `index`; the same values on every machine.

    "random": NumPy's default generator seeded with `index`; integers over the whole range of the type,
    floats normally distributed. "gradient": v = (7h + 3w + 50c + floor(hw / 16)) mod 256 of the last three
    axes h, w, c (missing ones count as 0), as is for uint8, v - 128 for int8, 256(v - 128) for int16,
    (v - 128) / 128 for floats. Raises ValueError for another kind.
    """
    extents = tuple(int(n) for n in shape)
    element = np.dtype(dtype)
    if kind == "random":
        generator = np.random.default_rng(index)
        if element.kind in "iu":
            limits = np.iinfo(element)
            return generator.integers(limits.min, limits.max, size=extents, dtype=element, endpoint=True)
        return generator.standard_normal(extents).astype(element)
    if kind != "gradient":
        raise ValueError(f"input kind is {kind!r}, must be one of {', '.join(FIXED_KINDS)}")
    h, w, c = np.indices((1, 1, 1, *extents)[-3:])
    pattern = (7 * h + 3 * w + 50 * c + h * w // 16) % 256
    values = np.broadcast_to(pattern if len(extents) >= 3 else pattern.reshape(extents), extents)
    return _of_type(values, element)


def _of_type(values: npt.NDArray[np.int64], element: np.dtype[Any]) -> npt.NDArray[np.generic]:
    if element == np.uint8:
        return values.astype(np.uint8)
    if element == np.int8:
        return (values - 128).astype(np.int8)
    if element == np.int16:
        return ((values - 128) * 256).astype(np.int16)
    return ((values - 128) / 128).astype(element)


class InputSlot(NamedTuple):
    """What one input must be."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def bind_inputs(slots: Sequence[InputSlot], given: Inputs) -> list[Array]:
    """The given arrays in model order; BadDataError if number, names, a shape or a dtype are wrong.

    Values are never converted: an array must have the dtype the model wants.
    """
    if isinstance(given, np.ndarray):
        given = [given]
    if isinstance(given, Mapping):
        given = _in_order(slots, given)
    if len(given) != len(slots):
        raise BadDataError(f"{len(given)} inputs are given, the model has {len(slots)}: {_listed(slots)}")
    arrays = [np.asarray(array) for array in given]
    for index, (slot, array) in enumerate(zip(slots, arrays, strict=True)):
        if array.dtype != slot.dtype:
            raise BadDataError(f"input {index} “{slot.name}” has dtype {array.dtype}, must have {slot.dtype}")
        if array.shape != slot.shape:
            raise BadDataError(
                f"input {index} “{slot.name}” has shape {list(array.shape)}, must have {list(slot.shape)}"
            )
    return arrays


def _in_order(slots: Sequence[InputSlot], given: Mapping[str, npt.ArrayLike]) -> list[npt.ArrayLike]:
    names = [slot.name for slot in slots]
    unknown = [name for name in given if name not in names]
    missing = [name for name in names if name not in given]
    if unknown or missing:
        wrong = f"“{unknown[0]}” is not an input" if unknown else f"input “{missing[0]}” is missing"
        raise BadDataError(f"{wrong}; the model's inputs are {_listed(slots)}")
    return [given[name] for name in names]


def _listed(slots: Sequence[InputSlot]) -> str:
    return ", ".join(f"“{slot.name}” {slot.dtype} {list(slot.shape)}" for slot in slots) or "none"
