import dataclasses

import pytest

from npu_sim.events import Retire, Span
from tests.traces.synthetic import EXAMPLE, HEADER, record
from traces import TraceHeader, layer_windows


def test_cycles_is_the_end_of_the_last_event():
    assert record(EXAMPLE).cycles == 800


def test_lanes_follow_the_data_and_unit_numbers():
    names = ["vector0", "odd", "matrix10", "matrix2", "dma1", "fetch", "dma0"]
    log = record([Span(0, 1, name, "Work", 0, 0) for name in names])
    assert [log.names[lane] for lane in log.lanes] == [
        "fetch",
        "dma0",
        "dma1",
        "matrix2",
        "matrix10",
        "vector0",
        "odd",
    ]


def test_layer_windows_follow_each_other_up_to_the_end():
    assert layer_windows(record(EXAMPLE)) == [(0, 0, 430), (1, 430, 700), (2, 700, 800)]


def test_a_layer_that_finishes_before_the_one_before_it_takes_no_time():
    log = record([Retire(50, "dma0", 0, 0), Retire(20, "vector0", 1, 1), Retire(60, "dma0", 2, 2)])
    assert layer_windows(log) == [(0, 0, 50), (1, 50, 50), (2, 50, 60)]


def test_the_last_layer_lasts_until_the_run_ends():
    log = record([Retire(50, "dma0", 0, 0), Retire(60, "dma0", 1, 1), Span(60, 70, "fetch", "Halt", 2, 1)])
    assert layer_windows(log) == [(0, 0, 50), (1, 50, 70)]


def test_layers_that_the_header_does_not_name_are_numbered():
    log = record(EXAMPLE, dataclasses.replace(HEADER, layer_names=()))
    assert log.layer_name(2) == "layer 2"


def test_header_is_read_from_a_report():
    report = {
        "machine": "tiny",
        "machine_hash": "ff",
        "model": "net.tflite",
        "frequency_hz": 10**9,
        "tool_version": "0.1.0",
        "layers": [{"index": 1, "op": "SOFTMAX", "name": ""}, {"index": 0, "op": "CONV_2D", "name": "a"}],
    }
    header = TraceHeader.from_report(report)
    assert header.layer_names == ("CONV_2D a", "SOFTMAX")
    assert (header.machine, header.program, header.frequency_hz) == ("tiny", "net.tflite", 10**9)


def test_a_frequency_of_zero_is_refused():
    with pytest.raises(ValueError, match="frequency_hz is 0"):
        dataclasses.replace(HEADER, frequency_hz=0)


def test_the_host_comes_first_and_its_layers_have_a_reason():
    header = dataclasses.replace(HEADER, layer_reasons=(None, "no float"))
    log = record([Span(0, 5, "dma0", "Load", 0, 0), Span(5, 9, "host", "LSTM", 1, 1)], header)
    assert [log.names[lane] for lane in log.lanes] == ["host", "dma0"]
    assert [log.layer_reason(layer) for layer in (0, 1, 7)] == [None, "no float", None]


def test_the_reasons_are_read_from_the_report():
    report = {
        "machine": "m", "machine_hash": "h", "model": "net", "frequency_hz": 1, "tool_version": "1",
        "layers": [
            {"index": 1, "op": "RNN", "name": "", "fallback_reason": "no float"},
            {"index": 0, "op": "ADD", "name": "", "fallback_reason": None},
        ],
    }  # fmt: skip
    assert TraceHeader.from_report(report).layer_reasons == (None, "no float")
