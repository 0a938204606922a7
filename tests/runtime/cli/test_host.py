"""What the command line says of a model that needs the host."""

import json
from pathlib import Path

import numpy as np
import pytest
import tflite

from tests.support.command_line import npu_sim, stdout_of
from tests.support.tflite_files import Operator, Tensor, options, tflite_file


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A float dense layer, then a float ReLU, which the tiny machine has lanes for."""
    real = tflite.TensorType.FLOAT32
    tensors = [
        Tensor(name="x", shape=(1, 2), type=real),
        Tensor(name="weights", shape=(2, 2), type=real, data=np.eye(2, dtype=np.float32)),
        Tensor(name="bias", shape=(2,), type=real, data=np.zeros(2, np.float32)),
        Tensor(name="product", shape=(1, 2), type=real),
        Tensor(name="y", shape=(1, 2), type=real),
    ]
    dense = Operator(
        code=tflite.BuiltinOperator.FULLY_CONNECTED,
        inputs=[0, 1, 2],
        outputs=[3],
        options=options("FullyConnectedOptions"),
    )
    relu = Operator(code=tflite.BuiltinOperator.RELU, inputs=[3], outputs=[4])
    path = tmp_path / "mixed.tflite"
    path.write_bytes(tflite_file(tensors, [dense, relu], [0], [4]))
    return path


def test_tables_list_what_runs_on_the_host_and_why(network: Path) -> None:
    printed = stdout_of("run", network, "--machine", "tiny")
    line = next(line for line in printed.splitlines() if "runs on the host" in line)
    assert line.startswith("FULLY_CONNECTED (operation 0 “product”) runs on the host: ")
    assert "TENSOR_FLOAT32" in line


def test_the_trace_has_a_lane_of_the_host_and_the_reason(network: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    stdout_of("run", network, "--machine", "tiny", "--trace", trace)
    events = json.loads(trace.read_text())["traceEvents"]
    lanes = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert "host" in lanes
    layer = next(event for event in events if event.get("name") == "0: FULLY_CONNECTED product")
    assert "TENSOR_FLOAT32" in layer["args"]["runs_on_host_because"]
    other = next(event for event in events if event.get("name") == "1: RELU y")
    assert "a crossing would cost more" in other["args"]["runs_on_host_because"]
    powers = [event["args"]["W"] for event in events if event["name"] == "Power"]
    assert max(powers) > 0.02  # the host's 20 mW and more


def test_a_program_file_is_refused_with_the_reason(network: Path, tmp_path: Path) -> None:
    result = npu_sim("compile", network, "--machine", "tiny", "-o", tmp_path / "mixed.npu")
    assert result.exit_code == 1
    assert "FULLY_CONNECTED (operation 0 “product”) runs on the host" in result.stderr
    assert not (tmp_path / "mixed.npu").exists()


def test_an_input_of_another_shape_is_one_line(tmp_path: Path) -> None:
    tensors = [Tensor(name=name, shape=(2,)) for name in ("x", "y")]
    relu = Operator(code=tflite.BuiltinOperator.RELU, inputs=[0], outputs=[1])
    path = tmp_path / "relu.tflite"
    path.write_bytes(tflite_file(tensors, [relu], [0], [1]))
    np.save(tmp_path / "wide.npy", np.zeros(3, np.uint8))
    result = npu_sim("run", path, "--input", tmp_path / "wide.npy")
    assert (result.exit_code, "has shape [3], must have [2]" in result.stderr) == (1, True)
