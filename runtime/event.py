"""ANeuralNetworksEvent: the end of a run, to be waited for."""

import threading
from collections.abc import Callable


class Event:
    """A run in a thread of its own. Any thread may wait, any number of times, with the same answer."""

    def __init__(self, run: Callable[[], None]) -> None:
        self._run = run
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._keep_error, name="execution", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the run to end; raises the run's error if it failed."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _keep_error(self) -> None:
        try:
            self._run()
        except BaseException as error:  # raised again by `wait`
            self._error = error
