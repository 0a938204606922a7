"""From exceptions to one line on standard error and an exit status.

Exit statuses: 0 done, 1 the job failed, 2 the command line is wrong, 130 interrupted.
"""

import traceback
from pathlib import Path
from typing import IO, Any

import click

_INTERRUPTED = 130
"""128 + SIGINT, what shells use."""


class Failure(click.ClickException):
    """The job cannot be done; the message says what, where, which value, and what is allowed."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message as one line."""
        click.echo(f"npu-sim: error: {self.format_message()}", file=file, err=True)


class FailureReportingGroup(click.Group):
    """A group whose commands report expected errors as a `Failure` and interrupts as status 130."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the context names."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("npu-sim: interrupted", err=True)
            ctx.exit(_INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click reports these, and ends quietly when the reader of standard output has gone
        except Exception as error:
            raise Failure(_message(error)) from error


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
        return f"{error.filename}: {reason}" if error.filename else reason
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno} in {place.name}"
    return f"internal error, please report it: {type(error).__name__}: {error} ({where})"
