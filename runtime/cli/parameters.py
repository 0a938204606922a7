"""Types of command-line values whose messages say what is allowed."""

import os
import re
from pathlib import Path
from typing import Any

import click

STDOUT = Path("-")
"""What stands for standard output, where that is offered."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_KERNEL = re.compile(r"([+-]?[0-9]+)(?:x([+-]?[0-9]+))?")
_NEGATIVE = re.compile(r"-[0-9]")
_MOST_KERNEL = 1 << 10
_MOST_DIGITS = 40
"""Longer numbers are out of every range; Python refuses to parse thousands of digits."""


class FilePath(click.Path):
    """A path that is not empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check a path."""
        if not os.fspath(value):
            self.fail("the path is empty.", param, ctx)
        path = super().convert(value, param, ctx)
        # "./-" is a file, although its Path equals that of "-".
        return path.absolute() if path == STDOUT and value != "-" else path


class OutputPath(FilePath):
    """A file to write; "-" is refused, because only JSON goes to standard output."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check a path."""
        path = super().convert(value, param, ctx)
        if path == STDOUT:
            self.fail("only --json writes to standard output; a file of this name is ./-.", param, ctx)
        return path


class WholeNumber(click.ParamType[int]):
    """An integer within limits."""

    name = "integer"

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse an integer; a default is one already."""
        if isinstance(value, int):
            return value
        if not _INTEGER.fullmatch(value):
            self.fail(f"{value!r} is not an integer; allowed are {self._low} to {self._high}.", param, ctx)
        if len(value) > _MOST_DIGITS or not self._low <= int(value) <= self._high:
            self.fail(f"{value} is not in the range; allowed are {self._low} to {self._high}.", param, ctx)
        return int(value)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """What help shows for an option's value."""
        return "N" if isinstance(param, click.Option) else None


class KernelType(click.ParamType[tuple[int, int]]):
    """K for K×K, or ROWSxCOLUMNS."""

    name = "kernel"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Parse "3" or "3x1"."""
        if isinstance(value, tuple):
            return value
        parts = _KERNEL.fullmatch(value)
        if parts is None:
            self.fail(f"{value!r} is neither a number nor ROWSxCOLUMNS, such as 3 or 3x1.", param, ctx)
        if len(value) > _MOST_DIGITS:
            self.fail(f"rows and columns must be 1 to {_MOST_KERNEL}.", param, ctx)
        kernel = int(parts[1]), int(parts[2] or parts[1])
        if not all(1 <= extent <= _MOST_KERNEL for extent in kernel):
            self.fail(f"{value!r}: rows and columns must be 1 to {_MOST_KERNEL}.", param, ctx)
        return kernel


class NumbersCommand(click.Command):
    """A command whose arguments are numbers; a negative one is out of range, and no unknown option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line."""
        try:
            return super().parse_args(ctx, list(args))
        except click.NoSuchOption as error:
            if not _NEGATIVE.match(error.option_name):
                raise
        ctx.ignore_unknown_options = True
        return super().parse_args(ctx, args)
