"""The instruction base class, the queues instructions go to, and the registry.

An instruction is declared once, as a class whose fields carry their widths. Encoding, decoding, text
form, range checks and the instruction table are derived from that declaration.
"""

import dataclasses
import enum
import functools
from collections.abc import Callable
from typing import ClassVar, NamedTuple, TypeVar, cast, dataclass_transform

from isa.errors import DecodeError, FieldRangeError
from isa.fields import BitField, bit_fields, bits, pack, unpack

WORD_BYTES = 16
OPCODE_BITS = 8


class UnitKind(enum.IntEnum):
    """Kinds of execution unit. Every unit has its own in-order queue."""

    DMA = 0
    MATRIX = 1
    VECTOR = 2


class Queue(NamedTuple):
    """One in-order instruction queue: the `index`-th unit of a kind."""

    kind: UnitKind
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here

    def __str__(self) -> str:
        return f"{self.kind.name.lower()}{self.index}"


@functools.cache
def _queue(kind: int, unit_mask: int) -> Queue:
    return Queue(UnitKind(kind), (unit_mask & -unit_mask).bit_length() - 1)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """Base of all instructions.

    `unit_mask` has one bit per unit of the instruction's kind; machines so far require exactly one.
    """

    opcode: ClassVar[int]
    kind: ClassVar[UnitKind | None]
    fields: ClassVar[tuple[BitField, ...]]
    payload_bits: ClassVar[int]
    size_bytes: ClassVar[int]

    @property
    def queue(self) -> Queue | None:
        """The queue this instruction is dispatched to; None if the frontend executes it."""
        mask: int = getattr(self, "unit_mask", 0)
        kind = self.kind if self.kind is not None else getattr(self, "unit_kind", None)
        if kind is None or mask == 0:
            return None
        return _queue(kind, mask)

    def check_ranges(self) -> None:
        """Raise FieldRangeError if a field's value does not fit its width or enumeration."""
        for field in self.fields:
            value = getattr(self, field.name)
            if field.minimum <= value <= field.maximum and (not field.members or value in field.members):
                continue
            raise FieldRangeError(
                f"{type(self).__name__}.{field.name} = {value}: allowed are {field.allowed}"
                + ("" if field.members else f" ({field.width_bits} bits)")
            )

    def encode(self) -> bytes:
        """Return the instruction as `size_bytes` bytes, little endian, the opcode first."""
        self.check_ranges()
        payload = pack(self.fields, (getattr(self, f.name) for f in self.fields))
        return (payload << OPCODE_BITS | self.opcode).to_bytes(self.size_bytes, "little")


REGISTRY: dict[int, type[Instruction]] = {}

_Class = TypeVar("_Class", bound=type[Instruction])


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(bits,))
def instruction(*, opcode: int, kind: UnitKind | None) -> Callable[[_Class], _Class]:
    """Register the decorated class as an instruction with this opcode, executed by units of `kind`."""

    def register(cls: _Class) -> _Class:
        declared = cast(_Class, dataclasses.dataclass(frozen=True, slots=True, kw_only=True)(cls))
        if opcode in REGISTRY:
            raise ValueError(f"opcode {opcode} of {cls.__name__} is {REGISTRY[opcode].__name__}'s")
        if not 0 <= opcode < 1 << OPCODE_BITS:
            raise ValueError(f"opcode {opcode} of {cls.__name__} does not fit {OPCODE_BITS} bits")
        declared.opcode = opcode
        declared.kind = kind
        declared.fields = bit_fields(declared)
        declared.payload_bits = sum(f.width_bits for f in declared.fields)
        declared.size_bytes = -(-(OPCODE_BITS + declared.payload_bits) // (8 * WORD_BYTES)) * WORD_BYTES
        REGISTRY[opcode] = declared
        return declared

    return register


def decode(data: bytes | memoryview, offset: int = 0) -> Instruction:
    """Decode the instruction at `offset`.

    Raises DecodeError for an unknown opcode, a truncated instruction, a field outside its
    enumeration, or set bits behind the last field.
    """
    if offset >= len(data):
        raise DecodeError(f"offset {offset}: the code ends here, an instruction was expected")
    opcode = data[offset]
    cls = REGISTRY.get(opcode)
    if cls is None:
        raise DecodeError(f"offset {offset}: unknown opcode {opcode}")
    raw = bytes(data[offset : offset + cls.size_bytes])
    if len(raw) < cls.size_bytes:
        raise DecodeError(
            f"offset {offset}: {cls.__name__} has {cls.size_bytes} bytes, only {len(raw)} are left"
        )
    word = int.from_bytes(raw, "little") >> OPCODE_BITS
    if word.bit_length() > cls.payload_bits:
        raise DecodeError(f"offset {offset}: {cls.__name__} has bits set behind its last field")
    values: dict[str, int] = {}
    for field, value in zip(cls.fields, unpack(cls.fields, word), strict=True):
        if field.members and value not in field.members:
            raise DecodeError(
                f"offset {offset}: {cls.__name__}.{field.name} = {value}: allowed are {field.allowed}"
            )
        values[field.name] = field.members[value] if field.members else value
    return cls(**values)
