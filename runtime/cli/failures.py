"""From exceptions to one line on standard error and an exit status.

Exit statuses: 0 done, 1 the job failed, 2 the command line is wrong, 130 interrupted, 143 terminated.
"""

import contextlib
import errno
import signal
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Never

import click

_INTERRUPTED = 130
"""128 + SIGINT, what shells use."""

_TERMINATED = 143
"""128 + SIGTERM."""


class _TerminatedError(SystemExit):
    """SIGTERM arrived. As an exception it lets every block clean up, as an interrupt does."""


class Failure(click.ClickException):
    """The job cannot be done; the message says what, where, which value, and what is allowed."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message as one line."""
        click.echo(f"npu-sim: error: {self.format_message()}", file=file, err=True)


class FailureReportingGroup(click.Group):
    """A group whose commands report expected errors as a `Failure`, and signals as status 130 or 143."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the context names."""
        try:
            with _terminable():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("npu-sim: interrupted", err=True)
            ctx.exit(_INTERRUPTED)
        except _TerminatedError:
            click.echo("npu-sim: terminated", err=True)
            ctx.exit(_TERMINATED)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click reports these, and ends quietly when the reader of standard output has gone
        except Exception as error:
            raise Failure(_message(error)) from error


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into an exception inside the block; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: object) -> Never:
    raise _TerminatedError(_TERMINATED)


def _message(error: Exception) -> str:
    """What to tell the user, in one line; an error that nobody expects says where it comes from."""
    from compiler.errors import CompilerError
    from isa.errors import IsaError
    from npu_sim.errors import NpuSimError
    from runtime.errors import RuntimeFailure

    if isinstance(error, CompilerError | IsaError | NpuSimError | RuntimeFailure):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        if error.filename:
            return f"{error.filename}: {reason}"
        # Files that commands write name themselves; what is left is standard output.
        return f"cannot write standard output: {reason}" if error.errno == errno.ENOSPC else reason
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno} in {place.name}"
    return f"internal error, please report it: {type(error).__name__}: {error} ({where})"
