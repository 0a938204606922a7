"""The vector unit: rows of a table picked by int32 numbers or by keys, and which keys there are.

Lookups and keys are contiguous int32. Keys ascend; the place of a lookup is that of the first key that is
not less, found by halving the range of keys until it is empty. The time does not depend on the values.
"""

import dataclasses

from isa.fields import bits
from isa.instruction import Instruction, UnitKind, instruction


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RowPick(Instruction):
    """One output row of `row_bytes` bytes for each lookup, a copy of one of `value_rows` rows."""

    unit_mask: int = bits(16, "units, one bit each")
    lookups: int = bits(24, "lookups")
    lookup_address: int = bits(32, "SRAM address of the first lookup")
    value_address: int = bits(32, "SRAM address of row 0 of the table")
    value_rows: int = bits(32, "rows of the table")
    value_row_pitch: int = bits(32, "bytes from one row of the table to the next")
    row_bytes: int = bits(32, "bytes of a row")
    output_address: int = bits(32, "SRAM address of the first output row")
    output_row_pitch: int = bits(32, "bytes from one output row to the next")

    @property
    def output_bytes(self) -> int:
        """Bytes written."""
        return self.lookups * self.row_bytes


@instruction(opcode=0x38, kind=UnitKind.VECTOR)
class Gather(RowPick):
    """Copy the rows whose numbers the lookups are; a number outside the table is an error at run time."""


@instruction(opcode=0x39, kind=UnitKind.VECTOR)
class HashGather(RowPick):
    """Copy the rows whose keys equal the lookups; zero bytes where none does.

    Row r belongs to key r, so there are `value_rows` keys. Of equal keys the first counts.
    """

    key_address: int = bits(32, "SRAM address of the first key")

    @property
    def keys(self) -> int:
        """Number of keys."""
        return self.value_rows


@instruction(opcode=0x3A, kind=UnitKind.VECTOR)
class HashHits(Instruction):
    """Write a byte for each lookup: 1 if a key equals it, else 0.

    Keys that descend are an error at run time.
    """

    unit_mask: int = bits(16, "units, one bit each")
    lookups: int = bits(24, "lookups")
    lookup_address: int = bits(32, "SRAM address of the first lookup")
    keys: int = bits(32, "number of keys")
    key_address: int = bits(32, "SRAM address of the first key")
    output_address: int = bits(32, "SRAM address of the first output byte")
