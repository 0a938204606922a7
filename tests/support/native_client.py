"""Programs that use libneuralnetworks.so, in processes of their own."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from runtime.nnapi.declarations import FUNCTIONS, Null
from runtime.nnapi.native.library import LIBRARY_NAME, library_folder
from runtime.nnapi.table import C_NUMBERS

NEEDS_COMPILER = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler: cc, gcc or clang"
)


def library() -> Path:
    """The library, built if necessary."""
    return library_folder() / LIBRARY_NAME


def compiled(source: Path, folder: Path, *options: str) -> Path:
    """A C program that is linked to the library."""
    program = folder / source.stem
    home = library_folder()
    command = ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{home / 'include'}", str(source)]
    link = [f"-L{home}", "-lneuralnetworks", "-lpthread", "-o", str(program)]
    subprocess.run([*command, *options, *link], check=True)
    return program


def run_client(
    command: list[str | Path], variables: Mapping[str, str] | None = None, *, status: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run a client that must end with that status."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NPU_SIM_")}
    environment |= {"LD_LIBRARY_PATH": str(library_folder()), "NPU_SIM_MACHINE": "tiny", **(variables or {})}
    finished = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert finished.returncode == status, f"status {finished.returncode}: {finished.stderr[-4000:]}"
    return finished


class LoadedApi:
    """The functions of the library in this process, as attributes with their C names.

    The first one in a process decides what is simulated: the smallest machine, without a report.
    """

    def __init__(self) -> None:
        functions = ctypes.CDLL(str(library()), mode=os.RTLD_LOCAL)
        for function in FUNCTIONS:
            loaded = functions[function.name]
            loaded.restype = C_NUMBERS.get(function.return_type)
            loaded.argtypes = [
                ctypes.c_void_p if argument.null is not Null.NO_POINTER else C_NUMBERS[argument.c_type]
                for argument in function.arguments
            ]
            setattr(self, function.name, loaded)
        with pytest.MonkeyPatch.context() as patch:
            for variable in ("NPU_SIM_REPORT", "NPU_SIM_TRACE", "NPU_SIM_LOG"):
                patch.delenv(variable, raising=False)
            patch.setenv("NPU_SIM_MACHINE", "tiny")
            functions.ANeuralNetworks_getDefaultLoopTimeout()
