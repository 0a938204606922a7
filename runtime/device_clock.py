"""Simulated time of a device that several executions share: one at a time, the most urgent first."""

import contextlib
import dataclasses
import heapq
import itertools
import threading
from collections.abc import Callable, Iterator

from runtime.device import DeviceResult
from runtime.errors import MissedDeadlinePersistentError, MissedDeadlineTransientError

PS_PER_S = 10**12
PS_PER_NS = 1000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A run that asks for the device.

    `submitted_ps` is the device's time when the run was asked for, `ready_ps` when all it depends on was
    done. The limits are in nanoseconds from there; 0: none. `follows_ps` is the end of the run that this one
    may follow without a dispatch of its own: the last one of its burst.
    """

    priority: int
    submitted_ps: int
    ready_ps: int
    limit_ns: int = 0
    fenced_limit_ns: int = 0
    follows_ps: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When a run used the device, in picoseconds of the device's time.

    It was asked for at `submitted`, could begin at `ready`, had the device from `start` to `end`, and its
    hardware was busy for the last `busy` of these.
    """

    submitted_ps: int
    ready_ps: int
    start_ps: int
    end_ps: int
    busy_ps: int


class DeviceClock:
    """The time of one device; it passes while the device works, and not otherwise.

    A run occupies the device for the dispatch latency of its host and then for the time that the simulator
    counts. Runs that wait are served by priority, equal ones in the order in which they came; a run is not
    interrupted by others.
    """

    def __init__(self, dispatch_ps: int = 0) -> None:
        self._dispatch_ps = dispatch_ps
        self._now_ps = 0
        self._waiting: list[tuple[int, int]] = []
        self._numbers = itertools.count()
        self._is_busy = False
        self._changed = threading.Condition()

    @property
    def now_ps(self) -> int:
        """The device's time."""
        with self._changed:
            return self._now_ps

    def wait_until_idle(self) -> None:
        """Wait until no run has or wants the device."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._is_busy or self._waiting))

    def run(self, submission: Submission, work: Callable[[], DeviceResult]) -> tuple[DeviceResult, Timing]:
        """Wait for the device and do the work, which says itself how long it took.

        Raises MissedDeadlineTransientError if it ends too late because the device was busy,
        MissedDeadlinePersistentError if it would do so on an idle device too; the device then stops working
        when the time is up.
        """
        with self._turn(submission.priority):
            start_ps = self._now_ps
            result = work()
            simulation = result.simulation
            busy_ps = 0
            if simulation is not None:
                busy_ps = simulation.cycles * PS_PER_S // simulation.frequency_hz
            dispatch_ps = 0 if submission.follows_ps == start_ps else self._dispatch_ps
            timing = Timing(
                submitted_ps=submission.submitted_ps,
                ready_ps=submission.ready_ps,
                start_ps=start_ps,
                end_ps=start_ps + dispatch_ps + busy_ps,
                busy_ps=busy_ps,
            )
            self._now_ps = min(timing.end_ps, max(start_ps, _deadline_ps(submission)))
        _check_deadline(submission, timing)
        return result, timing

    @contextlib.contextmanager
    def _turn(self, priority: int) -> Iterator[None]:
        with self._changed:
            ticket = -priority, next(self._numbers)
            heapq.heappush(self._waiting, ticket)
            self._changed.wait_for(lambda: not self._is_busy and self._waiting[0] == ticket)
            heapq.heappop(self._waiting)
            self._is_busy = True
        try:
            yield
        finally:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()


_NO_DEADLINE_PS = 2**128


def _limits(submission: Submission) -> list[tuple[int, int]]:
    """From when on, and for how many picoseconds, the run's time is limited."""
    limits = (
        (submission.submitted_ps, submission.limit_ns),
        (submission.ready_ps, submission.fenced_limit_ns),
    )
    return [(since_ps, limit_ns * PS_PER_NS) for since_ps, limit_ns in limits if limit_ns]


def _deadline_ps(submission: Submission) -> int:
    return min((since_ps + limit_ps for since_ps, limit_ps in _limits(submission)), default=_NO_DEADLINE_PS)


def _check_deadline(submission: Submission, timing: Timing) -> None:
    late_ps = timing.end_ps - _deadline_ps(submission)
    if late_ps <= 0:
        return
    used_ps = timing.end_ps - timing.start_ps
    waited_ps = timing.start_ps - timing.submitted_ps
    message = (
        f"the run ends {late_ps / PS_PER_NS:.0f} ns after its time limit: it takes"
        f" {used_ps / PS_PER_NS:.0f} ns, after {waited_ps / PS_PER_NS:.0f} ns of waiting"
    )
    if any(used_ps > limit_ps for _, limit_ps in _limits(submission)):
        raise MissedDeadlinePersistentError(message)
    raise MissedDeadlineTransientError(message)
