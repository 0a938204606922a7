"""TFLite's and PyTorch's own NNAPI clients, in environments of their own that two variables name.

NPU_SIM_TFLITE_PYTHON: a Python with tflite-support 0.4.4, tflite-runtime 2.14.0 and numpy below 2.
NPU_SIM_TORCH_PYTHON: a Python with torch.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from runtime.nnapi.native.library import library_folder
from tests.support.native_client import NEEDS_COMPILER, run_client
from tests.support.shared import shared_path

pytestmark = [NEEDS_COMPILER, pytest.mark.slow]
HERE = Path(__file__).parent
DELEGATE = "tensorflow_lite_support/python/task/vision/pybinds/_pywrap_image_classifier.so"


def other_python(variable: str) -> str:
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no Python with the client")
    return os.environ[variable]


def libusb(python: str, folder: Path) -> None:
    """A library with the functions of libusb, which the delegate needs to be loaded and does not call."""
    found = "importlib.util.find_spec('tensorflow_lite_support').submodule_search_locations[0]"
    code = f"import importlib.util; print({found})"
    home = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    command = ["nm", "-D", "--undefined-only", str(Path(home).parent / DELEGATE)]
    missing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    source = folder / "usb.c"
    names = sorted(set(re.findall(r"\blibusb_\w+", missing)))
    source.write_text("".join(f"int {name}(void) {{ return -1; }}\n" for name in names))
    options = ["-shared", "-fPIC", "-Wl,-soname,libusb-1.0.so.0", "-o", str(folder / "libusb-1.0.so.0")]
    subprocess.run(["cc", str(source), *options], check=True)


@pytest.mark.parametrize(
    "name",
    [
        "coral_mobilenet_v1_0.25_128_quant",
        "coral_mobilenet_v1_0.5_160_quant",
        "coral_mobilenet_v2_1.0_224_quant",
        "coral_mobilenet_v2_1.0_224_inat_bird_quant",
        "tfsup_coco_ssd_mobilenet_v1",
    ],
)
def test_tflite_gets_its_own_values_from_the_npu(name: str, tmp_path: Path) -> None:
    python = other_python("NPU_SIM_TFLITE_PYTHON")
    model = shared_path("models", f"{name}.tflite")
    libusb(python, tmp_path)
    report = tmp_path / "report.json"
    finished = run_client(
        [python, HERE / "tflite_client.py", shared_path("clients"), model],
        {
            "LD_LIBRARY_PATH": f"{library_folder()}:{tmp_path}",
            "NPU_SIM_MACHINE": "phone",
            "NPU_SIM_REPORT": str(report),
            "NPU_SIM_LOG": "debug",
        },
    )
    answer = json.loads(finished.stdout)
    assert answer["delegates"] == 1
    assert set(answer["equal"]) == {True}
    custom = 1 if "ssd" in name else 0
    assert finished.stderr.count("ANeuralNetworksModel_addOperation(") >= answer["nodes"] - custom
    assert finished.stderr.count("ANeuralNetworksExecution_compute(") == 1
    (execution,) = json.loads(report.read_text())["executions"]
    assert all(layer["cycles"] >= 0 and layer["energy_aj"] > 0 for layer in execution["result"]["layers"])


def test_pytorch_gets_its_own_values_from_the_npu() -> None:
    finished = run_client([other_python("NPU_SIM_TORCH_PYTHON"), "-W", "ignore", HERE / "torch_client.py"])
    answer = json.loads(finished.stdout)
    assert answer["float"] < 1e-5
    assert answer["quant8"] == 0
