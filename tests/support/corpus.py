"""Random one-operator cases with TensorFlow Lite's outputs, as graphs with NNAPI's operands."""

import dataclasses
import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.graph import Graph, OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode, PaddingCode
from tests.support.one_operation import int32, one_operation, quant8
from tests.support.shared import SHARED

Array = npt.NDArray[Any]
Entry = dict[str, Any]
Scalars = list[bool | int | float]

_FUSE_CODES = {
    "NONE": FuseCode.NONE,
    "RELU": FuseCode.RELU,
    "RELU_N1_TO_1": FuseCode.RELU1,
    "RELU6": FuseCode.RELU6,
}


@dataclasses.dataclass(frozen=True, slots=True)
class CorpusCase:
    """One case: the graph, its inputs, the output of TensorFlow Lite's reference kernels, its tags."""

    graph: Graph
    inputs: tuple[Array, ...]
    expected: Array
    tags: frozenset[str]
    model: bytes


def _fuse(entry: Entry) -> int:
    return int(_FUSE_CODES[entry["options"]["activation"]])


def _window(entry: Entry) -> Scalars:
    """Padding code and strides (width, height)."""
    options = entry["options"]
    height, width = options["stride"]
    return [int(PaddingCode[options["padding"]]), width, height]


def _dilation(entry: Entry) -> Scalars:
    """Level 29's layout flag and dilations (width, height), only where something is dilated."""
    height, width = entry["options"]["dilation"]
    return [] if (height, width) == (1, 1) else [False, width, height]


def _convolution(entry: Entry) -> Scalars:
    return [*_window(entry), _fuse(entry), *_dilation(entry)]


def _depthwise(entry: Entry) -> Scalars:
    return [*_window(entry), entry["options"]["depthMultiplier"], _fuse(entry), *_dilation(entry)]


def _pool(entry: Entry) -> Scalars:
    height, width = entry["options"]["filter"]
    return [*_window(entry), width, height, _fuse(entry)]


def _axis(entry: Entry) -> Scalars:
    """NNAPI counts the axis from the front."""
    return [entry["options"]["axis"] % len(entry["inputs"][0]["shape"])]


def _only_fuse(entry: Entry) -> Scalars:
    return [_fuse(entry)]


def _none(entry: Entry) -> Scalars:
    return []


_OPERATIONS: dict[str, tuple[OperationCode, Callable[[Entry], Scalars]]] = {
    "CONV_2D": (OperationCode.CONV_2D, _convolution),
    "DEPTHWISE_CONV_2D": (OperationCode.DEPTHWISE_CONV_2D, _depthwise),
    "FULLY_CONNECTED": (OperationCode.FULLY_CONNECTED, _only_fuse),
    "ADD": (OperationCode.ADD, _only_fuse),
    "AVERAGE_POOL_2D": (OperationCode.AVERAGE_POOL_2D, _pool),
    "MAX_POOL_2D": (OperationCode.MAX_POOL_2D, _pool),
    "SOFTMAX": (OperationCode.SOFTMAX, lambda entry: [float(entry["options"]["beta"])]),
    "LOGISTIC": (OperationCode.LOGISTIC, _none),
    "CONCATENATION": (OperationCode.CONCATENATION, _axis),
    "RESHAPE": (OperationCode.RESHAPE, _none),
    "RELU": (OperationCode.RELU, _none),
    "RELU_N1_TO_1": (OperationCode.RELU1, _none),
    "RELU6": (OperationCode.RELU6, _none),
}


@functools.cache
def _entries() -> dict[str, Entry]:
    manifest = SHARED / "oracle" / "corpus" / "manifest.json"
    if not manifest.exists():
        return {}
    return {entry["id"]: entry for entry in json.loads(manifest.read_text())}


@functools.cache
def _archive(file: str) -> Any:
    return np.load(SHARED / "oracle" / "corpus" / file)


def corpus_ids() -> tuple[str, ...]:
    """Every uint8 case of the operations that have a mapping here; none if the corpus is absent."""
    return tuple(
        number
        for number, entry in _entries().items()
        if entry["op"] in _OPERATIONS and entry["inputs"][0]["dtype"] == "uint8"
    )


def load_corpus_case(number: str) -> CorpusCase:
    """A case by its id."""
    entry = _entries()[number]
    archive, key = _archive(entry["file"]), entry["key"]
    values = [archive[f"{key}.in{i}"] for i in range(len(entry["inputs"]))]
    constant = [tensor["const"] for tensor in entry["inputs"]]
    code, scalars = _OPERATIONS[entry["op"]]
    graph = one_operation(
        code,
        [
            (_type(tensor), value if is_constant else None)
            for tensor, value, is_constant in zip(entry["inputs"], values, constant, strict=True)
        ],
        scalars(entry),
        _type(entry["outputs"][0]),
    )
    return CorpusCase(
        graph=graph,
        inputs=tuple(value for value, is_constant in zip(values, constant, strict=True) if not is_constant),
        expected=archive[f"{key}.out0"],
        tags=frozenset(entry["tags"]),
        model=archive[f"{key}.model"].tobytes(),
    )


def _type(tensor: dict[str, Any]) -> OperandType:
    if OperandCode.TENSOR_INT32.name.lower().endswith(tensor["dtype"]):
        return int32(*tensor["shape"], scale=tensor["scale"] or 0.0)
    return quant8(*tensor["shape"], scale=tensor["scale"], zero_point=tensor["zero_point"])
