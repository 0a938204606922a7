"""Random one-operator cases against TensorFlow Lite's reference kernels, bit for bit."""

import numpy as np
import pytest

from compiler.errors import CompilerError
from compiler.graph import Graph
from compiler.nnapi import Numerics
from runtime.tflite import load_tflite
from tests.support.corpus import Array, corpus_ids, load_corpus_case
from tests.support.execute import DEVICES, EXECUTORS, execute_on_reference
from tests.support.shared import shared_path

TABLE_DIFFERENCES = {
    "LOGISTIC/uint8.002": 1,
    "LOGISTIC/uint8.006": 2,
    "LOGISTIC/uint8.018": 2,
    "LOGISTIC/uint8.050": 2,
    "LOGISTIC/uint8.056": 2,
}
"""Accepted differences and how many codes differ, each by one: `test_…_float_table` proves the cause."""

RECTIFIERS = ("RELU/", "RELU_N1_TO_1/", "RELU6/")


def is_refused(number: str) -> bool:
    """NNAPI's rectifiers do not rescale, TensorFlow Lite's do."""
    return number.startswith(RECTIFIERS) and "rescale" in load_corpus_case(number).tags


REFUSED = frozenset(number for number in corpus_ids() if is_refused(number))
EXACT = sorted(set(corpus_ids()) - REFUSED - TABLE_DIFFERENCES.keys())


def test_the_corpus_has_thirty_cases_of_each_operation() -> None:
    shared_path("oracle", "corpus", "manifest.json")
    assert len(corpus_ids()) == 13 * 30


def test_only_rescaling_rectifiers_are_left_out() -> None:
    shared_path("oracle", "corpus", "manifest.json")
    assert len(REFUSED) == 14 + 8 + 12


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", EXACT)
def test_cases_are_exact(number: str, device: str) -> None:
    case = load_corpus_case(number)
    (output,) = EXECUTORS[device](case.graph, case.inputs, Numerics.NNAPI)
    np.testing.assert_array_equal(output, case.expected, strict=True)


@pytest.mark.parametrize("operator", sorted({number.split("/")[0] for number in EXACT}))
def test_cases_imported_from_their_files_are_exact(operator: str) -> None:
    different = []
    for number in EXACT:
        if number.startswith(f"{operator}/"):
            case = load_corpus_case(number)
            (output,) = execute_on_reference(load_tflite(case.model).graph, case.inputs, Numerics.NNAPI)
            if not np.array_equal(output, case.expected):
                different.append(number)
    assert different == []


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", sorted(REFUSED))
def test_rectifiers_that_rescale_are_refused_with_the_reason(number: str, device: str) -> None:
    case = load_corpus_case(number)
    with pytest.raises(CompilerError, match="rescale"):
        EXECUTORS[device](case.graph, case.inputs, Numerics.NNAPI)


def float_table(graph: Graph) -> Array:
    """The 256 bytes of LOGISTIC in single precision, rounded half away from zero."""
    kind = graph.operands[graph.operations[0].inputs[0]].type
    codes = np.arange(256, dtype=np.float32) - np.float32(kind.zero_point)
    sigmoid = np.float32(1) / (np.float32(1) + np.exp(-np.float32(kind.scale) * codes))
    steps: Array = np.minimum(np.floor(sigmoid * np.float32(256) + np.float32(0.5)), 255)
    return steps.astype(np.uint8)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", [number for number in corpus_ids() if number.startswith("LOGISTIC/")])
def test_logistic_differs_only_where_the_float_table_does(number: str, device: str) -> None:
    """The expected bytes are a table filled in single precision; NNAPI's are fixed point."""
    case = load_corpus_case(number)
    (output,) = EXECUTORS[device](case.graph, case.inputs, Numerics.NNAPI)
    np.testing.assert_array_equal(case.expected, float_table(case.graph)[case.inputs[0]])
    steps = np.abs(output.astype(np.int64) - case.expected)
    assert steps.max() <= 1
    assert steps.sum() == TABLE_DIFFERENCES.get(number, 0)
