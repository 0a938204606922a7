"""Random one-operator cases against TensorFlow Lite's reference kernels, bit for bit."""

from collections.abc import Callable, Collection

import numpy as np
import pytest

import compiler.ops  # noqa: F401  (fills the registry)
from compiler.errors import CompilerError, GraphError
from compiler.graph import Graph
from compiler.nnapi import Numerics, OperationCode
from compiler.operation import REGISTRY
from runtime.tflite import load_tflite
from tests.support.corpus import Array, corpus_ids, load_corpus_case
from tests.support.execute import EXECUTORS, execute_on_reference, on_devices
from tests.support.shared import shared_path

LOGISTIC_DIFFERENCES = {
    "LOGISTIC/uint8.002": 1,
    "LOGISTIC/uint8.006": 2,
    "LOGISTIC/uint8.018": 2,
    "LOGISTIC/uint8.050": 2,
    "LOGISTIC/uint8.056": 2,
}
TANH_DIFFERENCES = {
    "TANH/uint8.000": 1,
    "TANH/uint8.002": 2,
    "TANH/uint8.008": 2,
    "TANH/uint8.022": 2,
    "TANH/uint8.030": 1,
    "TANH/uint8.036": 2,
    "TANH/uint8.054": 2,
}
TABLE_DIFFERENCES = LOGISTIC_DIFFERENCES | TANH_DIFFERENCES
"""Accepted differences and how many codes differ, each by one: `test_…_float_table` proves the cause."""

RECTIFIERS = ("RELU/", "RELU_N1_TO_1/", "RELU6/")


def is_rescaled(number: str) -> bool:
    """NNAPI's rectifiers do not rescale, TensorFlow Lite's do."""
    return number.startswith(RECTIFIERS) and "rescale" in load_corpus_case(number).tags


def is_of_level_30(number: str) -> bool:
    """Aligned corners and half pixels came with level 30, as operands that level 29 does not know."""
    return number.startswith("RESIZE_BILINEAR/") and len(load_corpus_case(number).graph.operands) > 4


RESCALED = frozenset(number for number in corpus_ids() if is_rescaled(number))
OF_LEVEL_30 = frozenset(number for number in corpus_ids() if is_of_level_30(number))
ACCEPTED = frozenset(corpus_ids()) - RESCALED - OF_LEVEL_30
EXACT = ACCEPTED - TABLE_DIFFERENCES.keys()
ON_NPU = frozenset(corpus_ids(frozenset(REGISTRY)))


def devices_with(numbers: Collection[str]) -> list[object]:
    """Parameters (device, number) of the cases each device has."""
    return on_devices(sorted(numbers), sorted(ON_NPU.intersection(numbers)))


def named(operator: str) -> list[str]:
    return [number for number in sorted(ACCEPTED) if number.startswith(f"{operator}/")]


def test_the_corpus_has_thirty_cases_of_each_operation() -> None:
    shared_path("oracle", "corpus", "manifest.json")
    assert len(corpus_ids()) == 19 * 30


def test_only_rescaling_rectifiers_and_level_30_are_left_out() -> None:
    shared_path("oracle", "corpus", "manifest.json")
    assert len(RESCALED) == 14 + 8 + 12
    assert len(OF_LEVEL_30) == 16


@pytest.mark.parametrize(("device", "number"), devices_with(EXACT))
def test_cases_are_exact(number: str, device: str) -> None:
    case = load_corpus_case(number)
    (output,) = EXECUTORS[device](case.graph, case.inputs, Numerics.NNAPI)
    np.testing.assert_array_equal(output, case.expected, strict=True)


@pytest.mark.parametrize("operator", sorted({number.split("/")[0] for number in EXACT & ON_NPU}))
def test_cases_imported_from_their_files_are_exact(operator: str) -> None:
    different = []
    for number in named(operator):
        if number in EXACT:
            case = load_corpus_case(number)
            (output,) = execute_on_reference(load_tflite(case.model).graph, case.inputs, Numerics.NNAPI)
            if not np.array_equal(output, case.expected):
                different.append(number)
    assert different == []


@pytest.mark.parametrize(("device", "number"), devices_with(RESCALED))
def test_rectifiers_that_rescale_are_refused_with_the_reason(number: str, device: str) -> None:
    case = load_corpus_case(number)
    with pytest.raises(CompilerError, match="rescale"):
        EXECUTORS[device](case.graph, case.inputs, Numerics.NNAPI)


@pytest.mark.parametrize("number", sorted(OF_LEVEL_30))
def test_operands_of_level_30_are_refused(number: str) -> None:
    case = load_corpus_case(number)
    with pytest.raises(GraphError, match="6 inputs, expected 3 or 4"):
        execute_on_reference(case.graph, case.inputs, Numerics.NNAPI)


def sigmoid_in_steps(x: Array) -> Array:
    return np.float32(256) / (np.float32(1) + np.exp(-x))


def tanh_in_steps(x: Array) -> Array:
    return np.float32(128) * np.tanh(x)


def float_table(graph: Graph, steps_of: Callable[[Array], Array], zero_point: int) -> Array:
    """The 256 bytes of a function in single precision, rounded half away from its zero."""
    kind = graph.operands[graph.operations[0].inputs[0]].type
    codes = np.arange(256, dtype=np.float32) - np.float32(kind.zero_point)
    steps = steps_of(np.float32(kind.scale) * codes)
    rounded = np.sign(steps) * np.floor(np.abs(steps) + np.float32(0.5)) + zero_point
    table: Array = np.minimum(rounded, 255).astype(np.uint8)
    return table


FUNCTIONS: dict[OperationCode, tuple[Callable[[Array], Array], int]] = {
    OperationCode.LOGISTIC: (sigmoid_in_steps, 0),
    OperationCode.TANH: (tanh_in_steps, 128),
}


@pytest.mark.parametrize(("device", "number"), devices_with(named("LOGISTIC") + named("TANH")))
def test_functions_differ_only_where_the_float_table_does(number: str, device: str) -> None:
    """The expected bytes are a table filled in single precision; NNAPI's are fixed point."""
    case = load_corpus_case(number)
    (output,) = EXECUTORS[device](case.graph, case.inputs, Numerics.NNAPI)
    steps_of, zero_point = FUNCTIONS[case.graph.operations[0].code]
    table = float_table(case.graph, steps_of, zero_point)
    np.testing.assert_array_equal(case.expected, table[case.inputs[0]])
    steps = np.abs(output.astype(np.int64) - case.expected)
    assert steps.max() <= 1
    assert steps.sum() == TABLE_DIFFERENCES.get(number, 0)
