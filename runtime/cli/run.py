"""`npu-sim run`: one inference, and what it cost."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runtime.cli.options import DEFAULT_PREFERENCE, MODEL_FILE, RunOptions, run_options

if TYPE_CHECKING:
    from isa.program import Program
    from runtime.model import Model


@click.command(short_help="Run one inference; print cycles, energy, causes.")
@click.argument("model", type=MODEL_FILE, required=False, metavar="[MODEL.tflite|PROGRAM.npu]")
@click.option(
    "--until",
    metavar="TENSOR",
    multiple=True,
    help="Run only what this tensor, by name or number, depends on, and make it an output; repeatable.",
)
@run_options
def run(model: Path | None, until: tuple[str, ...], **arguments: Any) -> None:
    """Run one inference on the simulated NPU; print cycles, energy and their causes.

    MODEL is a .tflite file (quantised or float), or a program that `npu-sim compile` wrote. Without it, the
    embedded digits classifier: all held-out images if no option asks for a single run, else one inference.

    \b
    Examples:
      npu-sim run
      npu-sim run model.tflite --preference low_power
      npu-sim run model.tflite --input photo.npy --output answer.npz
      npu-sim run model.tflite --machine phone --set sram.kib=512 --timing-only
      npu-sim run model.tflite --json - | jq .energy_breakdown
      npu-sim run model.tflite --trace timeline.json
      npu-sim run detector.tflite --until boxes --until scores
    """
    options = RunOptions(**arguments)
    if model is None and not (until or options.asks_for_one_run):
        from runtime.cli.demonstration import demonstrate

        demonstrate(options.machine_config(), DEFAULT_PREFERENCE)
    else:
        from runtime.cli.jobs import load

        _check_files(options, model)
        run_once(load(model, until), options)


def run_once(source: "Model | Program", options: RunOptions) -> None:
    """Run a model or a program once and deliver everything the options ask for."""
    from runtime.cli.documents import json_bytes, write_npz
    from runtime.cli.jobs import execute
    from runtime.cli.output_files import output_file
    from runtime.cli.timeline import recorder, write_timeline

    _check_files(options)
    config = options.machine_config()
    paths = {"json": options.json, "trace": options.trace, "output": options.output}
    with contextlib.ExitStack() as stack:
        # Opened first: a path that cannot be written is found before the work is done.
        files = {
            name: stack.enter_context(output_file(path))
            for name, path in paths.items()
            if path is not None and not (name == "json" and options.json_to_stdout)
        }
        recording = recorder() if "trace" in files else None
        result = execute(source, config, options, [recording] if recording is not None else [])
        report = result.to_json_dict()
        if recording is not None:
            write_timeline(recording, report, config, files["trace"])
        if "output" in files:
            write_npz(result.outputs, files["output"])
        if "json" in files:
            files["json"].write(json_bytes(report))
    if options.json_to_stdout:
        click.echo(json_bytes(report), nl=False)
    else:
        _print(report)


def _check_files(options: RunOptions, model: Path | None = None) -> None:
    """Refuse an output without values, and a file that the command would write twice or read and write."""
    from runtime.cli.output_files import check_distinct

    if options.timing_only and options.output is not None:
        raise click.UsageError("--output needs values, which --timing-only does not compute.")
    written = {
        "--json": None if options.json_to_stdout else options.json,
        "--trace": options.trace,
        "--output": options.output,
    }
    inputs = {f"--input {name}": Path(name) for name in options.input_ if name.endswith(".npy")}
    check_distinct(written, {"MODEL": model, "--machine": options.machine_file, **inputs})


def _print(report: dict[str, Any]) -> None:
    """The tables of one run."""
    from runtime.cli.tables import console, energy_table, layer_table, summary_table, unit_table

    output = console()
    for table in (summary_table, layer_table, unit_table, energy_table):
        output.print(table(report))
    for fallback in report["fallbacks"]:
        name = f"{fallback['op']} (operation {fallback['operation']} “{fallback['name']}”)"
        output.print(f"{name} runs on the host: {fallback['reason']}", markup=False, soft_wrap=True)
    if "tensors" in report:
        output.print("Every operation's output was stored: a program of its own, with cycles of its own.")
