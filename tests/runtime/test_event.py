import os
import threading

import pytest

from runtime.errors import BadDataError, OpFailedError
from runtime.event import Event, FenceEvent


def test_a_run_is_beside_the_caller() -> None:
    go = threading.Event()
    event = Event(lambda: go.wait(10) or None)
    go.set()
    event.wait()


def test_the_error_is_raised_to_every_waiter() -> None:
    def fail() -> None:
        raise OpFailedError("no")

    event = Event(fail)
    event.join()
    for _ in range(2):
        with pytest.raises(OpFailedError):
            event.wait()


def test_without_threads_the_run_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    ran: list[int] = []
    event = Event(lambda: ran.append(threading.get_ident()))
    event.wait()
    event.join()
    assert ran == [threading.get_ident()]


def test_a_run_has_no_fence() -> None:
    event = Event(lambda: None)
    assert not event.has_fence
    with pytest.raises(BadDataError, match="no sync fence"):
        event.get_sync_fence_fd()
    event.wait()


def test_a_fence_is_signalled_when_it_becomes_readable() -> None:
    reading, writing = os.pipe()
    event = FenceEvent(reading)
    os.close(reading)
    os.write(writing, b"!")
    for _ in range(2):
        event.wait()
    os.close(writing)


def test_a_fence_that_ends_without_a_signal_failed() -> None:
    reading, writing = os.pipe()
    event = FenceEvent(reading)
    os.close(reading)
    os.close(writing)
    with pytest.raises(OpFailedError, match="failed before it was signalled"):
        event.wait()


@pytest.mark.parametrize("descriptor", [-1, 0])
def test_descriptors_of_fences_are_greater_than_0(descriptor: int) -> None:
    with pytest.raises(BadDataError, match=f"descriptor {descriptor} must be greater than 0"):
        FenceEvent(descriptor)


def test_the_descriptor_is_closed_with_the_event() -> None:
    reading, writing = os.pipe()
    event = FenceEvent(reading)
    os.close(reading)
    own = event._descriptor
    del event
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(own)
    os.close(writing)
