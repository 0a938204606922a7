"""Cases that compute on bytes or only move them run on the NPU alone, without its host, bit for bit."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler.nnapi import OperandCode, OperationCode
from npu_sim.config_io import load_machine
from runtime.conformance.case import Case
from runtime.conformance.variants import with_internal_inputs, with_tensors_as_inputs
from tests.support.corpus import corpus_ids, load_corpus_case
from tests.support.execute import PRESET_MARKS, PRESETS
from tests.support.shared import shared_path
from tests.support.vts import load_vts, vts_names
from tests.support.whole_npu import simulate_whole

LATER_ON_BYTES = frozenset(
    {OperationCode.TANH, OperationCode.L2_NORMALIZATION, OperationCode.RESIZE_BILINEAR}
)
"""Operations that compute on bytes from level 29 on."""
MOVING = frozenset(
    {
        OperationCode.RESHAPE,
        OperationCode.CONCATENATION,
        OperationCode.DEPTH_TO_SPACE,
        OperationCode.SPACE_TO_DEPTH,
        OperationCode.EMBEDDING_LOOKUP,
        OperationCode.HASHTABLE_LOOKUP,
    }
)
ON_BYTES = MOVING | {
    OperationCode.ADD,
    OperationCode.AVERAGE_POOL_2D,
    OperationCode.CONV_2D,
    OperationCode.DEPTHWISE_CONV_2D,
    OperationCode.FULLY_CONNECTED,
    OperationCode.LOGISTIC,
    OperationCode.MAX_POOL_2D,
    OperationCode.MUL,
    OperationCode.RELU,
    OperationCode.RELU1,
    OperationCode.SOFTMAX,
}
"""Operations with cases on bytes at level 27."""
CORPUS_OPERATIONS = (
    OperationCode.MUL,
    OperationCode.DEPTH_TO_SPACE,
    OperationCode.SPACE_TO_DEPTH,
    OperationCode.RESIZE_BILINEAR,
)
FLOATS = frozenset({OperandCode.TENSOR_FLOAT32})


def level_27_cases() -> list[str]:
    """Every case of level 27 on bytes, and those that move floats."""
    on_bytes = vts_names("V1_0", ON_BYTES, FLOATS)
    return sorted({*on_bytes, *vts_names("V1_0", MOVING)})


def level_29_cases() -> list[str]:
    """Those in NHWC and along the last axis; others need the host."""
    names = vts_names("V1_2", LATER_ON_BYTES, FLOATS)
    last_axis = ("dim1_axis0", "dim2_axis1", "dim3_axis2", "dim4_axis3")
    return [
        name
        for name in names
        if "_nchw" not in name and ("_axis" not in name or any(a in name for a in last_axis))
    ]


def on_presets(names: list[str]) -> list[object]:
    return [
        pytest.param(preset, name, marks=PRESET_MARKS[preset], id=f"{preset}-{name}")
        for preset in PRESETS
        for name in names
    ]


def check(case: Case, preset: str) -> None:
    for example in case.examples:
        values = [value for value in example.inputs if value is not None]
        result = simulate_whole(case.graph, values, load_machine(preset))
        for number, expected in zip(case.graph.outputs, example.outputs, strict=True):
            if expected is not None:
                np.testing.assert_array_equal(result.tensors[number], expected, strict=True)


def test_there_are_cases_of_every_operation_with_bytes_at_level_27() -> None:
    shared_path("nnapi", "vts", "V1_0")
    cases = [load_vts("V1_0", name) for name in level_27_cases()]
    assert {operation.code for case in cases for operation in case.graph.operations} == ON_BYTES


@pytest.mark.parametrize(("preset", "name"), on_presets(level_27_cases()))
def test_level_27_cases_are_exact(preset: str, name: str) -> None:
    check(load_vts("V1_0", name), preset)


@pytest.mark.parametrize("variant", [with_tensors_as_inputs, with_internal_inputs])
@pytest.mark.parametrize(("preset", "name"), on_presets(level_27_cases()))
def test_variants_are_exact(preset: str, name: str, variant: Callable[[Case], Case]) -> None:
    check(variant(load_vts("V1_0", name)), preset)


@pytest.mark.parametrize(("preset", "name"), on_presets(level_29_cases()))
def test_level_29_cases_are_exact(preset: str, name: str) -> None:
    check(load_vts("V1_2", name), preset)


@pytest.mark.parametrize(
    ("preset", "number"),
    on_presets(
        [
            number
            for number in corpus_ids(CORPUS_OPERATIONS)
            if len(load_corpus_case(number).graph.operands) <= 4  # more: operands of level 30
        ]
    ),
)
def test_corpus_cases_are_exact(preset: str, number: str) -> None:
    case = load_corpus_case(number)
    result = simulate_whole(case.graph, case.inputs, load_machine(preset))
    np.testing.assert_array_equal(result.tensors[case.graph.outputs[0]], case.expected, strict=True)
