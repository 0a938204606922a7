"""Float lanes never make a network slower: work that does not pay for a crossing stays on the host."""

import pytest

from npu_sim.config_io import load_machine, override
from runtime.runner import run
from runtime.tflite import load_tflite
from tests.support.shared import shared_path


@pytest.mark.parametrize("name", ["phone", "tiny"])
def test_a_float_network_is_not_slower_with_float_lanes(name: str) -> None:
    model = load_tflite(shared_path("models", "mlperf_resnet8_float.tflite"))
    with_lanes = load_machine(name)
    without = override(with_lanes, ["vector.float_lanes=0"])
    cycles = [run(model, machine=machine, timing_only=True).cycles for machine in (with_lanes, without)]
    assert cycles[0] <= cycles[1]
