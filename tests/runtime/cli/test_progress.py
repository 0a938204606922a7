import io
import sys
import time

import pytest

from runtime.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, delay_s: float) -> Terminal:
    """Standard error as a terminal; called by the test, because pytest sets the stream after fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_DELAY_S", delay_s)
    return stream


def test_short_job_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch, delay_s=60.0)
    with progress.ProgressBar("working", 3) as bar:
        bar.advance()
    assert stream.getvalue() == ""


def test_long_job_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch, delay_s=0.0)
    with progress.ProgressBar("working", 3) as bar:
        bar.advance(2)
    assert "working" in stream.getvalue()
    assert "2/3" in stream.getvalue()


def test_job_of_unknown_length_shows_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch, delay_s=0.0)
    with progress.Waiting("compiling"):
        deadline = time.monotonic() + 10
        while "compiling" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "compiling" in stream.getvalue()


def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_DELAY_S", 0.0)
    with progress.Waiting("compiling"), progress.ProgressBar("working", 3) as bar:
        bar.advance(3)
    assert capfd.readouterr().err == ""
