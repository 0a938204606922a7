"""What the notes on operations say is what the rules, the compiler and the machine do."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from compiler.errors import CompilerError, UnsupportedError
from compiler.graph import Graph, Operand
from compiler.nnapi import Numerics, OperandCode, OperationCode
from compiler.operation import REGISTRY
from compiler.operation_notes import OperandNote
from compiler.passes.legalise import legalise
from isa.instruction import Instruction, UnitKind
from isa.instructions.gather import RowPick
from isa.instructions.window import Window
from npu_sim.config_io import load_machine
from npu_sim.units.lane_work import lane_work
from runtime.conformance.case import Case
from tests.support.machines import compile_for
from tests.support.shared import shared_path
from tests.support.vts import load_vts, vts_names

TINY = load_machine("tiny")
QUANT8, FLOAT32, INT32 = (
    OperandCode.TENSOR_QUANT8_ASYMM,
    OperandCode.TENSOR_FLOAT32,
    OperandCode.TENSOR_INT32,
)


def cases(*directories: str) -> Iterator[Case]:
    """Conformance cases of one operation that the rules accept."""
    for directory in directories:
        shared_path("nnapi", "vts", directory)
        for name in vts_names(directory, frozenset(REGISTRY)):
            case = load_vts(directory, name)
            if len(case.graph.operations) == 1 and not case.expect_failure:
                yield case


def readings(notes: Sequence[OperandNote], total: int) -> Iterator[list[OperandNote]]:
    """The note of each of `total` operands, in all the ways the notes can be read."""
    choices = [note.counts or range(1, total + 1) for note in notes]
    for chosen in itertools.product(*choices):
        if sum(chosen) == total:
            yield list(itertools.chain(*map(itertools.repeat, notes, chosen)))


def is_left_out(operand: Operand) -> bool:
    return operand.omitted or 0 in operand.type.dimensions


def left_out_at_execution(case: Case) -> set[int]:
    return {
        number
        for example in case.examples
        for number, value in zip(case.graph.inputs, example.inputs, strict=True)
        if value is None
    }


def fits(operand: Operand, note: OperandNote) -> bool:
    if operand.type.code not in note.types:
        return False
    if is_left_out(operand):
        return note.optional
    rank = len(operand.type.dimensions)
    return rank >= 1 if note.ranks is None else rank in (note.ranks or (0,))


def admits(notes: Sequence[OperandNote], operands: Sequence[Operand]) -> bool:
    return any(all(map(fits, operands, reading)) for reading in readings(notes, len(operands)))


@pytest.mark.parametrize("code", list(REGISTRY), ids=lambda code: code.name)
def test_only_what_never_runs_on_the_npu_has_no_formula(code: OperationCode) -> None:
    spec = REGISTRY[code]
    assert spec.notes.runs.startswith("host: ") == (spec.lower is None)
    assert (spec.notes.cycles == ()) == (spec.lower is None)


def test_notes_admit_the_operands_of_every_case() -> None:
    described = set[OperationCode]()
    for case in cases("V1_0", "V1_1", "V1_2"):
        (operation,) = case.graph.operations
        notes = REGISTRY[operation.code].notes
        for side, numbers in ((notes.inputs, operation.inputs), (notes.outputs, operation.outputs)):
            assert admits(side, [case.graph.operands[number] for number in numbers]), case.name
        described.add(operation.code)
    assert described == set(REGISTRY)


def test_tensors_of_types_that_the_notes_do_not_name_are_refused() -> None:
    tried = 0
    for case in cases("V1_0"):
        (operation,) = case.graph.operations
        reading = next(readings(REGISTRY[operation.code].notes.inputs, len(operation.inputs)))
        left_out = left_out_at_execution(case)
        for number, note in zip(operation.inputs, reading, strict=True):
            if note.ranks == () or number in left_out or is_left_out(case.graph.operands[number]):
                continue
            for code in {QUANT8, FLOAT32, INT32}.difference(note.types):
                with pytest.raises(CompilerError):
                    legalise(with_type(case.graph, number, code), Numerics.NNAPI)
                tried += 1
    assert tried > 400


def with_type(graph: Graph, number: int, code: OperandCode) -> Graph:
    """The graph with another type of one operand, whose value is zero if it is constant."""
    operands = list(graph.operands)
    operand = operands[number]
    type_ = dataclasses.replace(operand.type, code=code, scale=0.5 if code is QUANT8 else 0.0, zero_point=0)
    value = None if operand.value is None else np.zeros(type_.dimensions, type_.dtype)
    operands[number] = dataclasses.replace(operand, type=type_, value=value)
    return dataclasses.replace(graph, operands=tuple(operands))


def terms(instruction: Instruction) -> dict[str, Any]:
    """The terms of the formulas for a vector instruction on `tiny`."""
    found: dict[str, Any] = {
        "L": TINY.vector.lanes,
        "F": TINY.vector.float_lanes,
        "ceil": math.ceil,
        "log2": lambda lanes: math.ceil(math.log2(lanes)),
    }
    for name in ("taps", "rows", "lookups", "keys", "window", "elements"):
        if hasattr(instruction, name):
            found[name] = getattr(instruction, name)
    if isinstance(instruction, RowPick):
        found["B"] = instruction.output_bytes
    elif isinstance(instruction, Window):
        found["E"] = instruction.output_pixels * instruction.output_channels
    elif "elements" in found:
        found["E"] = found["B"] = found["elements"]
    if "keys" in found:
        found["probes"] = found["keys"].bit_length()
    return found


def values(case: Case, instruction: Instruction) -> set[int]:
    """What the formulas of the case's operation for its data give, as far as they apply to an instruction."""
    notes = REGISTRY[case.graph.operations[0].code].notes.cycles
    other = "float32" if case.subjects[0].type == QUANT8.name else "quant8"
    known = terms(instruction)
    found = set()
    for note in notes:
        code = compile(note.formula, note.case, "eval")
        if not note.case.startswith(other) and known.keys() >= {*code.co_names}:
            found.add(eval(code, {}, known))
    return found


def test_vector_instructions_take_the_cycles_of_the_formulas() -> None:
    checked = set[tuple[OperationCode, str]]()
    for case in cases("V1_0", "V1_2"):
        try:
            program = compile_for(case.graph, TINY).program
        except UnsupportedError:
            continue
        for instruction in program.instructions:
            if type(instruction).kind is UnitKind.VECTOR:
                assert lane_work(instruction, TINY.vector).cycles in values(case, instruction), case.name
                checked.add((case.graph.operations[0].code, case.subjects[0].type))
    with_formula = {code for code, spec in REGISTRY.items() if spec.notes.cycles}
    on_matrix_unit = {OperationCode.CONV_2D, OperationCode.FULLY_CONNECTED}
    assert {code for code, _ in checked} == with_formula - on_matrix_unit
    assert len(checked) > 30
