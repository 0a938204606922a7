"""Files that appear whole or not at all."""

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import click

from runtime.cli.failures import Failure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name only when the block ends without an exception.

    It is created at once under another name in the same folder, so that a folder that does not exist is found
    before a long job and not after it. What is no regular file, such as /dev/null or a pipe, is written
    directly. Raises Failure, with the path, if the file cannot be made or written.
    """
    target = path.resolve()
    if target.exists() and not target.is_dir() and not target.is_file():
        with _opened(target, "wb", path) as stream:
            yield stream
        return
    if target.is_dir():
        raise Failure(f"cannot write {path}: it is a folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise Failure(f"cannot write {path}: the file is read-only")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _opened(temporary, "xb", path) as stream:
            yield stream
        with _named(path):
            temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def check_distinct(written: Mapping[str, Path | None], read: Mapping[str, Path | None]) -> None:
    """Refuse a file that two options write, or that a command reads and writes.

    Keys are the options and arguments as messages name them. Devices and pipes may be named any number of
    times. Raises click.UsageError.
    """
    owners = {path.resolve(): name for name, path in read.items() if path is not None}
    for name, path in written.items():
        if path is None or (path.exists() and not path.is_file()):
            continue
        place = path.resolve()
        if place in owners:
            raise click.UsageError(f"{owners[place]} and {name} name the same file, {path}.")
        owners[place] = name


def _opened(place: Path, mode: str, path: Path) -> IO[bytes]:
    """Open a file; messages name the path that the user gave."""
    with _named(path):
        return cast(IO[bytes], io.BufferedWriter(_NamedFile(place, mode, path)))


class _NamedFile(io.FileIO):
    """A file whose failures name the path that the user gave."""

    def __init__(self, place: Path, mode: str, path: Path) -> None:
        super().__init__(place, mode)
        self._path = path

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write some of the bytes and return how many."""
        with _named(self._path):
            return super().write(data)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror or error}") from error
