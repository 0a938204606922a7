"""AOSP's conformance cases among the evidence, and what tests ask of an answer."""

import functools

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from runtime.conformance.case import Case
from runtime.conformance.case_file import read_case
from runtime.conformance.comparison import Agreement, compare
from runtime.device import Array
from tests.support.shared import SHARED

_LATEST_LEVEL = 29
_TYPES = frozenset(code for code in OperandCode if code <= OperandCode.BOOL)
"""Operand types that the devices know."""


@functools.cache
def vts_names(
    directory: str,
    operations: frozenset[OperationCode],
    without: frozenset[OperandCode] = frozenset(),
) -> tuple[str, ...]:
    """Names of the cases of a directory that level 29 accepts and that consist of `operations`.

    Their operands have types that the devices know and none of `without`. None at all without the directory.
    """
    folder = SHARED / "nnapi" / "vts" / directory
    names = (path.stem for path in sorted(folder.glob("*.json")))
    types = _TYPES - without
    return tuple(name for name in names if _is_asked_for(load_vts(directory, name), operations, types))


def _is_asked_for(case: Case, operations: frozenset[OperationCode], types: frozenset[OperandCode]) -> bool:
    return (
        case.api_level <= _LATEST_LEVEL
        and {operation.code for operation in case.graph.operations} <= operations
        and {operand.type.code for operand in case.graph.operands} <= types
    )


@functools.cache
def load_vts(directory: str, name: str) -> Case:
    """A case by name."""
    return read_case(SHARED / "nnapi" / "vts" / directory / f"{name}.json")


def assert_agrees(output: Array, expected: Array) -> None:
    """Bytes and integers must be exact, floats within AOSP's tolerance; shape and type the same."""
    allowed = Agreement.WITHIN_TOLERANCE if expected.dtype == np.float32 else Agreement.EXACT
    comparison = compare(output, expected, test="")
    assert comparison.agreement <= allowed, comparison.difference
