"""`npu-sim ops`: what operations there are, and what each of them takes and costs."""

import click

from runtime.cli.failures import Failure


@click.command(short_help="Print the documentation of the operations.")
@click.argument("name", required=False)
def ops(name: str | None) -> None:
    """Print the documentation of the NNAPI operation NAME, or of all, as Markdown.

    Operands with their types and ranks, limits, where the operation runs and why not on the NPU, and the
    formula of its cycles.

    \b
    Examples:
      npu-sim ops
      npu-sim ops CONV_2D
    """
    from compiler.operation import REGISTRY
    from compiler.operation_table import operation_section, operation_table

    if name is None:
        click.echo(operation_table(), nl=False)
        return
    codes = {code.name: code for code in sorted(REGISTRY)}
    if name.upper() not in codes:
        raise Failure(f"{name}: unknown operation; must be one of {', '.join(codes)}")
    click.echo(operation_section(codes[name.upper()]), nl=False)
