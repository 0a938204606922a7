import threading
import types
from typing import cast

import pytest

from npu_sim.result import SimResult
from runtime.device import DeviceResult
from runtime.device_clock import DeviceClock, Submission
from runtime.errors import MissedDeadlinePersistentError, MissedDeadlineTransientError, OpFailedError

DISPATCH_PS = 1000


def lasting(cycles: int, *, hertz: int = 10**9) -> DeviceResult:
    """What a device answers for a run of so many cycles of 1 ns."""
    simulation = types.SimpleNamespace(cycles=cycles, frequency_hz=hertz)
    return DeviceResult(outputs=(), tensors={}, simulation=cast(SimResult, simulation))


def submission(clock: DeviceClock, **more: int) -> Submission:
    now = clock.now_ps
    fields = {"priority": 100, "submitted_ps": now, "ready_ps": now, **more}
    return Submission(**fields)


def test_time_passes_while_the_device_works() -> None:
    clock = DeviceClock(DISPATCH_PS)
    _, timing = clock.run(submission(clock), lambda: lasting(5))
    assert (timing.start_ps, timing.end_ps, timing.busy_ps) == (0, 6000, 5000)
    assert clock.now_ps == 6000


def test_a_run_that_follows_needs_no_dispatch() -> None:
    clock = DeviceClock(DISPATCH_PS)
    clock.run(submission(clock), lambda: lasting(5))
    _, timing = clock.run(submission(clock, follows_ps=6000), lambda: lasting(5))
    assert timing.end_ps - timing.start_ps == 5000


def test_a_failed_run_takes_no_time_and_gives_the_device_back() -> None:
    clock = DeviceClock(DISPATCH_PS)

    def fail() -> DeviceResult:
        raise OpFailedError("no")

    with pytest.raises(OpFailedError):
        clock.run(submission(clock), fail)
    assert clock.now_ps == 0
    clock.run(submission(clock), lambda: lasting(1))


def test_a_run_that_is_too_long_misses_its_deadline_every_time() -> None:
    clock = DeviceClock(DISPATCH_PS)
    with pytest.raises(MissedDeadlinePersistentError, match="ends 1 ns after its time limit: it takes 6 ns"):
        clock.run(submission(clock, limit_ns=5), lambda: lasting(5))


def test_the_device_stops_when_the_time_is_up() -> None:
    clock = DeviceClock(DISPATCH_PS)
    with pytest.raises(MissedDeadlinePersistentError):
        clock.run(submission(clock, limit_ns=2), lambda: lasting(5))
    assert clock.now_ps == 2000


def test_a_run_that_waited_too_long_misses_its_deadline_this_time() -> None:
    clock = DeviceClock(DISPATCH_PS)
    early = submission(clock, limit_ns=10)
    clock.run(submission(clock), lambda: lasting(5))
    with pytest.raises(MissedDeadlineTransientError, match="after 6 ns of waiting"):
        clock.run(early, lambda: lasting(5))


def test_the_fenced_limit_begins_when_all_is_ready() -> None:
    clock = DeviceClock(DISPATCH_PS)
    clock.run(submission(clock), lambda: lasting(5))
    late = submission(clock, submitted_ps=0, fenced_limit_ns=6)
    clock.run(late, lambda: lasting(5))


def test_the_most_urgent_run_goes_first_and_equal_ones_in_order() -> None:
    clock, order = DeviceClock(), []
    first_runs, release = threading.Event(), threading.Event()

    def hold() -> DeviceResult:
        first_runs.set()
        release.wait()
        return lasting(1)

    def start(name: str, priority: int) -> threading.Thread:
        def work() -> DeviceResult:
            order.append(name)
            return lasting(1)

        thread = threading.Thread(target=lambda: clock.run(submission(clock, priority=priority), work))
        thread.start()
        return thread

    threads = [threading.Thread(target=lambda: clock.run(submission(clock), hold))]
    threads[0].start()
    first_runs.wait()
    for name, priority in (("low", 90), ("medium", 100), ("medium again", 100), ("high", 110)):
        threads.append(start(name, priority))
        while len(clock._waiting) < len(threads) - 1:
            pass
    release.set()
    for thread in threads:
        thread.join()
    assert order == ["high", "medium", "medium again", "low"]


def test_an_idle_device_need_not_be_waited_for() -> None:
    DeviceClock().wait_until_idle()
