from typing import Any

import numpy as np
import pytest

from compiler.nnapi import Numerics
from compiler.passes.legalise import legalise
from npu_sim.actions import Component
from npu_sim.config import MachineConfig
from npu_sim.config_io import load_machine, override
from npu_sim.core.hooks import Hook
from npu_sim.events import Activity, Retire, Span
from npu_sim.result import BoundBy
from runtime.device import CompilationOptions
from runtime.devices.npu import NpuDevice
from runtime.devices.npu_prepared import NpuPrepared
from runtime.devices.steps import HOST, HostStep, ProgramStep
from runtime.errors import OpFailedError, RuntimeFailure, UnsupportedModelError
from runtime.host_cost import HOST_CYCLE, host_aj_per_cycle
from runtime.model import Model
from runtime.result import RunResult
from runtime.runner import run
from tests.support.classifier_file import IMAGE_SHAPE, classifier_file
from tests.support.mixed_models import SIZE, dense_model, lookup_model, residual_model, wide_softmax_model
from tests.support.nnapi_models import add_model

X = np.arange(2 * SIZE, dtype=np.uint8).reshape(2, SIZE) + 5
REAL = 0.5 * (X.astype(np.float32) - 8)
Z = 2 * REAL + 1
TINY = load_machine("tiny")
WITHOUT_FLOAT = override(TINY, ["vector.float_lanes=0"])


def prepared(model: Model, machine: MachineConfig = TINY) -> NpuPrepared:
    graph = legalise(model.graph, Numerics.NNAPI)
    return NpuDevice(machine).prepare(graph, CompilationOptions())


def mixed(**options: Any) -> RunResult:
    return run(residual_model(), [X], **{"machine": "tiny", **options})


def test_a_mixed_model_computes_what_the_reference_computes() -> None:
    outputs = mixed().outputs
    np.testing.assert_array_equal(outputs["z"], Z)
    np.testing.assert_array_equal(outputs["y"], Z + REAL)


def test_steps_are_on_npu_host_and_npu() -> None:
    assert [type(step) for step in prepared(residual_model()).steps] == [ProgramStep, HostStep, ProgramStep]


def test_layers_of_all_steps_stand_in_order_of_execution() -> None:
    layers = mixed().layers
    assert [(layer.index, layer.op, layer.unit) for layer in layers] == [
        (0, "FULLY_CONNECTED", "matrix"),
        (1, "DEQUANTIZE", "vector"),
        (2, "FULLY_CONNECTED", HOST),
        (3, "ADD", "vector"),
    ]
    assert layers[2].bound_by is BoundBy.HOST
    assert layers[2].macs == 2 * SIZE * SIZE


def test_layers_sum_to_the_totals_and_follow_each_other() -> None:
    result = mixed()
    assert sum(layer.cycles for layer in result.layers) == result.cycles
    assert sum(layer.energy_aj for layer in result.layers) == result.simulation.energy_aj
    assert sum(result.simulation.energy_breakdown_aj.values()) == result.simulation.energy_aj
    assert [layer.end_cycle for layer in result.layers] == list(
        np.cumsum([layer.cycles for layer in result.layers])
    )


def test_the_host_costs_its_power_and_the_machine_its_static_power_meanwhile() -> None:
    result = mixed()
    host, point = result.layers[2], TINY.operating_point(TINY.preferences[result.preference])
    breakdown = result.simulation.energy_breakdown_aj
    assert breakdown[HOST] == host.cycles * host_aj_per_cycle(TINY, point) > 0
    static = sum(breakdown[c] for c in (Component.CLOCK, Component.LEAKAGE, Component.DRAM_BACKGROUND))
    assert host.energy_aj == breakdown[HOST] + host.cycles * static // result.cycles


def test_every_cycle_of_every_unit_is_accounted_for() -> None:
    result = mixed()
    units = result.simulation.units
    assert units[HOST].busy == result.layers[2].cycles
    for unit in units.values():
        assert unit.busy + sum(unit.stalls.values()) + unit.idle == result.cycles


def test_what_runs_on_the_npu_alone_has_no_host_unit_and_no_host_energy() -> None:
    result = run(classifier_file(), [np.zeros(IMAGE_SHAPE, np.uint8)], machine="tiny")
    assert HOST not in result.simulation.units
    assert result.simulation.energy_breakdown_aj[HOST] == 0
    assert (result.fallbacks, result.transfers, result.transfer_bytes) == ((), 0, 0)


def test_tensors_that_change_hands_are_counted() -> None:
    result = mixed()
    assert result.transfers == 2
    assert result.transfer_bytes == 2 * X.size * 4


def test_fallbacks_name_operation_layer_and_reason() -> None:
    (fallback,) = mixed().fallbacks
    assert (fallback.operation, fallback.layer, fallback.op, fallback.name) == (
        2, 2, "FULLY_CONNECTED", "dense",
    )  # fmt: skip
    assert "TENSOR_FLOAT32" in fallback.reason


def test_the_document_names_device_and_reason() -> None:
    document = mixed().to_json_dict()
    (fallback,) = document["fallbacks"]
    assert [layer["device"] for layer in document["layers"]] == ["npu", "npu", "host", "npu"]
    assert [layer["fallback_reason"] for layer in document["layers"]] == [
        None,
        None,
        fallback["reason"],
        None,
    ]
    assert set(fallback) == {"operation", "op", "name", "reason"}
    assert document["transfers"] == {"tensors": 2, "bytes": 64}
    assert document["energy_breakdown"][HOST] > 0


def test_a_timing_only_run_takes_the_same_cycles() -> None:
    timed = run(residual_model(), machine="tiny", timing_only=True)
    assert timed.outputs == {}
    assert (timed.cycles, timed.simulation.energy_aj) == (mixed().cycles, mixed().simulation.energy_aj)


def test_kept_tensors_come_from_both_devices() -> None:
    tensors = mixed(keep_tensors=True).tensors
    assert set(tensors) == {1, 2, 3, 4}
    np.testing.assert_array_equal(tensors[2], Z)


def test_the_bounds_are_below_the_cycles_and_have_the_host_in_them() -> None:
    result = mixed()
    assert result.layers[2].cycles < result.lb_peak_cycles <= result.lb_mapped_cycles <= result.cycles


def test_a_model_for_the_host_alone_leaves_the_machine_idle() -> None:
    result = run(dense_model(), [X], machine=WITHOUT_FLOAT)
    np.testing.assert_array_equal(result.outputs["y"], np.maximum(Z, 0))
    assert [layer.unit for layer in result.layers] == [HOST] * 3
    units = dict(result.simulation.units)
    assert units.pop(HOST).busy == result.cycles
    assert {unit.idle for unit in units.values()} == {result.cycles}
    assert result.transfers == 0


class Recording(Hook):
    """Keeps some events."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.activities: list[Activity] = []
        self.retires: list[Retire] = []

    def on_span(self, span: Span) -> None:
        self.spans.append(span)

    def on_activity(self, activity: Activity) -> None:
        self.activities.append(activity)

    def on_retire(self, retire: Retire) -> None:
        self.retires.append(retire)


def test_hooks_see_the_whole_run_and_change_nothing() -> None:
    recording = Recording()
    result = mixed(hooks=[recording])
    assert result.to_json_dict() == mixed().to_json_dict()
    assert max(retire.cycle for retire in recording.retires) == result.cycles
    instructions = [retire.instruction for retire in recording.retires]
    assert len(set(instructions)) == len(instructions)
    assert max(instructions) < prepared(residual_model()).instruction_count
    for layer in result.layers:
        ends = [retire.cycle for retire in recording.retires if retire.layer == layer.index]
        assert max(ends) == layer.end_cycle


def test_the_host_has_a_lane_with_a_span_for_each_operation() -> None:
    recording = Recording()
    host = mixed(hooks=[recording]).layers[2]
    (span,) = [span for span in recording.spans if span.source == HOST]
    assert (span.what, span.layer) == ("FULLY_CONNECTED", 2)
    assert (span.start, span.end) == (host.start_cycle, host.end_cycle)
    (activity,) = [a for a in recording.activities if a.source == HOST]
    assert (activity.action, activity.amount, activity.layer) == (HOST_CYCLE, host.cycles, 2)


def test_a_mixed_model_is_no_single_program_and_says_why() -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        _ = prepared(residual_model()).program
    assert "FULLY_CONNECTED (operation 2 “dense”) runs on the host: input 0 is TENSOR_FLOAT32" in str(
        caught.value
    )


def test_a_tensor_that_cannot_be_tiled_is_an_error_with_the_bytes_needed() -> None:
    small = override(TINY, ["sram.kib=1", "sram.banks=1", "sram.ports=1"])
    row = np.arange(4000).astype(np.uint8).reshape(1, -1)
    with pytest.raises(RuntimeFailure, match=r"SOFTMAX .*cannot be tiled: its smallest tile needs \d+ bytes"):
        run(wide_softmax_model(row.size), [row], machine=small)


def test_a_failure_on_the_npu_names_operation_and_operand() -> None:
    with pytest.raises(OpFailedError) as caught:
        run(lookup_model(), [np.array([0, 2], np.int32)], machine=TINY)
    message = str(caught.value)
    assert "EMBEDDING_LOOKUP “found” (layer 0 of its program): " in message
    assert "lookup 2 is outside the 2 rows of values: 0 … 1" in message


def test_a_failure_on_the_host_names_operation_and_operand() -> None:
    machine = override(TINY, ["vector.float_lanes=0"])
    with pytest.raises(OpFailedError) as caught:
        run(lookup_model(), [np.array([0, 2], np.int32)], machine=machine)
    message = str(caught.value)
    assert "EMBEDDING_LOOKUP (operation 0): " in message
    assert "lookup 2 is outside the 2 rows of values: 0…1" in message


def test_a_model_of_one_program_is_that_program() -> None:
    assert prepared(add_model()).program.notes["model"] == "adder"
