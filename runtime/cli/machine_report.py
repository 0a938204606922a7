"""What follows from the numbers of a machine, as a document and as tables."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from rich import box
from rich.table import Table

from npu_sim.config import MachineConfig
from npu_sim.cost import MachineCost
from runtime.cli.formatting import binary_bytes, quantity
from runtime.cli.tables import console

_SUSTAINED_SAMPLE_BYTES = 1 << 30
"""Long enough that a transfer's start does not show in its rate."""

_OPERATIONS_PER_MAC = 2

_POINT_ROWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "operating point": lambda point: str(point["operating_point"]),
    "frequency": lambda point: quantity(point["frequency_hz"], "Hz"),
    "voltage": lambda point: f"{point['voltage_v']:.3f} V",
    "matrix peak": lambda point: quantity(point["matrix_peak_ops_per_s"], "op/s"),
    "vector peak": lambda point: quantity(point["vector_peak_ops_per_s"], "op/s"),
    "SRAM bandwidth": lambda point: _rate(point["sram_bytes_per_s"]),
    "DMA bandwidth": lambda point: _rate(point["dma_bytes_per_s"]),
    "DRAM bandwidth, sustained": lambda point: _rate(point["dram_sustained_bytes_per_s"]),
    "ridge point": lambda point: f"{point['ridge_ops_per_byte']:.1f} op/B",
}


def derived(config: MachineConfig) -> dict[str, Any]:
    """What follows from a machine's numbers, ready for JSON; None stands for unlimited.

    Operations per second count a multiply-accumulate as two. Sustained DRAM bandwidth is the rate of a long
    sequential transfer; the ridge point is the matrix peak divided by it or by the bandwidth of all DMA
    channels together, whichever is lower. There is one entry of `operating_points` per preference.
    """
    return {
        "machine": config.name,
        "machine_hash": config.hash,
        "matrix_units": config.matrix.units,
        "matrix_rows": config.matrix.rows,
        "matrix_cols": config.matrix.cols,
        "dataflow": str(config.matrix.dataflow),
        "stationary_load": str(config.matrix.stationary_load),
        "peak_macs_per_cycle": config.peak_macs_per_cycle,
        "vector_lanes": config.vector.units * config.vector.lanes,
        "vector_float_lanes": config.vector.units * config.vector.float_lanes,
        "sram_bytes": config.sram.total_bytes,
        "dram_peak_bytes_per_s": _finite(config.dram.peak_bytes_per_second),
        "operating_points": [_at_preference(config, preference) for preference in config.preferences],
    }


def _at_preference(config: MachineConfig, preference: str) -> dict[str, Any]:
    """Rates at the operating point of a preference."""
    point = config.operating_point(config.preferences[preference])
    cycles = MachineCost(config, point).dram_cycles(_SUSTAINED_SAMPLE_BYTES)
    sustained = _SUSTAINED_SAMPLE_BYTES * point.frequency_hz / cycles if cycles else math.inf
    matrix_peak = _OPERATIONS_PER_MAC * config.peak_macs_per_cycle * point.frequency_hz
    lanes = config.vector.units * config.vector.lanes
    dma = config.dma.channels * config.dma.bytes_per_cycle * point.frequency_hz
    return {
        "preference": preference,
        "operating_point": point.name,
        "frequency_hz": point.frequency_hz,
        "voltage_v": point.voltage_v,
        "matrix_peak_ops_per_s": matrix_peak,
        "vector_peak_ops_per_s": _OPERATIONS_PER_MAC * lanes * point.frequency_hz,
        "sram_bytes_per_s": _finite(config.sram.bytes_per_cycle * point.frequency_hz),
        "dma_bytes_per_s": _finite(dma),
        "dram_sustained_bytes_per_s": _finite(sustained),
        "ridge_ops_per_byte": matrix_peak / min(dma, sustained),
    }


def machine_list(configs: Sequence[MachineConfig]) -> Table:
    """One line per machine."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("machine", "matrix units", "vector lanes", "SRAM", "DRAM peak", "fastest peak"):
        table.add_column(column)
    for document in map(derived, configs):
        table.add_row(
            document["machine"],
            _array(document),
            str(document["vector_lanes"]),
            binary_bytes(document["sram_bytes"]),
            _rate(document["dram_peak_bytes_per_s"]),
            quantity(max(point["matrix_peak_ops_per_s"] for point in document["operating_points"]), "op/s"),
        )
    return table


def print_machine(config: MachineConfig) -> None:
    """One machine: what it is, then what the operating point of each preference gives."""
    document, vector = derived(config), config.vector
    output = console()
    sram_rate = _per_cycle(config.sram.bytes_per_cycle)
    output.print(f"{config.name} ({config.hash})")
    output.print(f"  matrix  {_array(document)}, {document['dataflow']}, {document['stationary_load']} load")
    output.print(f"          {document['peak_macs_per_cycle']:,} MACs per cycle")
    output.print(f"  vector  {vector.units} × {vector.lanes} lanes, {vector.float_lanes} float lanes")
    output.print(f"  SRAM    {binary_bytes(document['sram_bytes'])}, {sram_rate}")
    output.print(f"  DMA     {config.dma.channels} × {_per_cycle(config.dma.bytes_per_cycle)}")
    output.print(f"  DRAM    {_rate(document['dram_peak_bytes_per_s'])} peak")
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("preference")
    for point in document["operating_points"]:
        table.add_column(point["preference"], justify="right")
    for name, cell in _POINT_ROWS.items():
        table.add_row(name, *(cell(point) for point in document["operating_points"]))
    output.print(table)


def _array(document: dict[str, Any]) -> str:
    """Number and size of the matrix units."""
    return f"{document['matrix_units']} × {document['matrix_rows']}x{document['matrix_cols']}"


def _finite(value: float) -> float | None:
    """The value, or None if there is no limit."""
    return None if math.isinf(value) else value


def _rate(bytes_per_s: float | None) -> str:
    """A bandwidth."""
    return "unlimited" if bytes_per_s is None else quantity(bytes_per_s, "B/s")


def _per_cycle(bytes_per_cycle: float) -> str:
    """Bytes per cycle."""
    return f"{'unlimited' if math.isinf(bytes_per_cycle) else f'{bytes_per_cycle:,.0f}'} bytes per cycle"
