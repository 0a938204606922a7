"""AOSP's conformance cases in the JSON form that the evidence's own README describes."""

import dataclasses
import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.graph import Graph, Operand, OperandType, Operation
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from tests.support.shared import SHARED

Array = npt.NDArray[Any]
_VARIABLE = ("input", "output", "internal")


@dataclasses.dataclass(frozen=True, slots=True)
class VtsExample:
    """Inputs and expected outputs in the model's order; None: contents are not checked."""

    name: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array | None, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class VtsCase:
    """One model with its examples. `api_level` is the lowest level that must accept it."""

    name: str
    api_level: int
    expect_failure: bool
    graph: Graph
    examples: tuple[VtsExample, ...]


@functools.cache
def vts_names(directory: str, operations: frozenset[OperationCode]) -> tuple[str, ...]:
    """Names of the cases of a directory that consist of `operations` on quant8; none if it is absent."""
    folder = SHARED / "nnapi" / "vts" / directory
    return tuple(path.stem for path in sorted(folder.glob("*.json")) if _fits(path, operations))


def _fits(path: Path, operations: frozenset[OperationCode]) -> bool:
    text = path.read_text()
    # Most of a file is numbers, so look for the type before parsing.
    if '"TENSOR_QUANT8_ASYMM"' not in text or not any(f'"{code.name}"' in text for code in operations):
        return False
    model = json.loads(text)["model"]
    types = {operand["type"] for operand in model["operands"]}
    names = {operation["op"] for operation in model["operations"]}
    floats = {"TENSOR_FLOAT32"} & types
    return (
        types <= set(OperandCode.__members__) and not floats and names <= {code.name for code in operations}
    )


def load_vts(directory: str, name: str) -> VtsCase:
    """A case by name."""
    case = json.loads((SHARED / "nnapi" / "vts" / directory / f"{name}.json").read_text())
    model = case["model"]
    operands = tuple(_operand(description) for description in model["operands"])
    graph = Graph(
        operands=operands,
        operations=tuple(
            Operation(OperationCode[operation["op"]], tuple(operation["in"]), tuple(operation["out"]))
            for operation in model["operations"]
        ),
        inputs=tuple(model["inputs"]),
        outputs=tuple(model["outputs"]),
        name=name,
    )
    ignored = {number for number in graph.outputs if model["operands"][number].get("ignored")}
    examples = tuple(_example(graph, ignored, example) for example in case["examples"])
    return VtsCase(name, case["api_level"], case["expect_failure"], graph, examples)


def with_tensors_as_inputs(case: VtsCase) -> VtsCase:
    """AOSP's variant in which every constant tensor is a model input instead."""
    operands = list(case.graph.operands)
    constant = [
        i for i, operand in enumerate(operands) if operand.is_constant and not operand.type.code.is_scalar
    ]
    values = tuple(value for number in constant if (value := operands[number].value) is not None)
    for number in constant:
        operands[number] = dataclasses.replace(operands[number], value=None)
    graph = dataclasses.replace(case.graph, operands=tuple(operands), inputs=(*case.graph.inputs, *constant))
    examples = [dataclasses.replace(example, inputs=(*example.inputs, *values)) for example in case.examples]
    return dataclasses.replace(case, graph=graph, examples=tuple(examples))


def with_internal_inputs(case: VtsCase) -> VtsCase:
    """AOSP's variant in which every quant8 input is the sum of a new input and zero."""
    operands, operations, inputs = list(case.graph.operands), [], []
    for number in case.graph.inputs:
        kind = operands[number].type
        if kind.code is not OperandCode.TENSOR_QUANT8_ASYMM:
            inputs.append(number)
            continue
        one = dataclasses.replace(kind, dimensions=(1,))
        inputs.append(len(operands))
        operands += [
            Operand(kind),
            Operand(one, value=np.array([kind.zero_point], kind.dtype)),
            Operand(OperandType(OperandCode.INT32), value=np.array(FuseCode.NONE, np.int32)),
        ]
        operations.append(Operation(OperationCode.ADD, tuple(range(inputs[-1], len(operands))), (number,)))
    graph = dataclasses.replace(
        case.graph,
        operands=tuple(operands),
        operations=(*operations, *case.graph.operations),
        inputs=tuple(inputs),
    )
    return dataclasses.replace(case, graph=graph)


def _operand(description: dict[str, Any]) -> Operand:
    kind = OperandType(
        OperandCode[description["type"]],
        tuple(description["dims"]),
        float(np.float32(description.get("scale", 0.0))),
        description.get("zp", 0),
    )
    if description["lifetime"] in _VARIABLE:
        return Operand(kind)
    if description["lifetime"] == "no_value":
        return Operand(kind, omitted=True)
    return Operand(kind, value=_array(kind, description["value"]))


def _array(kind: OperandType, flat: list[Any]) -> Array:
    return np.array(flat).astype(kind.dtype).reshape(kind.dimensions)


def _example(graph: Graph, ignored: set[int], example: dict[str, Any]) -> VtsExample:
    types = [graph.operands[number].type for number in graph.inputs]
    inputs = tuple(_array(kind, flat) for kind, flat in zip(types, example["inputs"], strict=True))
    outputs = tuple(
        None if flat is None or number in ignored else _array(graph.operands[number].type, flat)
        for number, flat in zip(graph.outputs, example["outputs"], strict=True)
    )
    return VtsExample(example["test"], inputs, outputs)
