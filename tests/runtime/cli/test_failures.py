from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from compiler.errors import PlacementError
from isa.errors import ContainerError
from npu_sim.errors import ConfigError
from runtime.cli.failures import FailureReportingGroup
from runtime.errors import BadDataError


def run_raising(error: BaseException) -> tuple[int, str]:
    @click.group(cls=FailureReportingGroup)
    def group() -> None:
        pass

    @group.command()
    def job() -> None:
        raise error

    result = CliRunner().invoke(group, ["job"], prog_name="npu-sim")
    return result.exit_code, result.stderr


@pytest.mark.parametrize("kind", [PlacementError, ContainerError, ConfigError, BadDataError])
def test_error_of_a_package_is_one_line(kind: type[Exception]) -> None:
    assert run_raising(kind("what is wrong")) == (1, "npu-sim: error: what is wrong\n")


def test_error_of_the_system_names_the_file() -> None:
    with pytest.raises(OSError, match="No such file") as caught:
        Path("/no/such/file").read_bytes()
    assert run_raising(caught.value) == (1, "npu-sim: error: /no/such/file: No such file or directory\n")


def test_lack_of_memory_is_one_line() -> None:
    assert run_raising(MemoryError()) == (1, "npu-sim: error: out of memory\n")


def test_full_disk_behind_standard_output_says_so() -> None:
    status, message = run_raising(OSError(28, "No space left on device"))
    assert (status, message) == (1, "npu-sim: error: cannot write standard output: No space left on device\n")


def test_interrupt_has_the_status_of_shells() -> None:
    assert run_raising(KeyboardInterrupt()) == (130, "npu-sim: interrupted\n")


def test_unexpected_error_says_where_it_comes_from() -> None:
    status, message = run_raising(ZeroDivisionError("x"))
    assert status == 1
    assert message.startswith(
        "npu-sim: error: internal error, please report it: ZeroDivisionError: x (test_failures.py:"
    )
    assert message.count("\n") == 1
