import subprocess
import sys

import pytest

from tests.support.repository import ROOT

HEAVY = ("matplotlib", "pandas", "simpy", "sklearn", "tflite")


def run_python(code: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_command_line_help_loads_nothing_heavy() -> None:
    heavy = (*HEAVY, "numpy", "rich", "msgspec")
    code = "import sys, runtime.cli.main; print([name for name in sys.argv[1:] if name in sys.modules])"
    assert run_python(code, *heavy).stdout == "[]\n"


def test_runtime_import_loads_nothing_heavy() -> None:
    code = "import sys, runtime; print([name for name in sys.argv[1:] if name in sys.modules])"
    assert run_python(code, *HEAVY).stdout == "[]\n"


@pytest.mark.parametrize("missing", ["traces", "matplotlib", "pandas"])
def test_a_run_needs_neither_traces_nor_the_notebook_libraries(missing: str) -> None:
    code = (
        "import sys; sys.modules[sys.argv.pop(1)] = None\n"
        "from runtime.cli.main import main\n"
        "main(['run', '--input', 'random', '--timing-only'])"
    )
    finished = run_python(code, missing)
    assert finished.returncode == 0, finished.stderr
