"""AOSP's float32 cases of the operations that the NPU's float lanes have, on the NPU alone."""

import re
from collections.abc import Callable

import pytest

from compiler.errors import UnsupportedError
from compiler.nnapi import OperandCode, OperationCode
from npu_sim.config_io import load_machine
from runtime.conformance.case import Case
from runtime.conformance.variants import with_internal_inputs, with_tensors_as_inputs
from tests.support.execute import PRESET_MARKS, PRESETS
from tests.support.shared import shared_path
from tests.support.vts import assert_agrees, load_vts, vts_names
from tests.support.whole_npu import simulate_whole

ON_FLOAT_LANES = frozenset(
    {
        OperationCode.ADD,
        OperationCode.MUL,
        OperationCode.FLOOR,
        OperationCode.RELU,
        OperationCode.RELU1,
        OperationCode.RELU6,
        OperationCode.LOGISTIC,
        OperationCode.TANH,
        OperationCode.AVERAGE_POOL_2D,
        OperationCode.MAX_POOL_2D,
        OperationCode.L2_POOL_2D,
        OperationCode.SOFTMAX,
        OperationCode.L2_NORMALIZATION,
        OperationCode.LOCAL_RESPONSE_NORMALIZATION,
        OperationCode.DEQUANTIZE,
    }
)
BEYOND_THE_VECTOR_UNIT = ("data layout is NCHW", "; the NPU takes the last one")
"""Why the NPU may refuse a case of level 29."""


def float_cases(directory: str) -> list[tuple[str, str]]:
    """The cases with a float32 tensor; those on bytes alone are judged elsewhere."""
    names = set(vts_names(directory, ON_FLOAT_LANES))
    bytes_only = set(vts_names(directory, ON_FLOAT_LANES, without=frozenset({OperandCode.TENSOR_FLOAT32})))
    return [(directory, name) for name in sorted(names - bytes_only)]


def is_beyond_the_vector_unit(name: str) -> bool:
    """Tell by a case's name that it is NCHW, or works along another axis than the last."""
    axis = re.search(r"dim(\d)_axis(\d)", name)
    return "_nchw" in name or (axis is not None and int(axis[2]) != int(axis[1]) - 1)


def on_presets(cases: list[tuple[str, str]]) -> list[object]:
    return [
        pytest.param(preset, *case, marks=PRESET_MARKS[preset], id=f"{preset}-{case[1]}")
        for preset in PRESETS
        for case in cases
    ]


def check(case: Case, preset: str) -> None:
    for example in case.examples:
        values = [value for value in example.inputs if value is not None]
        result = simulate_whole(case.graph, values, load_machine(preset))
        for number, expected in zip(case.graph.outputs, example.outputs, strict=True):
            if expected is not None:
                assert_agrees(result.tensors[number], expected)


def test_there_are_cases_of_every_operation_but_two() -> None:
    shared_path("nnapi", "vts", "V1_0")
    cases = [load_vts(*case) for case in float_cases("V1_0") + float_cases("V1_2")]
    assert {operation.code for case in cases for operation in case.graph.operations} == ON_FLOAT_LANES - {
        OperationCode.MUL,
        OperationCode.TANH,
    }


@pytest.mark.parametrize(("preset", "directory", "name"), on_presets(float_cases("V1_0")))
def test_level_27_cases_are_within_tolerance(preset: str, directory: str, name: str) -> None:
    check(load_vts(directory, name), preset)


@pytest.mark.parametrize("variant", [with_tensors_as_inputs, with_internal_inputs])
@pytest.mark.parametrize(("preset", "directory", "name"), on_presets(float_cases("V1_0")))
def test_variants_are_within_tolerance(
    preset: str, directory: str, name: str, variant: Callable[[Case], Case]
) -> None:
    check(variant(load_vts(directory, name)), preset)


@pytest.mark.parametrize(
    ("preset", "directory", "name"), on_presets(float_cases("V1_1") + float_cases("V1_2"))
)
def test_later_cases_are_within_tolerance_or_refused_with_the_reason(
    preset: str, directory: str, name: str
) -> None:
    if is_beyond_the_vector_unit(name):
        with pytest.raises(UnsupportedError, match="|".join(BEYOND_THE_VECTOR_UNIT)):
            check(load_vts(directory, name), preset)
    else:
        check(load_vts(directory, name), preset)
