"""`npu-sim compile` and `npu-sim disasm`: programs as files and as text."""

from pathlib import Path

import click

from runtime.cli.options import (
    MODEL_FILE,
    OUTPUT_FILE,
    keep_tensors_option,
    machine_config,
    machine_options,
    numerics_option,
    preference_option,
)


@click.command("compile", short_help="Compile a network to a program file.")
@click.argument("model", type=MODEL_FILE, required=False)
@click.option(
    "-o", "--output", type=OUTPUT_FILE, metavar="FILE.npu", required=True, help="Where to write the program."
)
@machine_options
@preference_option
@numerics_option
@keep_tensors_option
def compile_(
    model: Path | None,
    output: Path,
    machine: str,
    set_: tuple[str, ...],
    preference: str | None,
    numerics: str | None,
    keep_tensors: bool,
) -> None:
    """Compile MODEL to a program for one machine.

    The program holds instructions, constants and the names of inputs and outputs; `npu-sim run FILE.npu` runs
    it on every machine whose software sees the same units and memories. Without MODEL, the embedded digits
    classifier.

    \b
    Examples:
      npu-sim compile model.tflite -o model.npu
      npu-sim compile model.tflite -o small.npu --machine tiny --preference low_power
    """
    from isa.encoding import encode_program
    from runtime.cli.formatting import binary_bytes
    from runtime.cli.jobs import compiled, load_model, program_of
    from runtime.cli.output_files import check_distinct, output_file

    machine_file = Path(machine) if machine.endswith(".toml") else None
    check_distinct({"--output": output}, {"MODEL": model, "--machine": machine_file})
    config = machine_config(machine, set_)
    with output_file(output) as stream:
        compilation = compiled(load_model(model), config, preference, numerics, keep_tensors=keep_tensors)
        program = program_of(compilation)
        stream.write(encode_program(program))
    click.echo(
        f"{output}: {len(program.layers)} layers, {len(program.instructions):,} instructions "
        f"({binary_bytes(program.code_bytes)}), {binary_bytes(len(program.constants))} of constants, "
        f"for {config.name}"
    )


@click.command(short_help="Print a program file as text.")
@click.argument("program", type=MODEL_FILE, metavar="PROGRAM.npu")
def disasm(program: Path) -> None:
    """Print PROGRAM as text: one instruction per line, with its layer.

    \b
    Example:
      npu-sim disasm model.npu | less
    """
    from isa.assembly import disassemble
    from isa.encoding import load_program

    click.echo(disassemble(load_program(program)), nl=False)
