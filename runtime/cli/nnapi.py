"""`npu-sim nnapi`: the library for programs that were written for Android's NNAPI."""

import click


@click.command(short_help="Build the library that lets NNAPI programs run here.")
@click.option("--libdir", is_flag=True, help="Print the folder of libneuralnetworks.so.")
@click.option(
    "--includedir", is_flag=True, help="Print the folder to include <android/NeuralNetworks.h> from."
)
def nnapi(libdir: bool, includedir: bool) -> None:
    """Build libneuralnetworks.so once, with the C compiler of this computer, and print where it is.

    A program that loads it runs on the simulated NPU, unchanged. What to simulate, and what to write, is said
    in the program's environment:

    \b
      NPU_SIM_MACHINE=NAME|FILE.toml  the machine (npu-sim machines); default: phone
      NPU_SIM_REPORT=FILE.json        write cycles and energy per layer of every execution
      NPU_SIM_TRACE=FILE              write a timeline of the latest execution for ui.perfetto.dev
      NPU_SIM_LOG=LEVEL               log calls (debug), refused calls (info) to standard error

    \b
    Examples:
      npu-sim nnapi --libdir
      cc -I$(npu-sim nnapi --includedir) client.c -L$(npu-sim nnapi --libdir) -lneuralnetworks -o client
      LD_LIBRARY_PATH=$(npu-sim nnapi --libdir) NPU_SIM_REPORT=report.json ./client
    """
    if libdir == includedir:
        raise click.UsageError("Ask for one of --libdir and --includedir.")
    from runtime.nnapi.native.library import library_folder

    folder = library_folder()
    click.echo(folder if libdir else folder / "include")
