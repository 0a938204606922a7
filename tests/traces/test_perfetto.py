import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_sim.events import Flow, Retire, Span
from tests.traces.synthetic import ENERGIES, EXAMPLE, HEADER, legal_runs, record
from tests.traces.trace_event_format import bounds, check_document
from traces import trace_document, write_perfetto

PHONE_POINTS_HZ = [800_000_000, 1_066_000_000, 1_230_000_000]


def events_of(document, phase, **fields):
    return [e for e in document["traceEvents"] if e["ph"] == phase and fields.items() <= e.items()]


def test_the_example_is_a_valid_document():
    check_document(trace_document(record(EXAMPLE), energies=ENERGIES))


@settings(max_examples=100)
@given(legal_runs(), st.sampled_from([*PHONE_POINTS_HZ, 1_000, 3_000_000_000]))
def test_every_legal_run_is_a_valid_document(events, frequency_hz):
    log = record(events, dataclasses.replace(HEADER, frequency_hz=frequency_hz))
    check_document(json.loads(json.dumps(trace_document(log))))


def test_every_unit_has_a_named_track_in_order():
    document = trace_document(record(EXAMPLE))
    names = [event["args"]["name"] for event in events_of(document, "M", name="thread_name")]
    order = [event["args"]["sort_index"] for event in events_of(document, "M", name="thread_sort_index")]
    assert names == ["layers", "dma0", "matrix0", "vector0"]
    assert order == sorted(order)


def test_a_slice_says_what_ran_when_and_for_which_layer():
    (convolve,) = events_of(trace_document(record(EXAMPLE)), "X", name="Convolve")
    # Cycles 110 to 410 at 800 MHz: 1.25 ns each, whole nanoseconds.
    assert bounds(convolve) == (137, 512)
    assert convolve["args"] == {
        "instruction": 2,
        "layer": "CONV_2D stem",
        "start_cycle": 110,
        "end_cycle": 410,
    }


def test_a_stall_names_its_reason():
    document = trace_document(record(EXAMPLE))
    assert len(events_of(document, "X", cat="stall", name="stall: semaphore")) == 3
    assert len(events_of(document, "X", cat="stall", name="stall: dram")) == 1


def test_the_layer_track_covers_the_run():
    layers = events_of(trace_document(record(EXAMPLE)), "X", cat="layer")
    assert [event["name"] for event in layers] == [
        "0: CONV_2D stem",
        "1: DEPTHWISE_CONV_2D mid",
        "2: SOFTMAX",
    ]
    assert [bounds(event) for event in layers] == [(0, 537), (537, 875), (875, 1000)]


def test_an_arrow_leads_from_the_signaller_to_the_released_work():
    document = trace_document(record(EXAMPLE))
    track = {e["args"]["name"]: e["tid"] for e in events_of(document, "M", name="thread_name")}
    (start,) = events_of(document, "s", id=2)
    (finish,) = events_of(document, "f", id=2)
    assert (start["tid"], finish["tid"]) == (track["matrix0"], track["vector0"])
    # The convolution ends at cycle 410 (512 ns); the depthwise layer starts at cycle 430 (537 ns).
    assert (start["ts"], finish["ts"]) == (0.511, 0.537)


def test_an_arrow_leaves_from_what_retired_not_from_what_began_since():
    # The first load's results arrive at cycle 80, when the second load already runs.
    loads = [Span(0, 40, "dma0", "Load", 0, 0), Span(40, 160, "dma0", "Load", 1, 0)]
    retires = [Retire(80, "dma0", 0, 0), Retire(200, "dma0", 1, 0), Retire(120, "matrix0", 2, 0)]
    log = record([*loads, *retires, Flow(80, "dma0", "matrix0", 0, 1), Span(80, 120, "matrix0", "X", 2, 0)])
    (start,) = events_of(trace_document(log), "s")
    # Cycle 40 is at 50 ns.
    assert start["ts"] == 0.049


def test_a_release_without_work_behind_it_has_no_arrow():
    log = record([Span(0, 10, "dma0", "Load", 0, 0), Flow(10, "dma0", "matrix0", 0, 1)])
    assert events_of(trace_document(log), "s") == []


def test_power_is_drawn_only_with_energies():
    log = record(EXAMPLE)
    assert events_of(trace_document(log), "C", name="Power") == []
    assert events_of(trace_document(log, energies=ENERGIES), "C", name="Power") != []


def test_bandwidth_counter_shows_gigabytes_per_second_and_ends_at_zero():
    steps = events_of(trace_document(record(EXAMPLE), windows=8), "C", name="DRAM bandwidth")
    # Eight windows of 100 cycles; the first load moves 16 bytes per cycle at 800 MHz.
    assert steps[0]["args"] == {"GB/s": 12.8}
    assert (steps[-1]["ts"], steps[-1]["args"]) == (1.0, {"GB/s": 0.0})


def test_slices_below_a_nanosecond_are_left_out_and_counted():
    header = dataclasses.replace(HEADER, frequency_hz=4_000_000_000)
    log = record([Span(0, 1, "dma0", "Load", 0, 0), Span(4, 8, "dma0", "Load", 1, 0)], header)
    document = trace_document(log)
    assert len(events_of(document, "X")) == 1
    assert document["otherData"]["slices_below_1_ns"] == 1


def test_the_header_names_the_machine_and_the_versions():
    other = trace_document(record(EXAMPLE))["otherData"]
    assert (other["machine"], other["machine_hash"], other["tool_version"]) == (
        "phone",
        "0123456789abcdef",
        "0.1.0",
    )


def test_a_file_holds_the_document(tmp_path):
    write_perfetto(record(EXAMPLE), tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == trace_document(record(EXAMPLE))


def test_same_log_same_bytes(tmp_path):
    for name in ("a.json", "b.json"):
        write_perfetto(record(EXAMPLE), tmp_path / name, energies=ENERGIES)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("old", encoding="utf-8")
    log = record(EXAMPLE, dataclasses.replace(HEADER, program=object()))
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_perfetto(log, path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    assert path.read_text(encoding="utf-8") == "old"


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_perfetto(record(EXAMPLE), tmp_path / "none" / "run.json")
