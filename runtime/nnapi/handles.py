"""Handles: what C holds instead of the runtime's objects."""

import itertools
import threading

from runtime.errors import BadStateError

_FIRST, _STEP = 0x1000, 0x10
"""Handles look like aligned pointers outside the first page."""


class HandleTable:
    """Objects by handle and family. A handle is never used again, so that a stale one is always recognised.

    Freeing a handle ends what the client can do with the object; the object itself lives as long as another
    one refers to it.
    """

    def __init__(self) -> None:
        self._objects: dict[int, tuple[str, object]] = {}
        self._numbers = itertools.count(_FIRST, _STEP)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._objects)

    def add(self, family: str, object_: object) -> int:
        """A new handle for an object."""
        with self._lock:
            handle = next(self._numbers)
            self._objects[handle] = family, object_
        return handle

    def get(self, family: str, handle: int) -> object:
        """The object of a handle; BadStateError if there is none of that family, or no longer."""
        kind, object_ = self._objects.get(handle, ("", None))
        if kind != family:
            what = f"one of a {kind}" if kind else "not in use: it was freed, or never given"
            raise BadStateError(f"the handle {handle:#x} of a {family} is {what}")
        return object_

    def free(self, family: str, handle: int) -> object | None:
        """Take a handle out of use and return its object; None if there is none of that family."""
        with self._lock:
            if self._objects.get(handle, ("", None))[0] != family:
                return None
            return self._objects.pop(handle)[1]
