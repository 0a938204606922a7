"""`npu-sim gemm` and `npu-sim conv`: one layer of a given shape, without a model file."""

import math
from typing import TYPE_CHECKING, Any

import click

from runtime.cli.options import RunOptions, run_options
from runtime.cli.parameters import KernelType, NumbersCommand, WholeNumber

if TYPE_CHECKING:
    from runtime.model import Model

_MAX_TENSOR_BYTES = 1 << 28
_EXTENT = WholeNumber(1, 1 << 20)
_STEP = WholeNumber(1, 1 << 10)


@click.command(cls=NumbersCommand, short_help="Run the product of two matrices.")
@click.argument("m", type=_EXTENT)
@click.argument("k", type=_EXTENT)
@click.argument("n", type=_EXTENT)
@run_options
def gemm(m: int, k: int, n: int, **arguments: Any) -> None:
    """Run the product of an M×K and a K×N matrix.

    It is FULLY_CONNECTED: input M×K, weights N×K, zero bias, output M×N. Weights are random, always the same.

    \b
    Examples:
      npu-sim gemm 64 128 256
      npu-sim gemm 64 128 256 --machine ideal --set matrix.rows=8 --set matrix.cols=8 \\
          --set matrix.units=1 --set matrix.dataflow=output_stationary --json -
    """
    from runtime.cli.layer_models import gemm_model

    _check_sizes({"input": (m, k), "weights": (n, k), "output": (m, n)})
    _run(gemm_model(m, k, n), arguments)


@click.command(cls=NumbersCommand, short_help="Run one convolution.")
@click.argument("h", type=_EXTENT)
@click.argument("w", type=_EXTENT)
@click.argument("cin", type=_EXTENT)
@click.argument("cout", type=_EXTENT)
@click.argument("kernel", type=KernelType())
@click.option("--stride", type=_STEP, default=1, show_default=True, help="Both directions.")
@click.option("--dilation", type=_STEP, default=1, show_default=True, help="Both directions.")
@click.option(
    "--padding",
    type=click.Choice(["same", "valid"]),
    default="same",
    show_default=True,
    help="Implicit padding.",
)
@click.option("--depthwise", is_flag=True, help="Filter each channel apart; COUT is a multiple of CIN.")
@run_options
def conv(
    h: int,
    w: int,
    cin: int,
    cout: int,
    kernel: tuple[int, int],
    stride: int,
    dilation: int,
    padding: str,
    depthwise: bool,
    **arguments: Any,
) -> None:
    """Run one convolution of an H×W image from CIN to COUT channels.

    KERNEL is 3 for 3×3, or 3x1 for 3 rows and 1 column. Weights are random, always the same; the bias is
    zero. With --depthwise the operation is DEPTHWISE_CONV_2D with depth multiplier COUT ÷ CIN.

    \b
    Examples:
      npu-sim conv 56 56 64 128 3 --stride 2
      npu-sim conv 112 112 32 32 3 --depthwise --machine tiny
    """
    from runtime.cli.layer_models import ConvolutionShape, convolution_model

    shape = ConvolutionShape(h, w, cin, cout, kernel, stride, dilation, padding, depthwise)
    if depthwise and cout % cin:
        raise click.UsageError(f"COUT = {cout} must be a multiple of CIN = {cin} with --depthwise.")
    if min(shape.output_size) < 1:
        raise click.UsageError(
            f"The image of {h}x{w} is smaller than the kernel, {shape.effective_kernel[0]}x"
            f"{shape.effective_kernel[1]} with its dilation; --padding same accepts it."
        )
    _check_sizes({"input": (h, w, cin), "weights": shape.filter_shape, "output": (*shape.output_size, cout)})
    _run(convolution_model(shape), arguments)


def _run(model: "Model", arguments: dict[str, Any]) -> None:
    """Run a model as `npu-sim run` does."""
    from runtime.cli.run import run_once

    run_once(model, RunOptions(**arguments))


def _check_sizes(tensors: dict[str, tuple[int, ...]]) -> None:
    """Refuse tensors that no machine here is meant for."""
    for name, shape in tensors.items():
        if math.prod(shape) > _MAX_TENSOR_BYTES:
            size = f"{'x'.join(map(str, shape))} = {math.prod(shape):,} bytes"
            raise click.UsageError(f"The {name} takes {size}; allowed are {_MAX_TENSOR_BYTES:,}.")
