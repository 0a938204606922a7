"""Real networks that the NPU cannot run as a whole: float ones, and one with a custom operation."""

from typing import Any

import numpy as np
import pytest

from compiler.partition import BESIDE_HOST
from runtime.conformance.comparison import ABSOLUTE_FLOAT_TOLERANCE, RELATIVE_FLOAT_TOLERANCE
from runtime.errors import ModelFileError
from runtime.inputs import fixed_input
from runtime.runner import run
from runtime.tflite import load_tflite
from tests.support.golden import INPUT_KINDS, sha256
from tests.support.shared import shared_json, shared_path

DETECTOR, FLOAT_NETWORK = "tfsup_coco_ssd_mobilenet_v1", "mlperf_resnet8_float"
BOXES, SCORES = "Squeeze", "convert_scores"
QUICK = {("random", "phone")}
RUNS = [
    pytest.param(kind, machine, marks=[] if (kind, machine) in QUICK else pytest.mark.slow)
    for kind in INPUT_KINDS
    for machine in ("phone", "tiny")
]


def golden_run(network: str, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = shared_json("golden", f"{network}.json")["runs"][kind]
    return found


def inputs(golden: dict[str, Any], kind: str) -> list[Any]:
    return [fixed_input(i["shape"], i["dtype"], kind, n) for n, i in enumerate(golden["inputs"])]


def test_the_detectors_custom_operation_is_refused_by_name() -> None:
    with pytest.raises(ModelFileError, match="TFLite_Detection_PostProcess"):
        load_tflite(shared_path("models", f"{DETECTOR}.tflite"))


@pytest.mark.parametrize(("kind", "machine"), RUNS)
def test_the_part_before_the_custom_operation_is_bit_exact(kind: str, machine: str) -> None:
    golden = golden_run(DETECTOR, kind)
    path = shared_path("models", f"{DETECTOR}.tflite")
    result = run(path, inputs(golden, kind), machine=machine, until=[BOXES, SCORES], keep_tensors=True)
    assert result.fallbacks == ()
    assert list(result.outputs) == [BOXES, SCORES]
    expected = golden["tensor_sha256"]
    assert len(result.tensors) == 63
    assert [n for n, value in result.tensors.items() if sha256(value) != expected[str(n)]] == []


@pytest.mark.parametrize("machine", ["phone", "tiny"])
@pytest.mark.parametrize("kind", INPUT_KINDS)
def test_the_float_network_agrees_with_its_golden(kind: str, machine: str) -> None:
    golden = golden_run(FLOAT_NETWORK, kind)
    result = run(shared_path("models", f"{FLOAT_NETWORK}.tflite"), inputs(golden, kind), machine=machine)
    (output,), (expected,) = result.outputs.values(), golden["outputs"]
    np.testing.assert_allclose(
        output.reshape(-1).astype(np.float64),
        np.array(expected["values"], np.float64),
        rtol=RELATIVE_FLOAT_TOLERANCE,
        atol=ABSOLUTE_FLOAT_TOLERANCE,
    )
    # Its convolutions need the host, and what stands between them stays there: a crossing would cost more.
    assert {layer["device"] for layer in result.to_json_dict()["layers"]} == {"host"}
    refused = {f.op for f in result.fallbacks if f.reason != BESIDE_HOST}
    assert refused == {"CONV_2D", "FULLY_CONNECTED"}
