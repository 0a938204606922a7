import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from compiler.graph import Graph
from compiler.nnapi import Numerics
from npu_sim.config_io import load_machine, override
from runtime.conformance.case import Case
from runtime.conformance.case_file import read_case
from runtime.conformance.harness import Outcome, Verdict, build_model, run_case
from runtime.conformance.variants import variants
from runtime.device import Array, CompilationOptions, Device, DeviceResult, RunOptions
from runtime.devices.npu import NpuDevice
from runtime.devices.reference import ReferenceDevice, ReferencePrepared
from tests.support.case_files import Document, case, relu_case, sum_case, tensor, write

NPU = NpuDevice(load_machine("tiny"))
REFERENCE = ReferenceDevice()
FULLY_CONNECTED = [
    tensor("input", [1, 2]),
    tensor("const", [1, 2], value=["2", "3"]),
    tensor("const", [1], value=["1"]),
    {"type": "INT32", "dims": [], "lifetime": "const", "value": [0]},
    tensor("output", [1, 1]),
]


class BrokenDevice(ReferenceDevice):
    """A device with a defect."""

    def prepare(self, graph: Graph, options: CompilationOptions) -> ReferencePrepared:
        return BrokenPrepared(graph, options.numerics)


class BrokenPrepared(ReferencePrepared):
    def execute(self, inputs: Sequence[Array], options: RunOptions) -> DeviceResult:
        raise KeyError("gone")


def ran(tmp_path: Path, document: Document, device: Device = REFERENCE) -> Outcome:
    return run_case(read_case(write(tmp_path, "small", document)), device, Numerics.NNAPI)


@pytest.mark.parametrize(("device", "place"), [(NPU, "npu"), (REFERENCE, "reference")])
def test_a_right_answer_is_exact(tmp_path: Path, device: Device, place: str) -> None:
    outcome = ran(tmp_path, relu_case(), device)
    assert (outcome.verdict, outcome.detail, outcome.ran_on) == (Verdict.EXACT, "", (place,))


def test_a_near_answer_is_within_tolerance(tmp_path: Path) -> None:
    outcome = ran(tmp_path, relu_case(expected=[128, 201]))
    assert outcome.verdict is Verdict.WITHIN_TOLERANCE
    assert "at [1], is 200, expected 201" in outcome.detail


def test_a_wrong_answer_fails(tmp_path: Path) -> None:
    outcome = ran(tmp_path, relu_case(expected=[100, 200]))
    assert outcome.verdict is Verdict.FAILED
    expected = "small: output 0: 1 of 2 elements differs; the first, at [0], is 128, expected 100"
    assert outcome.detail == expected


def test_the_worst_example_decides(tmp_path: Path) -> None:
    operands = sum_case()["model"]["operands"]
    right, wrong = ([["1", "2"]], [["3", "5"]]), ([["1", "2"]], [["3", "6"]])
    outcome = ran(tmp_path, case(operands, "ADD", [right, wrong, right]))
    assert outcome.verdict is Verdict.FAILED


def test_an_output_that_is_not_checked_may_be_anything(tmp_path: Path) -> None:
    operands = sum_case()["model"]["operands"]
    assert ran(tmp_path, case(operands, "ADD", [([["1", "2"]], [None])])).verdict is Verdict.EXACT


def test_an_error_that_is_not_expected_is_a_refusal_with_its_reason(tmp_path: Path) -> None:
    operands = [tensor("input", [2]), tensor("output", [2])]
    outcome = ran(tmp_path, case(operands, "SIN", [([["0", "0"]], [["0", "0"]])]))
    assert outcome.verdict is Verdict.REFUSED
    assert outcome.detail.startswith("SIN (operation 0): not implemented")
    assert outcome.ran_on == ()


def test_an_error_that_is_expected_passes(tmp_path: Path) -> None:
    operands = [tensor("input", [2]), tensor("output", [3])]
    document = case(operands, "RELU", [([["0", "0"]], [["0", "0", "0"]])], expect_failure=True)
    assert ran(tmp_path, document).verdict is Verdict.EXACT


def test_what_is_not_implemented_is_not_the_error_that_is_expected(tmp_path: Path) -> None:
    operands = [tensor("input", [2]), tensor("output", [2])]
    document = case(operands, "SIN", [([["0", "0"]], [["0", "0"]])], expect_failure=True)
    outcome = ran(tmp_path, document)
    assert (outcome.verdict, "not implemented" in outcome.detail) == (Verdict.REFUSED, True)


def test_too_little_memory_is_not_the_error_that_is_expected(tmp_path: Path) -> None:
    size = 4000
    operands = [
        tensor("input", [1, size], "TENSOR_QUANT8_ASYMM", scale=0.5, zp=8),
        {"type": "FLOAT32", "dims": [], "lifetime": "const", "value": ["1"]},
        tensor("output", [1, size], "TENSOR_QUANT8_ASYMM", scale=0.00390625),
    ]
    document = case(operands, "SOFTMAX", [([[8] * size], [[0] * size])], expect_failure=True)
    small = NpuDevice(override(load_machine("tiny"), ["sram.kib=1", "sram.banks=1", "sram.ports=1"]))
    outcome = ran(tmp_path, document, small)
    assert (outcome.verdict, "cannot be tiled" in outcome.detail) == (Verdict.REFUSED, True)


def test_an_answer_instead_of_an_error_fails(tmp_path: Path) -> None:
    outcome = ran(tmp_path, sum_case(expect_failure=True))
    assert (outcome.verdict, "must report an error" in outcome.detail) == (Verdict.FAILED, True)


@pytest.mark.parametrize("expect_failure", [False, True])
def test_a_defect_of_the_program_is_a_failure_never_the_expected_error(
    tmp_path: Path, expect_failure: bool
) -> None:
    outcome = ran(tmp_path, sum_case(expect_failure=expect_failure), BrokenDevice())
    assert (outcome.verdict, outcome.detail) == (Verdict.FAILED, "internal error: KeyError: 'gone'")


def test_what_the_host_of_the_npu_does_is_told_with_the_reason(tmp_path: Path) -> None:
    document = case(FULLY_CONNECTED, "FULLY_CONNECTED", [([["1", "2"]], [["9"]])])
    outcome = ran(tmp_path, document, NPU)
    assert (outcome.verdict, outcome.ran_on) == (Verdict.EXACT, ("host",))
    (reason,) = outcome.fallbacks
    assert reason.startswith("FULLY_CONNECTED: input 0 is TENSOR_FLOAT32")


def test_a_variant_is_about_the_operation_of_its_case_not_about_the_sum(tmp_path: Path) -> None:
    document = case(FULLY_CONNECTED, "FULLY_CONNECTED", [([["1", "2"]], [["9"]])])
    document["lifetime_variants"] = ["all_inputs_as_internal"]
    (derived,) = variants(read_case(write(tmp_path, "small", document)))
    outcome = run_case(derived, NPU, Numerics.NNAPI)
    assert (outcome.label, outcome.ran_on) == ("small (all_inputs_as_internal)", ("host",))


@pytest.mark.parametrize("device", [NPU, REFERENCE])
def test_variants_have_the_answers_of_their_case(tmp_path: Path, device: Device) -> None:
    cases = variants(read_case(write(tmp_path, "small", sum_case())))
    assert {run_case(each, device, Numerics.NNAPI).verdict for each in cases} == {Verdict.EXACT}


def test_constants_by_reference_are_not_copied(tmp_path: Path) -> None:
    original: Case = read_case(write(tmp_path, "small", sum_case()))
    model = build_model(dataclasses.replace(original, by_reference=frozenset({1})))
    value, given = model.graph.operands[1].value, original.graph.operands[1].value
    assert value is not None
    assert given is not None
    assert value.ctypes.data == given.ctypes.data


def test_rules_of_level_27_refuse_what_came_later(tmp_path: Path) -> None:
    operands = [
        tensor("input", [1], "TENSOR_QUANT8_ASYMM", scale=0.5, zp=128),
        tensor("output", [1], "TENSOR_QUANT8_ASYMM", scale=0.0078125, zp=128),
    ]
    read = read_case(write(tmp_path, "small", case(operands, "TANH", [([[128]], [[128]])])))
    verdicts = [run_case(read, REFERENCE, numerics).verdict for numerics in Numerics]
    assert verdicts == [Verdict.EXACT, Verdict.REFUSED]
