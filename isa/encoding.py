"""The program container: one file with instructions, constants and what describes them.

Layout, little endian: header (magic, version, lengths of the three sections, SHA-256 of everything but
itself), metadata (MessagePack), code, constants. The same program always gives the same bytes.
"""

import hashlib
import os
import struct
from pathlib import Path

import msgspec

from isa.container_rules import check_contents
from isa.dtypes import Region
from isa.errors import ContainerError, DecodeError
from isa.instruction import Instruction, decode
from isa.program import LayerInfo, Program, Symbol
from isa.target import Target

MAGIC = b"NPUPROG\n"
VERSION = 1

_PREFIX = struct.Struct("<8sIIQQ")
"""Magic, version, bytes of metadata, code and constants."""
_DIGEST_BYTES = hashlib.sha256().digest_size
_HEADER_BYTES = _PREFIX.size + _DIGEST_BYTES


class _Metadata(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything of a Program but its instructions and constants."""

    target: Target
    symbols: tuple[Symbol, ...]
    layers: tuple[LayerInfo, ...]
    layer_of: tuple[int, ...]
    region_bytes: dict[Region, int]
    notes: dict[str, str]


def encode_program(program: Program) -> bytes:
    """Return the program as the bytes of a container."""
    metadata = msgspec.msgpack.encode(
        _Metadata(
            target=program.target,
            symbols=program.symbols,
            layers=program.layers,
            layer_of=program.layer_of,
            region_bytes=dict(sorted(program.region_bytes.items())),
            notes=program.notes,
        )
    )
    code = b"".join(instruction.encode() for instruction in program.instructions)
    prefix = _PREFIX.pack(MAGIC, VERSION, len(metadata), len(code), len(program.constants))
    sections = (metadata, code, program.constants)
    return b"".join((prefix, _digest(prefix, *sections), *sections))


def decode_program(data: bytes) -> Program:
    """Read a container.

    The constants are a view of `data` and not a copy. Raises ContainerError if it is not a container, has
    another version, is truncated or too long, if its checksum is wrong, or if its parts do not fit each
    other.
    """
    view = memoryview(data).toreadonly()
    metadata_bytes, code_bytes, constants_bytes = _section_sizes(view)
    body = view[_HEADER_BYTES:]
    if _digest(view[: _PREFIX.size], body) != view[_PREFIX.size : _HEADER_BYTES]:
        raise ContainerError("the checksum does not match: the program is corrupted")
    code = bytes(body[metadata_bytes : metadata_bytes + code_bytes])
    try:
        metadata = msgspec.msgpack.decode(body[:metadata_bytes], type=_Metadata)
        instructions = _decode_code(code)
    except (msgspec.DecodeError, DecodeError) as error:
        raise ContainerError(f"the contents are not valid: {error}") from None
    program = Program(
        target=metadata.target,
        instructions=instructions,
        constants=body[len(body) - constants_bytes :],
        symbols=metadata.symbols,
        layers=metadata.layers,
        layer_of=metadata.layer_of,
        region_bytes=metadata.region_bytes,
        notes=metadata.notes,
    )
    check_contents(program)
    return program


def load_program(path: str | os.PathLike[str]) -> Program:
    """Read a container file; raises ContainerError, naming the file, if it cannot be read or is damaged."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ContainerError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return decode_program(data)
    except ContainerError as error:
        raise ContainerError(f"{path}: {error}") from None


def _section_sizes(view: memoryview) -> tuple[int, int, int]:
    """Bytes of metadata, code and constants, after checking the header against the length of the data."""
    if view[: len(MAGIC)] != MAGIC[: len(view)]:
        raise ContainerError(f"not a program: the first bytes are not {MAGIC!r}")
    if len(view) < _HEADER_BYTES:
        raise ContainerError(f"truncated: {len(view)} bytes, the header alone has {_HEADER_BYTES}")
    _, version, metadata_bytes, code_bytes, constants_bytes = _PREFIX.unpack_from(view)
    if version != VERSION:
        raise ContainerError(f"version {version}: this tool reads version {VERSION}")
    expected = _HEADER_BYTES + metadata_bytes + code_bytes + constants_bytes
    if len(view) < expected:
        raise ContainerError(f"truncated: {len(view)} bytes of {expected}")
    if len(view) > expected:
        raise ContainerError(f"{len(view)} bytes, but the program ends after {expected}")
    return metadata_bytes, code_bytes, constants_bytes


def _decode_code(code: bytes) -> tuple[Instruction, ...]:
    instructions = []
    offset = 0
    while offset < len(code):
        instruction = decode(code, offset)
        instructions.append(instruction)
        offset += instruction.size_bytes
    return tuple(instructions)


def _digest(*parts: bytes | memoryview) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()
