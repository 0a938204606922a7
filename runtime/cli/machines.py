"""`npu-sim machines`: the presets, and what follows from a machine's numbers."""

import click

from runtime.cli.options import machine_config, set_option


@click.command(short_help="List the machines, or print one machine's peaks.")
@click.argument("name", required=False, metavar="[NAME|FILE.toml]")
@set_option
@click.option(
    "--toml",
    is_flag=True,
    help="Print the machine's TOML file, with its comments, to edit and pass to --machine; with --set one "
    "without comments.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; null stands for unlimited.")
def machines(name: str | None, set_: tuple[str, ...], toml: bool, as_json: bool) -> None:
    """List the machines, or print one machine's peaks, bandwidths and ridge points.

    The ridge point is the number of operations per DRAM byte above which a layer is limited by arithmetic
    and not by memory, that is by DRAM or by all DMA channels together. A multiply-accumulate counts as two
    operations.

    \b
    Examples:
      npu-sim machines
      npu-sim machines phone
      npu-sim machines phone --toml > mine.toml
      npu-sim machines phone --set sram.kib=512 --json
    """
    from npu_sim.config_io import machine_text, preset_names, to_toml
    from runtime.cli.documents import json_bytes
    from runtime.cli.machine_report import derived, machine_list, print_machine
    from runtime.cli.tables import console

    if name is None and (toml or set_):
        raise click.UsageError("--toml and --set need the NAME of a machine.")
    configs = [machine_config(preset, set_) for preset in ([name] if name is not None else preset_names())]
    if toml and name is not None:
        click.echo(to_toml(configs[0]) if set_ else machine_text(name), nl=False)
    elif as_json:
        documents = [derived(config) for config in configs]
        click.echo(json_bytes(documents if name is None else documents[0]), nl=False)
    elif name is None:
        console().print(machine_list(configs))
    else:
        print_machine(configs[0])
