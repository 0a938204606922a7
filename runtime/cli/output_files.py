"""Files that appear whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from runtime.cli.failures import Failure


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name only when the block ends without an exception.

    It is created at once under another name in the same folder, so that a folder that does not exist or a
    full disk is found before a long job and not after it. What is no regular file, such as /dev/null or a
    pipe, is written directly.
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
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _opened(place: Path, mode: str, path: Path) -> IO[bytes]:
    """Open a file; messages name the path that the user gave."""
    try:
        return open(place, mode)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from error
