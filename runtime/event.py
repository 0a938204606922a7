"""ANeuralNetworksEvent: the end of a run, or the signal of a fence, to be waited for."""

import os
import select
import threading
import weakref
from collections.abc import Callable
from typing import Protocol

from runtime.errors import BadDataError, OpFailedError


class Waitable(Protocol):
    """Something that any thread may wait for, any number of times, with the same answer."""

    @property
    def has_fence(self) -> bool:
        """True if a file descriptor says when it happens."""
        ...

    def wait(self) -> None:
        """Wait until it has happened; raises its error if it failed."""
        ...

    def join(self) -> None:
        """Wait until nothing runs for it any more; raises nothing."""
        ...

    def get_sync_fence_fd(self) -> int:
        """A new descriptor of the fence, for the caller to close; BadDataError without a fence."""
        ...


class Event:
    """A run in a thread of its own, or right here where the system gives no more threads.

    Runs have no fence: hosts of the simulator have no sync fences.
    """

    def __init__(self, run: Callable[[], None]) -> None:
        self._run = run
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._keep_error, name="execution", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._keep_error()

    @property
    def has_fence(self) -> bool:
        """Never."""
        return False

    def wait(self) -> None:
        """Wait for the run to end; raises the run's error if it failed."""
        self.join()
        if self._error is not None:
            raise self._error

    def join(self) -> None:
        """Wait for the run to end."""
        if self._thread.ident is not None:
            self._thread.join()

    def get_sync_fence_fd(self) -> int:
        """Never there (BadDataError)."""
        raise BadDataError("Event.get_sync_fence_fd: the event is the end of a run, which has no sync fence")

    def _keep_error(self) -> None:
        try:
            self._run()
        except BaseException as error:  # raised again by `wait`
            self._error = error


class FenceEvent:
    """A fence of the caller's: a descriptor that becomes readable when it is signalled.

    That is how sync fences of Android, event descriptors and pipes behave.
    """

    def __init__(self, descriptor: int) -> None:
        place = f"Event.create_from_sync_fence_fd: descriptor {descriptor}"
        if descriptor <= 0:
            raise BadDataError(f"{place} must be greater than 0")
        try:
            self._descriptor = os.dup(descriptor)
        except OSError as error:
            raise BadDataError(f"{place} cannot be duplicated: {error.strerror}") from error
        self._closing = weakref.finalize(self, os.close, self._descriptor)

    @property
    def has_fence(self) -> bool:
        """Always."""
        return True

    def wait(self) -> None:
        """Wait for the signal; OpFailedError if the fence says that it failed."""
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        ((_, happened),) = poller.poll()
        if not happened & select.POLLIN:
            raise OpFailedError("Event.wait: the fence failed before it was signalled")

    def join(self) -> None:
        """Nothing runs for a fence."""

    def get_sync_fence_fd(self) -> int:
        """A new descriptor of the fence, for the caller to close."""
        return os.dup(self._descriptor)
