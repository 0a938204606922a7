import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from runtime.cli.main import main
from tests.support.command_line import npu_sim, stdout_of

COMMANDS = sorted(main.commands)


def test_offers_exactly_the_documented_commands() -> None:
    assert COMMANDS == [
        "bench",
        "compare",
        "compile",
        "conformance",
        "conv",
        "disasm",
        "gemm",
        "machines",
        "nnapi",
        "ops",
        "run",
    ]


def test_version_is_the_distributions() -> None:
    assert stdout_of("--version") == f"npu-sim, version {version('npu-sim')}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_describes_every_option(command: str) -> None:
    described = stdout_of(command, "--help")
    options = [param for param in main.commands[command].params if param.param_type_name == "option"]
    assert all(getattr(option, "help", None) for option in options)
    assert all(option.opts[-1] in described for option in options)


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"bench"}))
def test_help_has_an_example(command: str) -> None:
    assert f"  npu-sim {command} " in stdout_of(command, "--help") + " "


@pytest.mark.parametrize(
    "arguments", [["--bogus"], ["fly"], ["gemm", "1", "2"], ["run", "--preference", "fast"]]
)
def test_wrong_command_line_has_status_2(arguments: list[str]) -> None:
    result = npu_sim(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m runtime.cli.main machines phone --toml | head -n 1 >/dev/null"
    finished = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert finished.stderr == ""


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [(signal.SIGINT, 130, b"npu-sim: interrupted\n"), (signal.SIGTERM, 143, b"npu-sim: terminated\n")],
)
def test_signal_leaves_nothing_half_written(
    number: signal.Signals, status: int, message: bytes, tmp_path: Path
) -> None:
    arguments = ["conv", "256", "256", "64", "64", "3", "--set", "sram.kib=32", "--trace", "trace.json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "runtime.cli.main", *arguments], cwd=tmp_path, stderr=subprocess.PIPE
    )
    while not os.listdir(tmp_path):
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (status, message)
    assert os.listdir(tmp_path) == []
