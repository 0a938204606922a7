"""Bit fields: the metadata from which encoding, decoding and range checks are derived."""

import dataclasses
from collections.abc import Iterable
from enum import IntEnum
from typing import Any

_METADATA_KEY = "bits"


@dataclasses.dataclass(frozen=True, slots=True)
class BitField:
    """One field of an instruction: its name, width and meaning, and what follows from them."""

    name: str
    width_bits: int
    signed: bool
    enum: type[IntEnum] | None
    doc: str
    default: Any = dataclasses.MISSING
    minimum: int = dataclasses.field(init=False)
    """Smallest encodable value."""
    maximum: int = dataclasses.field(init=False)
    """Largest encodable value."""
    mask: int = dataclasses.field(init=False)
    """`width_bits` ones."""
    members: dict[int, IntEnum] = dataclasses.field(init=False, hash=False, compare=False, repr=False)
    """The values of `enum` by code; empty without one."""

    def __post_init__(self) -> None:
        magnitude_bits = self.width_bits - self.signed
        object.__setattr__(self, "minimum", -(1 << magnitude_bits) if self.signed else 0)
        object.__setattr__(self, "maximum", (1 << magnitude_bits) - 1)
        object.__setattr__(self, "mask", (1 << self.width_bits) - 1)
        object.__setattr__(self, "members", {m.value: m for m in self.enum or ()})

    @property
    def required(self) -> bool:
        """Whether the field has no default."""
        return self.default is dataclasses.MISSING

    @property
    def allowed(self) -> str:
        """The allowed values, as error messages and the instruction table name them."""
        if self.members:
            return ", ".join(f"{m.name} ({m.value})" for m in self.members.values())
        return f"{self.minimum} … {self.maximum}"


def bits(
    width_bits: int,
    doc: str,
    *,
    signed: bool = False,
    enum: type[IntEnum] | None = None,
    default: Any = dataclasses.MISSING,
) -> Any:
    """Declare an instruction field of `width_bits` bits; `enum` restricts it to an IntEnum's values."""
    return dataclasses.field(default=default, metadata={_METADATA_KEY: (width_bits, signed, enum, doc)})


def bit_fields(cls: type) -> tuple[BitField, ...]:
    """Fields of an instruction class in encoding order."""
    declared = []
    for field in dataclasses.fields(cls):
        width_bits, signed, enum, doc = field.metadata[_METADATA_KEY]
        declared.append(BitField(field.name, width_bits, signed, enum, doc, field.default))
    return tuple(declared)


def pack(fields: Iterable[BitField], values: Iterable[int]) -> int:
    """Concatenate in-range values, first field in the least significant bits."""
    word, shift = 0, 0
    for field, value in zip(fields, values, strict=True):
        word |= (int(value) & field.mask) << shift
        shift += field.width_bits
    return word


def unpack(fields: Iterable[BitField], word: int) -> list[int]:
    """Split a packed word into field values; inverse of `pack`."""
    values = []
    for field in fields:
        value = word & field.mask
        if value > field.maximum:
            value -= field.mask + 1
        values.append(value)
        word >>= field.width_bits
    return values
