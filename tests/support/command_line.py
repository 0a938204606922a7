"""Runs of the command line inside the test process."""

from click.testing import CliRunner, Result

from runtime.cli.main import main


def npu_sim(*arguments: object) -> Result:
    """Run `npu-sim` with those arguments; `stdout`, `stderr` and `exit_code` tell the outcome."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="npu-sim")


def stdout_of(*arguments: object) -> str:
    """What a run that must succeed prints on standard output."""
    result = npu_sim(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def failure_of(*arguments: object) -> str:
    """The message of a run that must fail: one line on standard error and nothing on standard output."""
    result = npu_sim(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("npu-sim: error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("npu-sim: error: ").rstrip("\n")
