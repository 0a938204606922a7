"""The program: what the compiler emits and a machine executes."""

import dataclasses

from isa.dtypes import Region
from isa.instruction import Instruction
from isa.target import Target


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A named tensor in a DRAM region, row-major.

    `role` is "input", "output" or "tensor" (an operation's result kept for inspection);
    `operand` is the number of the NNAPI operand.
    """

    name: str
    role: str
    operand: int
    region: Region
    offset_bytes: int
    shape: tuple[int, ...]
    dtype: str
    """NumPy name of the element type, e.g. "uint8"."""
    scale: float
    zero_point: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LayerInfo:
    """What the reports need to know of one layer (one or more fused operations)."""

    index: int
    op: str
    name: str
    macs: int
    peak_cycles: int
    """Lower bound: its unavoidable work at the peak rate of its unit, cycles of one unit kind."""
    mapped_cycles: int
    """Lower bound: the same at the rate of the fastest mapping this machine has."""
    unit: str
    """Unit kind that does the layer's arithmetic: "matrix", "vector" or "dma"."""
    compulsory_bytes: int
    """Weights and biases of the layer, once."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Instructions, constants and symbols for one target.

    `layer_of[i]` is the index in `layers` of the layer that instruction i works for (for code without
    one, such as Halt, the last). `region_bytes` gives the size of every DRAM region; CONSTANTS is
    initialised with `constants`, CODE with the encoded instructions. `notes` are strings that
    describe how the program was made (preference, numerics, options), in order.
    """

    target: Target
    instructions: tuple[Instruction, ...]
    constants: bytes | memoryview
    symbols: tuple[Symbol, ...]
    layers: tuple[LayerInfo, ...]
    layer_of: tuple[int, ...]
    region_bytes: dict[Region, int]
    notes: dict[str, str]

    @property
    def code_bytes(self) -> int:
        """Size of the encoded instructions."""
        return sum(i.size_bytes for i in self.instructions)
