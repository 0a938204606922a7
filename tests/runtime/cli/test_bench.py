import json
from pathlib import Path

import pytest

from tests.support.command_line import failure_of, stdout_of
from tests.support.repository import ROOT

NETWORK = ROOT.parent / "shared" / "models" / "coral_mobilenet_v1_0.25_128_quant.tflite"


@pytest.mark.slow
@pytest.mark.skipif(not NETWORK.exists(), reason="../shared/models is not there")
def test_measures_a_network() -> None:
    (row,) = json.loads(stdout_of("bench", NETWORK, "--machine", "phone", "--json", "-"))["benchmarks"]
    assert row["model"] == NETWORK.stem
    assert 0 < row["utilization"] <= 1
    assert 1 <= row["cycles_per_lb_mapped"] <= row["cycles_per_lb_peak"]
    assert row["full_cpu_s"] > 0.1
    assert row["peak_mib"] > 10


def test_absent_networks_give_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "name the MODELS to measure" in failure_of("bench")


def test_failure_of_a_measured_process_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bad.tflite").write_bytes(b"nothing")
    assert "bad.tflite" in failure_of("bench", tmp_path / "bad.tflite", "--machine", "phone")
