import dataclasses
import hashlib
import json
from typing import Any

import numpy as np
import pytest

from compiler.nnapi import PreferenceCode
from npu_sim.config_io import load_machine
from npu_sim.core.hooks import Hook
from npu_sim.events import Span
from runtime.compilation import Compilation
from runtime.device_registry import get_device
from runtime.devices.npu_prepared import NpuPrepared
from runtime.errors import BadDataError, ModelFileError, OpFailedError, UnsupportedModelError
from runtime.execution import Execution
from runtime.inputs import fixed_input
from runtime.result import RunResult
from runtime.runner import compile_model, run, run_program
from runtime.tflite import load_tflite
from tests.support.classifier_file import IMAGE_SHAPE, classifier_file
from tests.support.nnapi_models import add_model

IMAGE = fixed_input(IMAGE_SHAPE, "uint8", "random")
FIELDS = {
    "schema_version", "tool_version", "machine", "machine_hash", "model", "preference", "numerics", "cycles",
    "frequency_hz", "voltage_v", "latency_s", "energy_j", "energy_aj", "energy_breakdown",
    "energy_breakdown_aj", "dram_bytes_read", "dram_bytes_written", "sram_peak_bytes", "lb_peak_cycles",
    "lb_mapped_cycles", "matrix_cycles", "units",
    "layers", "outputs", "fallbacks", "transfers",
}  # fmt: skip


def classify(**options: Any) -> RunResult:
    return run(classifier_file(), [IMAGE], **{"machine": "tiny", **options})


def reference_values() -> dict[int, "np.ndarray[Any, Any]"]:
    """Every tensor of the classifier by file number, computed by the reference device."""
    model = load_tflite(classifier_file())
    compilation = Compilation(model, get_device("reference"))
    compilation.finish()
    execution = Execution(compilation)
    execution.set_input(0, IMAGE)
    execution.set_output(0, np.zeros((1, 5), np.uint8))
    execution.compute()
    return {model.tensor_indices[number]: array for number, array in execution.result.tensors.items()}


@pytest.mark.parametrize("machine", ["phone", "tiny", "ideal"])
@pytest.mark.parametrize("preference", list(PreferenceCode))
def test_outputs_are_those_of_the_reference(machine: str, preference: PreferenceCode) -> None:
    outputs = classify(machine=machine, preference=preference).outputs
    assert list(outputs) == ["scores"]
    np.testing.assert_array_equal(outputs["scores"], reference_values()[9])


def test_kept_tensors_are_those_of_the_reference() -> None:
    tensors = classify(keep_tensors=True).tensors
    expected = reference_values()
    assert set(tensors) == {3, 4, 6, 8, 9}
    for number, array in tensors.items():
        np.testing.assert_array_equal(array, expected[number])


def test_without_keep_tensors_none_are_returned() -> None:
    assert classify().tensors == {}


def test_a_timing_only_run_takes_the_same_cycles_and_gives_no_values() -> None:
    timed = run(classifier_file(), machine="tiny", timing_only=True)
    assert timed.outputs == {}
    assert timed.cycles == classify().cycles


def test_a_preference_selects_its_operating_point() -> None:
    machine = load_machine("tiny")
    for preference, point in machine.preferences.items():
        result = classify(preference=preference)
        assert result.simulation.frequency_hz == machine.operating_point(point).frequency_hz
        assert result.preference == preference


def test_hooks_see_events_and_change_nothing() -> None:
    class Counter(Hook):
        spans = 0

        def on_span(self, span: Span) -> None:
            self.spans += 1

    counter = Counter()
    assert classify(hooks=[counter]).cycles == classify().cycles
    assert counter.spans > 0


def test_layers_sum_to_the_totals() -> None:
    result = classify()
    assert sum(layer.cycles for layer in result.layers) == result.cycles
    assert sum(layer.energy_aj for layer in result.layers) == result.simulation.energy_aj
    assert [layer.op for layer in result.layers] == [
        "CONV_2D",
        "AVERAGE_POOL_2D",
        "FULLY_CONNECTED",
        "SOFTMAX",
    ]


def test_a_frame_has_a_row_per_layer() -> None:
    result = classify()
    frame = result.to_frame()
    assert frame["cycles"].sum() == result.cycles
    assert list(frame["name"]) == ["features", "pooled", "logits", "scores"]


def test_the_json_document_has_every_field_and_survives_json() -> None:
    document = classify().to_json_dict()
    assert set(document) == FIELDS
    assert json.loads(json.dumps(document)) == document


def test_the_json_document_hashes_outputs_and_kept_tensors() -> None:
    result = classify(keep_tensors=True)
    document = result.to_json_dict()
    digest = hashlib.sha256(result.outputs["scores"].tobytes()).hexdigest()
    expected = {"name": "scores", "shape": [1, 5], "dtype": "uint8", "sha256": digest}
    assert document["outputs"] == [expected]
    assert document["tensors"]["9"] == digest


def test_the_json_document_accounts_for_every_cycle_of_every_unit() -> None:
    document = classify().to_json_dict()
    for unit in document["units"].values():
        assert unit["busy"] + sum(unit["stalls"].values()) + unit["idle"] == document["cycles"]


def test_lower_bounds_are_lower() -> None:
    result = classify()
    assert result.cycles >= result.lb_mapped_cycles >= result.lb_peak_cycles > 0


def test_a_compiled_program_runs_alone() -> None:
    prepared = compile_model(classifier_file(), machine="tiny", preference="low_power").prepared
    assert isinstance(prepared, NpuPrepared)
    alone = run_program(prepared.program, {"image": IMAGE}, machine="tiny")
    assert alone.to_json_dict() == classify(preference="low_power").to_json_dict()


@pytest.mark.parametrize("preference", ["low_power", PreferenceCode.LOW_POWER])
def test_a_program_may_run_at_another_operating_point(preference: PreferenceCode | str) -> None:
    prepared = compile_model(classifier_file(), machine="tiny").prepared
    assert isinstance(prepared, NpuPrepared)
    slow = run_program(prepared.program, [IMAGE], machine="tiny", preference=preference)
    assert slow.preference == "low_power"
    assert slow.simulation.frequency_hz < classify().simulation.frequency_hz


def test_a_program_without_the_compilers_notes_is_bad_data() -> None:
    prepared = compile_model(classifier_file(), machine="tiny").prepared
    assert isinstance(prepared, NpuPrepared)
    bare = dataclasses.replace(prepared.program, notes={})
    with pytest.raises(BadDataError, match="the program has no note 'preference'; it has none"):
        run_program(bare, [IMAGE], machine="tiny")


def test_a_program_of_another_machine_is_refused() -> None:
    prepared = compile_model(classifier_file(), machine="tiny").prepared
    assert isinstance(prepared, NpuPrepared)
    with pytest.raises(OpFailedError, match=r"target|machine"):
        run_program(prepared.program, [IMAGE], machine="phone")


def test_a_model_built_by_calls_numbers_its_tensors_by_operand() -> None:
    value = np.full((2, 3), 12, np.uint8)
    result = run(add_model(), [value, value], machine="tiny", keep_tensors=True)
    assert list(result.tensors) == [3]
    assert result.outputs["sum"].tolist() == [[14] * 3] * 2


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"machine": "nosuch"}, "nosuch"),
        ({"preference": "fastest"}, "preference is 'fastest', must be one of low_power, fast_single_answer,"),
        ({"numerics": "float"}, "numerics is 'float', must be one of nnapi, nnapi27"),
    ],
)
def test_an_unknown_option_is_bad_data(options: dict[str, str], fragment: str) -> None:
    with pytest.raises(BadDataError, match=fragment):
        classify(**options)


def test_missing_and_wrong_inputs_are_bad_data() -> None:
    with pytest.raises(BadDataError, match="0 inputs are given, the model has 1: “image” uint8"):
        run(classifier_file(), machine="tiny")
    with pytest.raises(BadDataError, match="input 0 “image” has dtype int8, must have uint8"):
        run(classifier_file(), [IMAGE.astype(np.int8)], machine="tiny")


def test_a_missing_file_is_a_model_file_error() -> None:
    with pytest.raises(ModelFileError, match="cannot be read"):
        run("no/such/file.tflite", [IMAGE])


def test_a_model_too_large_for_a_run_is_unsupported() -> None:
    model = add_model(finished=False)
    model.add_operand(dataclasses.replace(add_model().graph.operands[0].type, dimensions=(1 << 29,)))
    model.set_operand_value(4, None)
    model.finish()
    with pytest.raises(UnsupportedModelError, match="at most 268435456 fit"):
        run(model, timing_only=True, machine="tiny")
