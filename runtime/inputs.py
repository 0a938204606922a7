"""Input values: the two fixed patterns, and the checks that every run makes of what it is given."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.argument_checks import checked
from runtime.errors import BadDataError

Array = npt.NDArray[Any]

Inputs = Sequence[npt.ArrayLike | None] | Mapping[str, npt.ArrayLike | None] | npt.NDArray[Any]
"""What a run accepts: arrays in model order, arrays by input name, or one array for the only input.

None instead of an array leaves an optional input out.
"""

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
    """What one input must be; 0 in the shape stands for any number, no shape at all (None) for any shape."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None

    @property
    def is_open(self) -> bool:
        """True if the model leaves a dimension open."""
        return self.shape is None or 0 in self.shape


def bind_inputs(slots: Sequence[InputSlot], given: Inputs) -> list[Array]:
    """The given arrays in model order; BadDataError if number, names, a shape or a dtype are wrong.

    Values are never converted: an array must have the dtype the model wants. None may be left out.
    """
    arrays = []
    for index, (slot, array) in enumerate(zip(slots, bind_optional_inputs(slots, given), strict=True)):
        if array is None:
            raise BadDataError(f"input {index} “{slot.name}” is None, must be an array")
        arrays.append(array)
    return arrays


def bind_optional_inputs(slots: Sequence[InputSlot], given: Inputs) -> list[Array | None]:
    """As `bind_inputs`, but None stands for an input that is left out."""
    if isinstance(given, np.ndarray):
        given = [given]
    if isinstance(given, Mapping):
        given = _in_order(slots, given)
    checked(
        "inputs", given, (Sequence,), "a sequence of arrays, a mapping from names to arrays, or one array"
    )
    if len(given) != len(slots):
        raise BadDataError(f"{len(given)} inputs are given, the model has {len(slots)}: {_listed(slots)}")
    arrays = [None if array is None else _array(index, array) for index, array in enumerate(given)]
    for index, (slot, array) in enumerate(zip(slots, arrays, strict=True)):
        if array is None:
            continue
        if array.dtype != slot.dtype:
            raise BadDataError(f"input {index} “{slot.name}” has dtype {array.dtype}, must have {slot.dtype}")
        if not _fits(array.shape, slot.shape):
            raise BadDataError(
                f"input {index} “{slot.name}” has shape {list(array.shape)}, must have {_text(slot.shape)}"
            )
    return arrays


def _array(index: int, given: npt.ArrayLike) -> Array:
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as error:
        raise BadDataError(f"input {index} is no array: {error}") from error


def _fits(shape: tuple[int, ...], allowed: tuple[int, ...] | None) -> bool:
    if allowed is None:
        return True
    return len(shape) == len(allowed) and all(
        known in (0, n) for known, n in zip(allowed, shape, strict=True)
    )


def _text(shape: tuple[int, ...] | None) -> str:
    return "any shape" if shape is None else f"[{', '.join(str(n or 'any') for n in shape)}]"


def _in_order(
    slots: Sequence[InputSlot], given: Mapping[str, npt.ArrayLike | None]
) -> list[npt.ArrayLike | None]:
    names = [slot.name for slot in slots]
    unknown = [name for name in given if name not in names]
    missing = [name for name in names if name not in given]
    if unknown or missing:
        wrong = f"“{unknown[0]}” is not an input" if unknown else f"input “{missing[0]}” is missing"
        raise BadDataError(f"{wrong}; the model's inputs are {_listed(slots)}")
    return [given[name] for name in names]


def _listed(slots: Sequence[InputSlot]) -> str:
    return ", ".join(f"“{slot.name}” {slot.dtype} {_text(slot.shape)}" for slot in slots) or "none"
