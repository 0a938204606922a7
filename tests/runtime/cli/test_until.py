import json
from pathlib import Path

import pytest

from tests.support.classifier_file import classifier_file
from tests.support.command_line import npu_sim, stdout_of


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "network.tflite"
    path.write_bytes(classifier_file())
    return path


def test_a_run_ends_at_the_tensors_it_is_told(network: Path) -> None:
    arguments = ("--machine", "tiny", "--json", "-", "--until", "logits", "--until", 3)
    report = json.loads(stdout_of("run", network, *arguments))
    assert [output["name"].partition(";")[0] for output in report["outputs"]] == ["logits", "features"]


def test_the_embedded_model_can_be_cut_too() -> None:
    report = json.loads(stdout_of("run", "--json", "-", "--until", "conv"))
    assert [layer["op"] for layer in report["layers"]] == ["CONV_2D"]


def test_an_unknown_tensor_is_one_line_on_standard_error(network: Path) -> None:
    result = npu_sim("run", network, "--until", "nowhere")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "until 'nowhere': no tensor has this name" in result.stderr


def test_a_program_cannot_be_cut(network: Path, tmp_path: Path) -> None:
    program = tmp_path / "network.npu"
    stdout_of("compile", network, "--machine", "tiny", "-o", program)
    result = npu_sim("run", program, "--machine", "tiny", "--until", "logits")
    assert (result.exit_code, "only a model can be cut" in result.stderr) == (1, True)
