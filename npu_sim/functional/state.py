"""The architectural state: every byte that a program can see."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from isa.dtypes import Region
from isa.program import Program, Symbol
from isa.target import Dataflow, Target
from npu_sim.errors import InputError, MachineError

ByteArray = npt.NDArray[np.uint8]


def view(
    memory: npt.NDArray[Any],
    name: str,
    address: int,
    shape: Sequence[int],
    strides: Sequence[int],
    dtype: npt.DTypeLike = np.uint8,
) -> npt.NDArray[Any]:
    """Look at a memory through strides, without a copy; `address` and `strides` are in bytes.

    Raises MachineError if one of its bytes lies outside the memory.
    """
    try:
        return np.ndarray(shape, dtype, memory, address, strides)  # checks every bound
    except (TypeError, ValueError):
        raise MachineError(
            f"access to {name} at address {address}, shape {list(shape)}, strides {list(strides)} bytes:"
            f" the memory has {memory.nbytes} bytes"
        ) from None


def _filled(region: Region, size_bytes: int, content: bytes | memoryview) -> ByteArray:
    if len(content) > size_bytes:
        raise MachineError(f"region {region.name} has {size_bytes} bytes, its content has {len(content)}")
    if content and len(content) == size_bytes:
        return np.frombuffer(content, np.uint8)
    memory = np.zeros(size_bytes, np.uint8)
    memory[: len(content)] = np.frombuffer(content, np.uint8)
    return memory


class MachineState:
    """SRAM, DRAM regions and accumulators of a machine that is about to run a program.

    `sram` and each of `regions` are uint8 arrays. CONSTANTS and CODE are initialised from the program,
    read-only and without a copy if its bytes fill the region; everything else is zero.
    """

    def __init__(self, program: Program) -> None:
        self.target: Target = program.target
        self.sram: ByteArray = np.zeros(program.target.sram_bytes, np.uint8)
        code = b"".join(instruction.encode() for instruction in program.instructions)
        contents = {Region.CONSTANTS: program.constants, Region.CODE: code}
        if not program.region_bytes.get(Region.CODE, 0):
            del contents[Region.CODE]  # a program need not be able to read itself
        self.regions: dict[Region, ByteArray] = {
            region: _filled(region, program.region_bytes.get(region, 0), contents.get(region, b""))
            for region in Region
        }
        self._symbols = program.symbols
        self._accumulators: dict[int, npt.NDArray[np.int32]] = {}

    def sram_view(
        self, address: int, shape: Sequence[int], strides: Sequence[int], dtype: npt.DTypeLike = np.uint8
    ) -> npt.NDArray[Any]:
        """Look at SRAM through strides, as `view` does."""
        return view(self.sram, "SRAM", address, shape, strides, dtype)

    def accumulator_rows(
        self, unit: int, first_row: int, pixels: int, channels: int
    ) -> npt.NDArray[np.int32]:
        """Look at a matrix unit's sums of `pixels` x `channels` from a row on, int32, without a copy.

        A row has one int32 per array column. The array of an output-stationary unit holds its sums itself,
        one row of them per array row. Raises MachineError outside the accumulators.
        """
        target = self.target
        output_stationary = target.dataflow is Dataflow.OUTPUT_STATIONARY
        rows = target.array_rows if output_stationary else target.accumulator_rows
        if not 0 <= unit < target.matrix_units:
            raise MachineError(f"matrix unit {unit}: the machine has {target.matrix_units}")
        if first_row + pixels > rows or channels > target.array_cols:
            raise MachineError(
                f"accumulators of matrix unit {unit}: rows {first_row} … {first_row + pixels - 1}"
                f" of {channels} channels: there are {rows} rows of {target.array_cols}"
            )
        if unit not in self._accumulators:
            self._accumulators[unit] = np.zeros((rows, target.array_cols), np.int32)
        return self._accumulators[unit][first_row : first_row + pixels, :channels]

    def symbols(self, role: str) -> tuple[Symbol, ...]:
        """List the program's symbols of one role, in order."""
        return tuple(s for s in self._symbols if s.role == role)

    def bind_inputs(self, inputs: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write an array to each input symbol.

        Raises InputError for a missing or unknown name, or another shape or type than declared.
        """
        declared = {s.name: s for s in self.symbols("input")}
        for name in inputs.keys() - declared.keys():
            raise InputError(f"input {name!r}: the program's inputs are {sorted(declared)}")
        for name, symbol in declared.items():
            if name not in inputs:
                raise InputError(f"input {name!r} is missing: {sorted(inputs)} were given")
            array = np.asarray(inputs[name])
            if array.shape != symbol.shape or array.dtype != np.dtype(symbol.dtype):
                raise InputError(
                    f"input {name!r} is {array.dtype}{list(array.shape)}, the program takes"
                    f" {symbol.dtype}{list(symbol.shape)}"
                )
            self._tensor(symbol)[...] = array

    def read(self, symbol: Symbol) -> npt.NDArray[Any]:
        """Copy the tensor at a symbol; the result has the symbol's shape and type."""
        return self._tensor(symbol).copy()

    def _tensor(self, symbol: Symbol) -> npt.NDArray[Any]:
        dtype = np.dtype(symbol.dtype)
        elements = int(np.prod(symbol.shape, dtype=np.int64))
        flat = view(
            self.regions[symbol.region],
            f"region {symbol.region.name} (tensor {symbol.name!r})",
            symbol.offset_bytes,
            (elements,),
            (dtype.itemsize,),
            dtype,
        )
        return flat.reshape(symbol.shape)
