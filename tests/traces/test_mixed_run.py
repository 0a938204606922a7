"""A trace of a real run on the NPU and its host."""

import numpy as np

from runtime.runner import run
from tests.support.mixed_models import SIZE, dense_model
from traces import Recorder, TraceHeader, layer_windows, violations


def test_a_run_on_two_devices_is_one_consistent_trace():
    recorder = Recorder()
    x = np.zeros((2, SIZE), np.uint8)
    result = run(dense_model(), [x], machine="tiny", hooks=[recorder])
    log = recorder.log(TraceHeader.from_report(result.to_json_dict()))
    simulation = result.simulation
    assert violations(log, dram_bytes=simulation.dram_bytes_read + simulation.dram_bytes_written) == []
    assert log.cycles == result.cycles
    assert layer_windows(log) == [
        (layer.index, layer.end_cycle - layer.cycles, layer.end_cycle) for layer in result.layers
    ]
