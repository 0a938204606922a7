"""DMA: strided copies between a DRAM region and SRAM, up to four dimensions.

Dimension 0 is a run of contiguous bytes on both sides; dimensions 1 to 3 repeat it `count` times at
the given strides (bytes).
"""

import dataclasses

from isa.dtypes import Region
from isa.fields import bits
from isa.instruction import Instruction, UnitKind, instruction


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Instruction):
    """What loads and stores share."""

    unit_mask: int = bits(16, "DMA channels, one bit each")
    region: Region = bits(4, "DRAM region", enum=Region)
    dram_offset: int = bits(40, "offset of the first byte in the region")
    dram_stride1: int = bits(32, "DRAM stride of dimension 1, bytes", default=0)
    dram_stride2: int = bits(32, "DRAM stride of dimension 2, bytes", default=0)
    dram_stride3: int = bits(32, "DRAM stride of dimension 3, bytes", default=0)
    sram_address: int = bits(32, "SRAM address of the first byte")
    sram_stride1: int = bits(32, "SRAM stride of dimension 1, bytes", default=0)
    sram_stride2: int = bits(32, "SRAM stride of dimension 2, bytes", default=0)
    sram_stride3: int = bits(32, "SRAM stride of dimension 3, bytes", default=0)
    run_bytes: int = bits(32, "contiguous bytes of dimension 0")
    count1: int = bits(20, "repetitions of dimension 1", default=1)
    count2: int = bits(20, "repetitions of dimension 2", default=1)
    count3: int = bits(20, "repetitions of dimension 3", default=1)

    @property
    def total_bytes(self) -> int:
        """Bytes moved."""
        return self.run_bytes * self.count1 * self.count2 * self.count3


@instruction(opcode=0x10, kind=UnitKind.DMA)
class Load(Transfer):
    """Copy from DRAM to SRAM."""


@instruction(opcode=0x11, kind=UnitKind.DMA)
class Store(Transfer):
    """Copy from SRAM to DRAM."""
