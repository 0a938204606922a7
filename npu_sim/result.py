"""What a run returns. All numbers are of simulated time and energy; cycles are NPU clock cycles."""

import dataclasses
import enum
from typing import Any

import numpy.typing as npt

from npu_sim.events import StallReason


class BoundBy(enum.StrEnum):
    """What limited a layer in its window, from the completion of the layer before to its own."""

    MATRIX = "matrix"
    """A matrix unit was busy most."""
    VECTOR = "vector"
    """A vector unit was busy most."""
    DMA = "dma"
    """A DMA channel was busy most: issue, its own rate, its window, or the SRAM banks it walks through."""
    DRAM = "dram"
    """DRAM was busy most."""
    SRAM = "sram"
    """The SRAM ports were busy most."""
    DISPATCH = "dispatch"
    """Nothing was busy half of the time, and a unit of the layer's kind had no instruction half of it."""
    LATENCY = "latency"
    """Nothing was busy half of the time: dependences, memory latency, pipeline fill and drain."""
    HOST = "host"
    """The host computed it."""
    OVERLAPPED = "overlapped"
    """The window is empty: the layer was done before the one in front of it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """One layer.

    `cycles` = `end_cycle` - completion of the layer before, so that they sum to the run's cycles;
    `start_cycle` is when a unit of the layer's kind began its first instruction. `utilization` = macs / (peak
    MACs per cycle of all units of the layer's kind x (end_cycle - start_cycle)), between 0 and 1, 0 for DMA.
    """

    index: int
    op: str
    name: str
    unit: str
    cycles: int
    start_cycle: int
    end_cycle: int
    macs: int
    utilization: float
    bound_by: BoundBy
    energy_aj: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UnitResult:
    """Where one unit's cycles went: `busy` + all stalls + `idle` = cycles of the run."""

    busy: int
    stalls: dict[StallReason, int]
    idle: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SimResult:
    """One run of one program.

    `energy_aj` is in attojoules (1e-18 J) and equals the sums of `energy_breakdown_aj` and of the layers'
    energies. `dram_bytes_read` and `dram_bytes_written` count whole bursts; `dram_bytes_fetched` of the bytes
    read are code. `sram_peak_bytes` is the end of the highest address used. `matrix_cycles` sums the cycles
    that the arrays were occupied, stalls aside. `outputs` maps names to the arrays found in simulated DRAM
    after the last store, `tensors` maps operand numbers; both are empty in a timing-only run.
    """

    cycles: int
    frequency_hz: int
    voltage_v: float
    latency_s: float
    energy_aj: int
    energy_breakdown_aj: dict[str, int]
    layers: tuple[LayerResult, ...]
    units: dict[str, UnitResult]
    dram_bytes_read: int
    dram_bytes_written: int
    dram_bytes_fetched: int
    sram_peak_bytes: int
    matrix_cycles: int
    outputs: dict[str, npt.NDArray[Any]]
    tensors: dict[int, npt.NDArray[Any]]
