"""`npu-sim compare`: one network on several machines."""

from pathlib import Path

import click

from runtime.cli.options import (
    DEFAULT_PREFERENCE,
    JSON_FILE,
    MODEL_FILE,
    PREFERENCES,
    machine_config,
    numerics_option,
    set_option,
)


@click.command(short_help="Run a network on several machines, side by side.")
@click.argument("model", type=MODEL_FILE, required=False)
@click.option(
    "--machine", "machines", metavar="NAME|FILE.toml", multiple=True, help="Repeat; default: every preset."
)
@set_option
@click.option(
    "--preference",
    "preferences",
    type=click.Choice(PREFERENCES),
    multiple=True,
    help=f"Repeat to compare preferences too. [default: {DEFAULT_PREFERENCE}]",
)
@numerics_option
@click.option("--json", type=JSON_FILE, metavar="FILE|-", help="Write all results as JSON.")
def compare(
    model: Path | None,
    machines: tuple[str, ...],
    set_: tuple[str, ...],
    preferences: tuple[str, ...],
    numerics: str | None,
    json: Path | None,
) -> None:
    """Run MODEL on several machines and print the results side by side.

    Only time and energy are computed; values are the same everywhere. An override by --set holds for every
    machine. Without MODEL, the embedded digits classifier.

    \b
    Examples:
      npu-sim compare model.tflite --machine phone --machine tiny
      npu-sim compare --machine phone --preference low_power --preference sustained_speed
    """
    from npu_sim.config_io import preset_names
    from runtime.cli.documents import write_json
    from runtime.cli.jobs import compiled, load_model
    from runtime.cli.progress import ProgressBar
    from runtime.cli.tables import console, side_by_side
    from runtime.runner import run_compilation

    configs = [machine_config(name, set_) for name in machines or preset_names()]
    chosen = preferences or (DEFAULT_PREFERENCE,)
    loaded = load_model(model)
    reports = []
    with ProgressBar("simulating", len(configs) * len(chosen)) as progress:
        for config in configs:
            for preference in chosen:
                compilation = compiled(loaded, config, preference, numerics, keep_tensors=False)
                reports.append(run_compilation(compilation, timing_only=True).to_json_dict())
                progress.advance()
    if json is not None:
        write_json({"runs": reports}, json)
    if json != Path("-"):
        console().print(side_by_side(reports))
