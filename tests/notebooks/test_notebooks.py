import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))


class ThisInterpreter(AsyncKernelManager):
    """Starts kernels of the interpreter that runs the tests, whatever kernels the user has installed."""

    @property
    def kernel_spec(self):
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="tests", language="python")


def read(name):
    return nbformat.read(FOLDER / name, as_version=4)


def execute(notebook, folder, monkeypatch):
    """Run a notebook from a clean kernel that neither reads nor writes the user's settings."""
    for tool in ("IPYTHON", "JUPYTER_CONFIG_", "JUPYTER_DATA_", "JUPYTER_RUNTIME_", "MPLCONFIG"):
        monkeypatch.setenv(f"{tool}DIR", str(folder / tool.lower()))
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent))
    settings = {"kernel_manager_class": ThisInterpreter, "resources": {"metadata": {"path": str(FOLDER)}}}
    NotebookClient(notebook, timeout=120, **settings).execute()
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_is_a_notebook_to_execute():
    assert "01_first_run.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_stored_notebook_is_valid_and_has_no_outputs(name):
    notebook = read(name)
    nbformat.validate(notebook)
    stored = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in stored)


def test_the_first_run_shows_its_tables_and_three_figures(tmp_path, monkeypatch):
    outputs = execute(read("01_first_run.ipynb"), tmp_path, monkeypatch)
    kinds = [kind for output in outputs for kind in output.get("data", {})]
    assert kinds.count("image/png") == 3
    assert kinds.count("text/html") == 3
    assert not [output for output in outputs if output.output_type == "stream" and output.name == "stderr"]
