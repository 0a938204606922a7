"""Compiled programs on disk, under a token of the client's (level 29's compilation caching).

Each part of a model that is compiled on its own has a file, `<token>-<key>.npu`: a program container, whose
checksum covers every byte. The key is a hash of all that the program depends on, so that a token used for two
models, or a file of another version, costs a compilation and never gives a wrong program. A file appears
whole or not at all: it is written beside its place, flushed, and renamed; of several writers the last one
wins, and all write the same bytes. A cache that cannot be read or written is as good as none.
"""

import contextlib
import dataclasses
import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from compiler.graph import Graph, Operand
from compiler.options import CompileOptions
from isa.encoding import decode_program, encode_program
from isa.errors import IsaError
from isa.program import Program
from isa.verifier import verify

KEY_NOTE = "cache_key"
"""Name of the note that holds a cached program's key."""

_HEX_DIGITS_IN_NAME = 32
_ABANDONED_AFTER_S = 60
"""Age from which a file that is being written is taken for one that nobody writes any more."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProgramCache:
    """The programs of one token in a directory, which must exist."""

    directory: Path
    token: bytes

    def program(self, key: str, compile_: Callable[[], Program]) -> Program:
        """The program of a key: from its file, or else compiled and written there."""
        path = self.directory / f"{self.token.hex()}-{key[:_HEX_DIGITS_IN_NAME]}.npu"
        cached = _read(path, key)
        if cached is None:
            cached = compile_()
            cached = dataclasses.replace(cached, notes={**cached.notes, KEY_NOTE: key})
            _write(path, encode_program(cached))
        return cached


def program_key(graph: Graph, machine_hash: str, point: str, options: CompileOptions, version: str) -> str:
    """Hash of a part of a model and all that its program depends on; 64 hex digits."""
    digest = hashlib.sha256()
    for part in (version, machine_hash, point, options, graph.inputs, graph.outputs, graph.name):
        digest.update(repr(part).encode() + b"\0")
    for operation in graph.operations:
        digest.update(repr(operation).encode() + b"\0")
    for operand in graph.operands:
        digest.update(repr(_described(operand)).encode() + b"\0")
        if operand.value is not None:
            digest.update(np.ascontiguousarray(operand.value).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _described(operand: Operand) -> tuple[object, ...]:
    size_bytes = None if operand.value is None else operand.value.nbytes
    return operand.type, operand.name, operand.omitted, size_bytes


def _read(path: Path, key: str) -> Program | None:
    """The program of a file; None if it is not there, damaged, of another key, or does not verify."""
    try:
        if not path.is_file():  # a pipe, say, would never end
            return None
        program = decode_program(path.read_bytes())
        if program.notes.get(KEY_NOTE) != key:
            return None
        verify(program)
    except (OSError, ValueError, IsaError):
        return None
    return program


def _write(path: Path, data: bytes) -> None:
    """Put a file into its place, whole; nothing happens if that fails."""
    temporary = None
    try:
        _remove_abandoned(path)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (OSError, ValueError):
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _remove_abandoned(path: Path) -> None:
    """Remove what writers of this file have left that were stopped before they could rename it."""
    for abandoned in path.parent.glob(f".{path.name}.*.tmp"):
        if time.time() - abandoned.stat().st_mtime > _ABANDONED_AFTER_S:
            abandoned.unlink(missing_ok=True)
