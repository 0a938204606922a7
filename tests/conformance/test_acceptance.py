"""The compiler's checks and the reference judge every case alike, though they share no code."""

from collections.abc import Sequence
from typing import Any

import pytest

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph
from compiler.nnapi import Numerics, OperandCode, ResultCode
from compiler.operation import REGISTRY
from compiler.passes.legalise import legalise
from runtime.conformance.variants import with_internal_inputs, with_tensors_as_inputs
from tests.support.corpus import corpus_ids, load_corpus_case
from tests.support.execute import execute_on_reference
from tests.support.vts import load_vts, vts_names

OPERATIONS = frozenset(REGISTRY)
FLOATS = frozenset({OperandCode.TENSOR_FLOAT32})

Verdict = list[tuple[int, ...]] | ResultCode
"""Shapes of the outputs, or why the graph is refused."""


def reference_verdict(graph: Graph, inputs: Sequence[Any], numerics: Numerics) -> Verdict:
    try:
        return [output.shape for output in execute_on_reference(graph, inputs, numerics)]
    except GraphError as error:
        return error.result_code


def compiler_verdict(graph: Graph, numerics: Numerics) -> Verdict | None:
    """None for what NNAPI allows and the compiler does not implement."""
    try:
        operands = legalise(graph, numerics).operands
    except GraphError as error:
        return error.result_code
    except UnsupportedError:
        return None
    return [operands[number].type.dimensions for number in graph.outputs]


def assert_same(graph: Graph, inputs: Sequence[Any], numerics: Numerics) -> None:
    verdict = compiler_verdict(graph, numerics)
    if verdict is None:
        pytest.skip("not implemented in the compiler")
    assert verdict == reference_verdict(graph, inputs, numerics)


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize(
    ("directory", "name"),
    [
        (directory, name)
        for directory in ("V1_0", "V1_2")
        for name in vts_names(directory, OPERATIONS, FLOATS)
    ],
)
def test_conformance_cases_are_judged_alike(directory: str, name: str, numerics: Numerics) -> None:
    case = load_vts(directory, name)
    for variant in (case, with_tensors_as_inputs(case), with_internal_inputs(case)):
        assert_same(variant.graph, variant.examples[0].inputs, numerics)


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("number", corpus_ids(OPERATIONS))
def test_corpus_cases_are_judged_alike(number: str, numerics: Numerics) -> None:
    case = load_corpus_case(number)
    assert_same(case.graph, case.inputs, numerics)
