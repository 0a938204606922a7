"""Progress of jobs of more than two seconds, on standard error; silent when that is no terminal."""

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_DELAY_S = 2.0


class ProgressBar:
    """A bar with the time that is left, for a job of `total` steps."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = total
        self._done = 0
        self._shown_from = time.monotonic() + _DELAY_S
        self.is_wanted = sys.stderr.isatty()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, done: int, total: int) -> None:
        """Report how much of the job is done; its size may change on the way."""
        self._done, self._total = done, total
        self._update()

    def advance(self, steps: int = 1) -> None:
        """Report that more of the job is done."""
        self._done += steps
        self._update()

    def _update(self) -> None:
        if not self.is_wanted or time.monotonic() < self._shown_from:
            return
        if self._progress is None or self._task is None:
            self._progress, self._task = _started(self._label, self._total)
        self._progress.update(self._task, completed=self._done, total=self._total)


class Waiting:
    """A moving bar with the time that has passed, for a job that cannot tell how far it is."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._progress: Progress | None = None
        self._lock = threading.Lock()
        self._is_over = not sys.stderr.isatty()
        self._timer = threading.Timer(_DELAY_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if not self._is_over:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._progress is not None:
                self._progress.stop()

    def _show(self) -> None:
        """Show the bar, unless the job has ended meanwhile."""
        with self._lock:
            if not self._is_over:
                self._progress, _ = _started(self._label, None)


def _started(label: str, total: int | None) -> "tuple[Progress, TaskID]":
    """A visible bar that vanishes when it is stopped; without a total it shows the time that has passed."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    times = (TimeElapsedColumn(),) if total is None else (MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), *times, console=Console(stderr=True), transient=True
    )
    task = progress.add_task(label, total=total)
    progress.start()
    return progress, task
