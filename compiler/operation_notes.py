"""What the documentation says of an operation: its operands, limits, where it runs, and its cycles."""

import dataclasses
from collections.abc import Collection

from compiler.nnapi import OperandCode


@dataclasses.dataclass(frozen=True, slots=True)
class OperandNote:
    """An operand, or several of one kind that follow each other.

    `types` are those the operation accepts. `ranks` of a tensor: None stands for any from 1 on; a scalar has
    none. `counts` says how many operands there may be: 0 if they may be missing; empty for any number from
    1 on. An `optional` tensor keeps its place and may be left out (no value).
    """

    name: str
    types: tuple[OperandCode, ...]
    meaning: str
    ranks: Collection[int] | None = None
    counts: tuple[int, ...] = (1,)
    optional: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class CycleNote:
    """Cycles of one instruction of a mapping, as a formula in the terms of OPERATIONS.md."""

    case: str
    formula: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OperationNotes:
    """Operands in order, further limits, where the operation runs and why not on the NPU, and its cycles.

    `cycles` is empty for an operation that never runs on the NPU.
    """

    inputs: tuple[OperandNote, ...]
    outputs: tuple[OperandNote, ...]
    limits: tuple[str, ...] = ()
    runs: str
    cycles: tuple[CycleNote, ...] = ()


def tensor(
    name: str,
    types: tuple[OperandCode, ...],
    ranks: Collection[int] | None,
    meaning: str,
    *,
    counts: tuple[int, ...] = (1,),
    optional: bool = False,
) -> OperandNote:
    """A tensor."""
    return OperandNote(name, types, meaning, ranks, counts, optional)


def scalar(
    name: str,
    meaning: str,
    *,
    types: tuple[OperandCode, ...] = (OperandCode.INT32,),
    counts: tuple[int, ...] = (1,),
) -> OperandNote:
    """A constant scalar, INT32 if not said otherwise."""
    return OperandNote(name, types, meaning, (), counts)
