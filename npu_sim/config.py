"""The description of one machine: immutable, plain, checked when it is built.

Every field is a number, a name or an enumeration; the TOML files in `presets/` hold the values with their
sources. Bounds on the fields keep a typing error from asking for petabytes; rules that tie several
fields together raise ValueError, which the loader turns into a ConfigError with the place.
"""

import enum
import hashlib
import math
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from isa.dtypes import DataType
from isa.instruction import REGISTRY, WORD_BYTES
from isa.target import Dataflow, Target
from npu_sim.errors import ConfigError

PREFERENCES = ("low_power", "fast_single_answer", "sustained_speed")
"""NNAPI's execution preferences; a machine names an operating point for each."""

UnitCount = Annotated[int, Meta(ge=1, le=16)]
Cycles = Annotated[int, Meta(ge=0, le=1_000_000)]
Picoseconds = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]
Picojoules = Annotated[float, Meta(ge=0.0, le=1e9)]
Milliwatts = Annotated[float, Meta(ge=0.0, le=1e6)]
Volts = Annotated[float, Meta(ge=0.1, le=5.0)]


class StationaryLoad(enum.StrEnum):
    """Whether the next fold's stationary operand loads behind the running fold."""

    SERIAL = "serial"
    HIDDEN = "hidden"


class OperatingPoint(NamedTuple):
    """A voltage and a frequency at which the machine runs."""

    name: str
    frequency_hz: int
    voltage_v: float


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of a machine file."""


class MatrixConfig(Section, frozen=True):
    """The matrix units, all alike."""

    units: UnitCount
    rows: Annotated[int, Meta(ge=1, le=1024)]
    cols: Annotated[int, Meta(ge=1, le=1024)]
    dataflow: Dataflow
    stationary_load: StationaryLoad
    accumulator_rows: Annotated[int, Meta(ge=2, le=1 << 24)]
    """Output pixels whose sums one array can hold, both ping-pong halves together."""
    output_elements_per_cycle: Annotated[int, Meta(ge=1, le=1 << 20)]
    """Sums that the output stage of one unit requantises per cycle."""


class VectorConfig(Section, frozen=True):
    """The vector units, all alike. A lane does one 8-bit MAC, one requantisation or one step per cycle."""

    units: UnitCount
    lanes: Annotated[int, Meta(ge=1, le=1 << 16)]
    float_lanes: Annotated[int, Meta(ge=0, le=1 << 16)]
    """Lanes of one unit that do a single-precision addition or multiplication per cycle; 0: no float."""
    startup_cycles: Cycles
    """Cycles of every vector instruction before its first result: parameters and pipeline."""


class SramConfig(Section, frozen=True):
    """The scratchpad shared by all units."""

    kib: Annotated[int, Meta(ge=1, le=1 << 18)]
    banks: Annotated[int, Meta(ge=1, le=1 << 22)]
    word_bytes: Annotated[int, Meta(ge=1, le=1 << 12)]
    ports: Annotated[int, Meta(ge=1, le=1 << 22)]
    """Words per cycle that the interconnect carries, whatever the number of banks."""
    buffer_cycles: Annotated[int, Meta(ge=1, le=1_000_000)]
    """How far a unit or channel runs ahead of a late memory, in cycles of its own work."""

    def __post_init__(self) -> None:
        """Reject words and banks that addresses cannot select, and a port limit above the banks."""
        for name, value in (("banks", self.banks), ("word_bytes", self.word_bytes)):
            if value & (value - 1):
                raise ValueError(f"{name} = {value} must be a power of two")
        if self.ports > self.banks:
            raise ValueError(f"ports = {self.ports} is more than banks = {self.banks} can serve")
        if self.kib * 1024 < self.banks * self.word_bytes:
            raise ValueError(
                f"kib = {self.kib} is less than one word in each bank "
                f"({self.banks} banks x {self.word_bytes} bytes)"
            )

    @property
    def total_bytes(self) -> int:
        """Size of the scratchpad."""
        return self.kib * 1024

    @property
    def bytes_per_cycle(self) -> int:
        """Most bytes that all streams together move per cycle."""
        return min(self.banks, self.ports) * self.word_bytes


class DmaConfig(Section, frozen=True):
    """The DMA channels, all alike."""

    channels: UnitCount
    bytes_per_cycle: Annotated[float, Meta(ge=1.0)]
    """Bytes that one channel moves per cycle; inf: no limit."""
    issue_cycles: Cycles
    """Cycles to read and start one descriptor."""
    outstanding_bytes: Annotated[int, Meta(ge=1, le=1 << 30)]
    """Requested and not yet answered bytes of one channel."""


class DramConfig(Section, frozen=True):
    """External memory: rate, latency, refresh share, page-sized row segments."""

    peak_bytes_per_second: Annotated[float, Meta(ge=1e6)]
    """Bytes per second on the pins; inf: DRAM costs no time."""
    burst_bytes: Annotated[int, Meta(ge=1, le=4096)]
    page_bytes: Annotated[int, Meta(ge=1, le=1 << 30)]
    row_change_ps: Picoseconds
    """Exposed time of opening the next row, after what bank interleaving hides."""
    latency_ps: Picoseconds
    """From a request to its first byte, controller and interconnect included."""
    refresh_interval_ps: Annotated[int, Meta(ge=1, le=1_000_000_000_000)]
    refresh_ps: Picoseconds
    """Time per interval in which no data moves."""

    def __post_init__(self) -> None:
        """Reject pages that bursts do not divide, and a refresh that takes the whole interval."""
        if self.page_bytes % self.burst_bytes:
            raise ValueError(
                f"page_bytes = {self.page_bytes} must be a multiple of burst_bytes = {self.burst_bytes}"
            )
        if self.refresh_ps >= self.refresh_interval_ps:
            raise ValueError(
                f"refresh_ps = {self.refresh_ps} must be less than "
                f"refresh_interval_ps = {self.refresh_interval_ps}"
            )


class FrontendConfig(Section, frozen=True):
    """Instruction fetch and dispatch; one instruction is dispatched per cycle."""

    fetch_block_bytes: Annotated[int, Meta(ge=16, le=1 << 20)]
    prefetch_blocks: Annotated[int, Meta(ge=1, le=1 << 16)]
    """Blocks fetched or on their way ahead of dispatch."""
    queue_depth: Annotated[int, Meta(ge=1, le=1 << 20)]
    """Instructions that the queue of one unit holds."""

    def __post_init__(self) -> None:
        """Reject blocks that cut instruction words, and a buffer that cannot hold the longest instruction."""
        if self.fetch_block_bytes % WORD_BYTES:
            raise ValueError(
                f"fetch_block_bytes = {self.fetch_block_bytes} must be a multiple of {WORD_BYTES}"
            )
        longest = max(cls.size_bytes for cls in REGISTRY.values())
        if (self.prefetch_blocks - 1) * self.fetch_block_bytes < longest:
            raise ValueError(
                f"prefetch_blocks = {self.prefetch_blocks} blocks of {self.fetch_block_bytes} bytes: "
                f"all but one must hold the longest instruction, {longest} bytes"
            )


class PointConfig(Section, frozen=True):
    """One operating point."""

    frequency_hz: Annotated[int, Meta(ge=1_000_000, le=100_000_000_000)]
    voltage_v: Volts


class EnergyConfig(Section, frozen=True):
    """Prices of the actions (`npu_sim.actions`) at `nominal_voltage_v`, and static power."""

    nominal_voltage_v: Volts
    mac_u8_pj: Picojoules
    array_register_byte_pj: Picojoules
    accumulator_update_pj: Picojoules
    output_requantise_pj: Picojoules
    vector_mac_u8_pj: Picojoules
    vector_requantise_pj: Picojoules
    vector_operation_pj: Picojoules
    vector_float_add_pj: Picojoules
    vector_float_multiply_pj: Picojoules
    sram_read_byte_pj: Picojoules
    sram_write_byte_pj: Picojoules
    dma_byte_pj: Picojoules
    dram_read_byte_pj: Picojoules
    dram_write_byte_pj: Picojoules
    dram_activate_pj: Picojoules
    instruction_dispatch_pj: Picojoules
    clock_pj_per_cycle: Picojoules
    leakage_mw: Milliwatts
    leakage_per_volt: Annotated[float, Meta(ge=0.0, le=100.0)]
    """Exponent a of leakage(V) = leakage_mw * V/V0 * exp(a*(V - V0))."""
    dram_background_mw: Milliwatts


class HostConfig(Section, frozen=True):
    """The processor that drives the NPU and computes what the NPU cannot."""

    dispatch_latency_us: Annotated[float, Meta(ge=0.0, le=1e6)]
    """Microseconds from the NPU's interrupt, or the call, to the first operation of a host segment."""
    giga_operations_per_second: Annotated[float, Meta(ge=1e-3)]
    """Sustained rate in 1e9 multiply-accumulates or element steps per second; inf: arithmetic is free."""
    gigabytes_per_second: Annotated[float, Meta(ge=1e-3)]
    """Sustained rate in 1e9 bytes per second at which the host reads and writes memory; inf: no limit."""
    active_power_mw: Milliwatts
    """Power of the host while it computes, its share of memory included."""


class MachineConfig(Section, frozen=True):
    """A whole machine."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    matrix: MatrixConfig
    vector: VectorConfig
    sram: SramConfig
    dma: DmaConfig
    dram: DramConfig
    frontend: FrontendConfig
    host: HostConfig
    operating_points: dict[str, PointConfig]
    preferences: dict[str, str]
    energy: EnergyConfig

    def __post_init__(self) -> None:
        """Check that names can be printed, and that every preference names an operating point."""
        for what, name in (
            ("name", self.name),
            *(("operating_points", key) for key in self.operating_points),
        ):
            if not name.isprintable():
                raise ValueError(f"{what} = {name!r} must consist of printable characters")
        if set(self.preferences) != set(PREFERENCES):
            raise ValueError(
                f"preferences has the keys {', '.join(self.preferences) or '(none)'}; "
                f"needed are exactly {', '.join(PREFERENCES)}"
            )
        for preference, point in self.preferences.items():
            if point not in self.operating_points:
                raise ValueError(
                    f"preferences.{preference} = {point!r} is no operating point; "
                    f"there are {', '.join(self.operating_points)}"
                )

    @property
    def target(self) -> Target:
        """What software can see of this machine."""
        return Target(
            matrix_units=self.matrix.units,
            array_rows=self.matrix.rows,
            array_cols=self.matrix.cols,
            dataflow=self.matrix.dataflow,
            accumulator_rows=self.matrix.accumulator_rows,
            vector_units=self.vector.units,
            dma_channels=self.dma.channels,
            sram_bytes=self.sram.total_bytes,
            alignment_bytes=max(4, min(64, self.sram.word_bytes)),
            data_types=(DataType.U8, DataType.FP32) if self.vector.float_lanes else (DataType.U8,),
        )

    @property
    def hash(self) -> str:
        """First 16 hex digits of the SHA-256 of the canonical content; equal content, equal hash."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:16]

    def operating_point(self, name: str) -> OperatingPoint:
        """The operating point of that name; ConfigError if there is none."""
        point = self.operating_points.get(name)
        if point is None:
            raise ConfigError(
                f"machine {self.name}: no operating point {name!r}; there are "
                + ", ".join(self.operating_points)
            )
        return OperatingPoint(name, point.frequency_hz, point.voltage_v)

    @property
    def peak_macs_per_cycle(self) -> int:
        """8-bit multiply-accumulates per cycle of all matrix units together."""
        return math.prod((self.matrix.units, self.matrix.rows, self.matrix.cols))
