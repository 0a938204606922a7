"""Tables for people, made from the same documents that `--json` writes."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from runtime.cli.formatting import binary_bytes, percent, quantity

Report = Mapping[str, Any]
"""A result in the form of `RunResult.to_json_dict`."""

_PLAIN_WIDTH = 160
"""Columns when standard output is no terminal: enough for the widest table."""


def console() -> Console:
    """Where tables go: standard output, as wide as the terminal."""
    output = Console(highlight=False)
    if not output.is_terminal:
        output.width = _PLAIN_WIDTH
    return output


def summary_rows(report: Report) -> list[tuple[str, str]]:
    """The main numbers of one run: what and how much."""
    cycles = report["cycles"]
    return [
        ("machine", f"{report['machine']} ({report['machine_hash']})"),
        ("preference", report["preference"]),
        ("operating point", f"{report['frequency_hz'] / 1e6:.0f} MHz, {report['voltage_v']:.2f} V"),
        ("cycles", f"{cycles:,}"),
        ("latency", quantity(report["latency_s"], "s")),
        ("energy", quantity(report["energy_j"], "J")),
        ("average power", quantity(average_power_w(report), "W")),
        ("DRAM read", f"{report['dram_bytes_read']:,} B"),
        ("DRAM written", f"{report['dram_bytes_written']:,} B"),
        ("SRAM peak", binary_bytes(report["sram_peak_bytes"])),
        ("cycles ÷ lb_mapped", ratio(cycles, report["lb_mapped_cycles"])),
        ("cycles ÷ lb_peak", ratio(cycles, report["lb_peak_cycles"])),
    ]


def average_power_w(report: Report) -> float:
    """Energy over latency."""
    return float(report["energy_j"] / report["latency_s"]) if report["latency_s"] else 0.0


def ratio(value: float, bound: float) -> str:
    """A value as a multiple of its lower bound."""
    return f"{value / bound:.3f}" if bound else "-"


def side_by_side(reports: Sequence[Report], skip: Sequence[str] = ()) -> Table:
    """The main numbers of several runs, one column each."""
    table = Table(box=box.SIMPLE_HEAD)
    columns = [dict(summary_rows(report)) for report in reports]
    names = [name for name in columns[0] if name not in skip]
    table.add_column(names[0])
    for column in columns:
        table.add_column(column[names[0]], justify="right")
    for name in names[1:]:
        table.add_row(name, *(column[name] for column in columns))
    return table


def summary_table(report: Report) -> Table:
    """The main numbers of one run."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(str(report["model"]))
    table.add_column("", justify="right")
    for row in summary_rows(report):
        table.add_row(*row)
    return table


def layer_table(report: Report) -> Table:
    """Every layer: its cycles, what bound it, and its energy."""
    table = Table(box=box.SIMPLE_HEAD)
    for name, justify in (
        ("#", "right"),
        ("layer", "left"),
        ("name", "left"),
        ("cycles", "right"),
        ("share", "right"),
        ("MACs", "right"),
        ("utilization", "right"),
        ("bound by", "left"),
        ("energy", "right"),
    ):
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
    for layer in report["layers"]:
        table.add_row(
            str(layer["index"]),
            layer["op"],
            layer["name"],
            f"{layer['cycles']:,}",
            percent(layer["cycles"] / report["cycles"]) if report["cycles"] else "-",
            f"{layer['macs']:,}",
            percent(layer["utilization"]),
            layer["bound_by"],
            quantity(layer["energy_j"], "J"),
        )
    return table


def unit_table(report: Report) -> Table:
    """Every unit: its time busy, idle, and stalled by those reasons that occurred."""
    stalls = [unit["stalls"] for unit in report["units"].values()]
    reasons = [reason for reason in stalls[0] if any(counts[reason] for counts in stalls)]
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("unit")
    for name in ("busy", "idle", *(f"stall: {reason}" for reason in reasons)):
        table.add_column(name, justify="right")
    for name, unit in report["units"].items():
        counts = [unit["busy"], unit["idle"], *(unit["stalls"][reason] for reason in reasons)]
        shares = [percent(count / report["cycles"]) if report["cycles"] else "-" for count in counts]
        table.add_row(name, *shares)
    return table


def energy_table(report: Report) -> Table:
    """Energy by component, largest first."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("energy")
    table.add_column("", justify="right")
    table.add_column("share", justify="right")
    total = report["energy_j"]
    for component, joules in sorted(report["energy_breakdown"].items(), key=lambda item: (-item[1], item[0])):
        table.add_row(component, quantity(joules, "J"), percent(joules / total) if total else "-")
    return table
