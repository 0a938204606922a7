"""Refuses arguments of the wrong type at the calls where users pass them."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, TypeVar

from npu_sim.core.hooks import Hook
from runtime.errors import BadDataError, UnexpectedNullError

_Kind = TypeVar("_Kind")

_LONGEST_VALUE = 60


def checked(what: str, value: object, kind: type[_Kind] | tuple[type[_Kind], ...], allowed: str) -> _Kind:
    """The value, if it is of a kind.

    `what` and `allowed` are words for the message. Raises UnexpectedNullError for None, BadDataError for a
    value of any other type.
    """
    if isinstance(value, kind):
        return value
    if value is None:
        raise UnexpectedNullError(f"{what} is None, must be {allowed}")
    shown = repr(value)
    if len(shown) > _LONGEST_VALUE:
        shown = "an object"
    raise BadDataError(f"{what} is {shown} of type {type(value).__name__}, must be {allowed}")


def checked_sequence(what: str, value: object, kinds: tuple[type[Any], ...], allowed: str) -> Sequence[Any]:
    """The value, if it is a sequence, no text, of elements of some kinds; errors as in `checked`."""
    if isinstance(value, str | bytes):
        raise BadDataError(f"{what} is the text {value!r}, must be a sequence of {allowed}")
    items = checked(what, value, (Sequence,), f"a sequence of {allowed}, which may be empty")
    for index, item in enumerate(items):
        checked(f"{what}[{index}]", item, kinds, allowed)
    return items


def checked_whole(what: str, value: object) -> int:
    """The value as an int, if it is one of Python's or NumPy's whole numbers; errors as in `checked`."""
    try:
        return operator.index(checked(what, value, (SupportsIndex,), "a whole number"))
    except TypeError:  # what has the method may still have no answer, such as an array of several numbers
        return checked(what, value, (int,), "a whole number")


def checked_whole_numbers(what: str, values: object) -> tuple[int, ...]:
    """The values as ints, if they are an iterable of whole numbers; errors as in `checked`."""
    items = checked(what, values, (Iterable,), "a sequence of whole numbers, which may be empty")
    try:
        items = list(items)
    except TypeError:  # an array without dimensions
        items = checked(what, values, (Sequence,), "a sequence of whole numbers, which may be empty")
    return tuple(checked_whole(f"{what}[{index}]", item) for index, item in enumerate(items))


def checked_hooks(value: object) -> Sequence[Hook]:
    """The value, if it is a sequence of hooks."""
    return checked_sequence("hooks", value, (Hook,), "instances of Hook")
