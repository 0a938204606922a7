"""AOSP's conformance cases of level 27, and the shapes that operations give each other."""

import dataclasses
from collections.abc import Callable

import pytest

from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import REGISTRY
from compiler.passes.legalise import legalise
from runtime.conformance.case import Case
from runtime.conformance.variants import with_internal_inputs, with_tensors_as_inputs
from tests.support.one_operation import float32, one_operation
from tests.support.operations import inferred, refused, unsupported
from tests.support.shared import shared_path
from tests.support.vts import load_vts, vts_names

OPERATIONS = frozenset(REGISTRY)
OTHER_TYPES = frozenset(OperandCode) - {code for code in OperandCode if code <= OperandCode.BOOL}


def cases(directory: str) -> tuple[str, ...]:
    """Names of the cases of operations and types that the compiler knows."""
    return vts_names(directory, OPERATIONS, OTHER_TYPES)


LEVEL_27 = cases("V1_0")
LATER = [(directory, name) for directory in ("V1_1", "V1_2") for name in cases(directory)]


def unchanged(case: Case) -> Case:
    return case


def assert_legal(case: Case, numerics: Numerics) -> None:
    """The graph is legal, and its outputs have the types that the case declares."""
    legal = legalise(case.graph, numerics)
    for number in case.graph.outputs:
        assert legal.operands[number].type == case.graph.operands[number].type


def test_there_are_103_cases_of_level_27() -> None:
    shared_path("nnapi", "vts", "V1_0")
    assert len(LEVEL_27) == 103


@pytest.mark.parametrize("variant", [unchanged, with_tensors_as_inputs, with_internal_inputs])
@pytest.mark.parametrize("name", LEVEL_27)
def test_cases_of_level_27_are_legal_at_all_levels(name: str, variant: Callable[[Case], Case]) -> None:
    for numerics in Numerics:
        assert_legal(variant(load_vts("V1_0", name)), numerics)


@pytest.mark.parametrize(("directory", "name"), LATER)
def test_later_cases_are_legal_at_level_29(directory: str, name: str) -> None:
    case = load_vts(directory, name)
    if case.expect_failure:
        pytest.skip("the case must fail somewhere, and need not fail here")
    assert_legal(case, Numerics.NNAPI)


def test_a_declared_shape_may_be_unknown_or_partly_known() -> None:
    for declared in (float32(), float32(0, 0), float32(2, 0)):
        graph = one_operation(OperationCode.RELU, [(float32(2, 3), None)], (), declared)
        assert inferred(graph) == float32(2, 3)


@pytest.mark.parametrize("declared", [float32(2, 4), float32(6), float32(0, 3, 1)])
def test_a_declared_shape_must_not_differ(declared: OperandType) -> None:
    graph = one_operation(OperationCode.RELU, [(float32(2, 3), None)], (), declared)
    refused(graph, "the operation makes [2, 3]", ResultCode.OP_FAILED)


@pytest.mark.parametrize("kind", [float32(0, 3), float32()])
def test_an_input_of_unknown_size_cannot_be_judged(kind: OperandType) -> None:
    graph = one_operation(OperationCode.RELU, [(float32(2, 3), None)], (), float32())
    operands = (dataclasses.replace(graph.operands[0], type=kind), *graph.operands[1:])
    unsupported(
        dataclasses.replace(graph, operands=operands),
        "RELU (operation 0): input (input 0) has unspecified dimensions",
    )
