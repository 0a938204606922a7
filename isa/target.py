"""What software can see of a machine: shapes, memories, alignment and data types.

Latencies, queue depths, DRAM timing and energy are the simulator's configuration, which contains a
target.
"""

import dataclasses
import enum

from isa.dtypes import DataType


class Dataflow(enum.StrEnum):
    """Which operand stays in the processing elements of a matrix unit."""

    WEIGHT_STATIONARY = "weight_stationary"
    OUTPUT_STATIONARY = "output_stationary"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Software-visible limits of one machine.

    A weight-stationary array unrolls products (taps x input channels) over its rows and output channels
    over its columns; an output-stationary one unrolls output pixels over rows.
    """

    matrix_units: int
    array_rows: int
    array_cols: int
    dataflow: Dataflow
    accumulator_rows: int
    """Output pixels whose int32 sums one weight-stationary array can hold (all ping-pong halves)."""
    vector_units: int
    dma_channels: int
    sram_bytes: int
    alignment_bytes: int
    """SRAM and DRAM addresses of DMA transfers' first bytes, and of bias and table operands."""
    data_types: tuple[DataType, ...] = (DataType.U8,)

    @property
    def max_tile_pixels(self) -> int | None:
        """Most output pixels of one Convolve that starts and finishes its sums; None: no limit."""
        if self.dataflow is Dataflow.OUTPUT_STATIONARY:
            return None
        return max(1, self.accumulator_rows // 2)

    @property
    def max_partial_pixels(self) -> int:
        """Most output pixels of a Convolve that leaves its sums to the next one."""
        if self.dataflow is Dataflow.OUTPUT_STATIONARY:
            return self.array_rows
        return max(1, self.accumulator_rows // 2)
