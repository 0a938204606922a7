"""ANeuralNetworksBurst: runs of one compilation, back to back."""

import contextlib
import threading
from collections.abc import Iterator

from runtime.compilation import Compilation
from runtime.errors import BadDataError, BadStateError
from runtime.lifecycle import require


class Burst:
    """One run at a time; a run right behind another needs no dispatch of its own.

    `end_ps` is the simulated time at which the last run ended; None before the first.
    """

    def __init__(self, compilation: Compilation) -> None:
        require("Burst", compilation.phase)
        self.compilation = compilation
        self.end_ps: int | None = None
        self._running = threading.Lock()

    @contextlib.contextmanager
    def one_run(self, call: str, compilation: Compilation) -> Iterator[None]:
        """Have the burst while one execution of a compilation runs.

        Raises BadDataError for another compilation than the burst's, BadStateError while it is busy.
        """
        if compilation is not self.compilation:
            raise BadDataError(f"{call}: the burst is of another compilation than the execution")
        if not self._running.acquire(blocking=False):
            raise BadStateError(f"{call}: the burst runs another execution")
        try:
            yield
        finally:
            self._running.release()
