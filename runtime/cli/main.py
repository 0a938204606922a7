"""`npu-sim`: the group of all commands."""

import click

from runtime.cli.bench import bench
from runtime.cli.compare import compare
from runtime.cli.conformance import conformance
from runtime.cli.failures import FailureReportingGroup
from runtime.cli.machines import machines
from runtime.cli.nnapi import nnapi
from runtime.cli.ops import ops
from runtime.cli.programs import compile_, disasm
from runtime.cli.run import run
from runtime.cli.shapes import conv, gemm


@click.group(cls=FailureReportingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="npu-sim", prog_name="npu-sim")
def main() -> None:
    """Run quantised networks on a simulated NPU: exact outputs, cycles with their causes, energy.

    A network in the form of a .tflite file is compiled for a machine, and the machine executes the
    program on simulated memories. Reports say how long it took, what each layer and each unit waited for,
    and where the energy went.

    \b
    Start here:
      npu-sim run                          classify the embedded digits
      npu-sim run model.tflite             one inference on the phone preset
      npu-sim run model.tflite --json -    the same, for programs
      npu-sim machines                     the machines there are
    """


for _command in (run, compile_, disasm, machines, compare, gemm, conv, bench, conformance, ops, nnapi):
    main.add_command(_command)

if __name__ == "__main__":
    main()
