"""`npu-sim bench`: what the reference networks cost, in this program and on the simulated machines."""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from runtime.cli.failures import Failure
from runtime.cli.options import JSON_FILE, MODEL_FILE

_NETWORKS = (
    "coral_mobilenet_v1_0.25_128_quant",
    "coral_mobilenet_v1_0.5_160_quant",
    "coral_mobilenet_v2_1.0_224_quant",
    "coral_mobilenet_v2_1.0_224_inat_bird_quant",
)
_DEFAULT_FOLDER = Path("../shared/models")
_KIB_PER_MIB = 1024


class Usage(NamedTuple):
    """What one process took and printed; CPU seconds are user and system, the peak is resident memory."""

    cpu_s: float
    peak_kib: int
    stdout: bytes


@click.command(short_help="Measure networks: CPU seconds, memory, cycles.")
@click.argument("models", nargs=-1, type=MODEL_FILE)
@click.option(
    "--machine", "machines", multiple=True, metavar="NAME|FILE.toml", help="[default: every preset]"
)
@click.option("--json", type=JSON_FILE, metavar="FILE|-", help="Write the numbers as JSON.")
def bench(models: tuple[Path, ...], machines: tuple[str, ...], json: Path | None) -> None:
    """Measure networks: CPU seconds, memory, simulated cycles, distance from the bounds.

    Each number comes from a whole process of its own, started as a user would start it. Without MODELS, the
    four reference networks of ../shared/models.
    """
    from npu_sim.config_io import load_machine, preset_names
    from runtime.cli.progress import ProgressBar

    files = models or _reference_networks()
    names = machines or tuple(preset_names())
    for name in names:
        load_machine(name)
    rows = []
    with ProgressBar("measuring", len(files) * len(names)) as progress:
        for file in files:
            for name in names:
                rows.append(_measure(file, name))
                progress.advance()
    _report(rows, json)


def _reference_networks() -> tuple[Path, ...]:
    """The four networks, from the folder beside the repository."""
    files = tuple(_DEFAULT_FOLDER / f"{name}.tflite" for name in _NETWORKS)
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise Failure(f"{missing[0]} does not exist; name the MODELS to measure")
    return files


def _measure(model: Path, machine: str) -> dict[str, Any]:
    """Compile, time without values, and run with values one network on one machine."""
    from npu_sim.config_io import load_machine

    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "program.npu")
        compiled = _timed("compile", str(model), "--machine", machine, "-o", program)
    timing_only = _timed("run", str(model), "--machine", machine, "--timing-only", "--json", "-")
    full = _timed("run", str(model), "--machine", machine, "--json", "-")
    report = json.loads(full.stdout)
    macs = sum(layer["macs"] for layer in report["layers"])
    peak_macs = report["cycles"] * load_machine(machine).peak_macs_per_cycle
    return {
        "model": model.stem,
        "machine": report["machine"],
        "machine_hash": report["machine_hash"],
        "compile_cpu_s": compiled.cpu_s,
        "timing_only_cpu_s": timing_only.cpu_s,
        "full_cpu_s": full.cpu_s,
        "peak_mib": max(usage.peak_kib for usage in (compiled, timing_only, full)) / _KIB_PER_MIB,
        "cycles": report["cycles"],
        "latency_s": report["latency_s"],
        "energy_j": report["energy_j"],
        "utilization": macs / peak_macs,
        "cycles_per_lb_mapped": report["cycles"] / report["lb_mapped_cycles"],
        "cycles_per_lb_peak": report["cycles"] / report["lb_peak_cycles"],
    }


def _timed(*arguments: str) -> Usage:
    """Run this program with those arguments in a process of its own; Failure if it fails."""
    command = [sys.executable, "-m", "runtime.cli.main", *arguments]
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        actions = [(os.POSIX_SPAWN_DUP2, stdout.fileno(), 1), (os.POSIX_SPAWN_DUP2, stderr.fileno(), 2)]
        process = os.posix_spawn(sys.executable, command, os.environ, file_actions=actions)
        try:
            _, status, usage = os.wait4(process, 0)
        except BaseException:
            os.kill(process, signal.SIGTERM)
            raise
        stdout.seek(0)
        stderr.seek(0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise Failure(f"{' '.join(arguments)}: {stderr.read().decode().strip()}")
        return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, stdout.read())


def _report(rows: list[dict[str, Any]], destination: Path | None) -> None:
    """Print the table, or JSON."""
    from runtime.cli.documents import write_json

    if destination is not None:
        write_json({"benchmarks": rows}, destination)
    if destination != Path("-"):
        _print_table(rows)


def _print_table(rows: list[dict[str, Any]]) -> None:
    """One line per network and machine."""
    from rich import box
    from rich.table import Table

    from runtime.cli.tables import console

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("network")
    table.add_column("machine")
    for name in (
        "compile",
        "timing only",
        "full",
        "memory",
        "cycles",
        "latency",
        "util.",
        "÷ lb_mapped",
        "÷ lb_peak",
    ):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*_cells(row))
    console().print(table)


def _cells(row: dict[str, Any]) -> Iterator[str]:
    """The cells of one line."""
    from runtime.cli.formatting import percent, quantity

    yield row["model"]
    yield row["machine"]
    for key in ("compile_cpu_s", "timing_only_cpu_s", "full_cpu_s"):
        yield f"{row[key]:.2f} s"
    yield f"{row['peak_mib']:.0f} MiB"
    yield f"{row['cycles']:,}"
    yield quantity(row["latency_s"], "s")
    yield percent(row["utilization"])
    yield f"{row['cycles_per_lb_mapped']:.3f}"
    yield f"{row['cycles_per_lb_peak']:.3f}"
