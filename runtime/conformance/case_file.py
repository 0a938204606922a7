"""From files to conformance cases; every number is checked against the type it is meant for."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from compiler.graph import ChannelQuantization, Graph, Operand, OperandType, Operation
from compiler.nnapi import OperandCode, OperationCode
from runtime.conformance.case import Case, Example, Subject
from runtime.conformance.case_format import (
    Lifetime,
    Number,
    StoredCase,
    StoredExample,
    StoredModel,
    StoredOperand,
)
from runtime.device import Array
from runtime.errors import BadDataError

_DECODER = msgspec.json.Decoder(StoredCase)
_SUBGRAPH = "SUBGRAPH"
"""How the files call MODEL."""


class CaseFileError(BadDataError):
    """A file is no conformance case; the message names the file and what is wrong."""


def case_files(paths: Iterable[Path]) -> list[Path]:
    """The files among `paths`, and all .json files in folders and below, by name; each file once.

    Raises CaseFileError for a folder without any.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir():
            found.setdefault(path.resolve(), path)
            continue
        inside = sorted(inner for inner in path.rglob("*.json") if not inner.is_dir())
        if not inside:
            raise CaseFileError(f"{path}: has no .json file, must have at least 1")
        for inner in inside:
            found.setdefault(inner.resolve(), inner)
    return [*found.values()]


def read_case(path: Path) -> Case:
    """The case in a file; CaseFileError if it is none, OSError if it cannot be read."""
    try:
        stored = _DECODER.decode(path.read_bytes())
        return _case(stored)
    except (msgspec.DecodeError, UnicodeDecodeError, _FlawError) as error:
        raise CaseFileError(f"{path}: not a conformance case of format 1: {error}") from error


class _FlawError(Exception):
    """What is wrong with a case; the message says where."""


def _case(stored: StoredCase) -> Case:
    graph = _graph("model", stored.model, dict(enumerate(stored.referenced)), stored.name)
    if not stored.examples:
        raise _FlawError("examples: there are none, must be at least 1")
    return Case(
        name=stored.name,
        derivable=stored.lifetime_variants,
        subjects=_subjects(graph),
        api_level=stored.api_level,
        expect_failure=stored.expect_failure,
        graph=graph,
        by_reference=frozenset(
            number for number, operand in enumerate(stored.model.operands) if operand.by_reference
        ),
        examples=tuple(
            _example(f"examples[{index}]", example, stored.model, graph)
            for index, example in enumerate(stored.examples)
        ),
    )


def _subjects(graph: Graph) -> tuple[Subject, ...]:
    """The operations, each once, with the type of their data: of the first tensor that is not int32."""
    found: dict[Subject, None] = {}
    for operation in graph.operations:
        codes = [graph.operands[number].type.code for number in (*operation.inputs, *operation.outputs)]
        tensors = [code for code in codes if not code.is_scalar]
        data = [code for code in tensors if code is not OperandCode.TENSOR_INT32] or tensors or codes
        found[Subject(operation.code.name, data[0].name if data else "")] = None
    return tuple(found)


def _graph(place: str, model: StoredModel, referenced: Mapping[int, StoredModel], name: str) -> Graph:
    operands = tuple(
        _operand(f"{place}.operands[{number}]", operand, referenced)
        for number, operand in enumerate(model.operands)
    )
    operations = []
    for index, operation in enumerate(model.operations):
        here = f"{place}.operations[{index}]"
        if operation.op not in OperationCode.__members__:
            raise _FlawError(f"{here}.op is {operation.op!r}, must be the name of an NNAPI operation")
        for side, numbers in (("in", operation.inputs), ("out", operation.outputs)):
            _check_indices(f"{here}.{side}", numbers, len(operands))
        operations.append(Operation(OperationCode[operation.op], operation.inputs, operation.outputs))
    for side, numbers in (("inputs", model.inputs), ("outputs", model.outputs)):
        _check_indices(f"{place}.{side}", numbers, len(operands))
    return Graph(
        operands=operands,
        operations=tuple(operations),
        inputs=model.inputs,
        outputs=model.outputs,
        name=name,
    )


def _check_indices(place: str, numbers: Sequence[int], count: int) -> None:
    for number in numbers:
        if number >= count:
            raise _FlawError(f"{place} has operand {number}, must be 0 to {count - 1}")


def _operand(place: str, stored: StoredOperand, referenced: Mapping[int, StoredModel]) -> Operand:
    type_ = _type(place, stored)
    match stored.lifetime:
        case Lifetime.INPUT | Lifetime.OUTPUT | Lifetime.INTERNAL:
            return Operand(type_)
        case Lifetime.NO_VALUE:
            return Operand(type_, omitted=True)
        case Lifetime.CONSTANT:
            return Operand(type_, value=_array(f"{place}.value", type_, stored.value))
        case Lifetime.SUBGRAPH:
            return Operand(type_, body=_body(place, stored, referenced))


def _body(place: str, stored: StoredOperand, referenced: Mapping[int, StoredModel]) -> Graph:
    """The model that an operand stands for."""
    if len(stored.value) != 1 or stored.value[0] not in referenced:
        raise _FlawError(
            f"{place}.value is {list(stored.value)}, must be the index of one of the referenced models that"
            f" it may stand for: {[*referenced]}"
        )
    index = int(stored.value[0])
    others = {i: model for i, model in referenced.items() if i != index}  # no model contains itself
    return _graph(f"referenced[{index}]", referenced[index], others, "")


def _type(place: str, stored: StoredOperand) -> OperandType:
    known = {**OperandCode.__members__, _SUBGRAPH: OperandCode.MODEL}
    if stored.type not in known:
        raise _FlawError(f"{place}.type is {stored.type!r}, must be the name of an NNAPI operand type")
    channels = None
    if stored.channel_scales and not stored.channel_hide:
        scales = [_real(f"{place}.channel_scales[{i}]", n) for i, n in enumerate(stored.channel_scales)]
        channels = ChannelQuantization(stored.channel_dim, tuple(scales))
    return OperandType(
        known[stored.type], stored.dims, _real(f"{place}.scale", stored.scale), stored.zp, channels
    )


def _real(place: str, number: Number) -> float:
    """The float32 nearest to the double nearest to a decimal number."""
    return float(_reals(place, [number])[0])


def _reals(place: str, numbers: Sequence[Number]) -> Array:
    """The same for many, as float32."""
    try:
        with np.errstate(over="ignore"):
            return np.array([float(number) for number in numbers]).astype(np.float32)
    except (ValueError, OverflowError) as error:
        raise _FlawError(f"{place}: {error}") from error


def _array(place: str, type_: OperandType, flat: Sequence[Number]) -> Array:
    """Flat numbers in the shape and the dtype of a type."""
    if len(flat) != math.prod(type_.dimensions):
        raise _FlawError(
            f"{place} has {len(flat)} numbers, must have {math.prod(type_.dimensions)} for"
            f" {type_.code.name} {list(type_.dimensions)}"
        )
    if type_.dtype.kind == "f":
        return _reals(place, flat).astype(type_.dtype).reshape(type_.dimensions)
    if type_.dtype.kind == "b":
        low, high = 0, 1
    else:
        low, high = int(np.iinfo(type_.dtype).min), int(np.iinfo(type_.dtype).max)
    for number in flat:
        if not (isinstance(number, int) and low <= number <= high):
            raise _FlawError(
                f"{place} has {number!r}, must be whole and {low} to {high} for {type_.code.name}"
            )
    return np.array(flat, type_.dtype).reshape(type_.dimensions)


def _example(place: str, stored: StoredExample, model: StoredModel, graph: Graph) -> Example:
    expected = [
        None if model.operands[number].ignored else flat
        for number, flat in zip(graph.outputs, stored.outputs, strict=False)
    ]
    sides = (("inputs", graph.inputs, stored.inputs), ("outputs", graph.outputs, stored.outputs))
    for side, numbers, arrays in sides:
        if len(numbers) != len(arrays):
            raise _FlawError(
                f"{place}.{side} has {len(arrays)} arrays, must have {len(numbers)}: one for each of the"
                f" model's {side}"
            )
    return Example(
        name=stored.test,
        inputs=_arrays(f"{place}.inputs", graph, graph.inputs, stored.inputs),
        outputs=_arrays(f"{place}.outputs", graph, graph.outputs, expected),
    )


def _arrays(
    place: str, graph: Graph, numbers: Sequence[int], arrays: Sequence[Sequence[Number] | None]
) -> tuple[Array | None, ...]:
    return tuple(
        None if flat is None else _array(f"{place}[{index}]", graph.operands[number].type, flat)
        for index, (number, flat) in enumerate(zip(numbers, arrays, strict=True))
    )
