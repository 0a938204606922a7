"""Random one-operator cases with TensorFlow Lite's outputs, as graphs with NNAPI's operands."""

import dataclasses
import functools
import json
from collections.abc import Callable, Collection, Sequence
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
ScalarsOf = Callable[[Entry, Sequence[Array]], Scalars]
"""What a case's options, and the values of its input tensors, say as NNAPI's scalars."""

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


def _convolution(entry: Entry, values: Sequence[Array]) -> Scalars:
    return [*_window(entry), _fuse(entry), *_dilation(entry)]


def _depthwise(entry: Entry, values: Sequence[Array]) -> Scalars:
    return [*_window(entry), entry["options"]["depthMultiplier"], _fuse(entry), *_dilation(entry)]


def _pool(entry: Entry, values: Sequence[Array]) -> Scalars:
    height, width = entry["options"]["filter"]
    return [*_window(entry), width, height, _fuse(entry)]


def _axis(entry: Entry, values: Sequence[Array]) -> Scalars:
    """NNAPI counts the axis from the front."""
    return [entry["options"]["axis"] % len(entry["inputs"][0]["shape"])]


def _only_fuse(entry: Entry, values: Sequence[Array]) -> Scalars:
    return [_fuse(entry)]


def _beta(entry: Entry, values: Sequence[Array]) -> Scalars:
    return [float(entry["options"]["beta"])]


def _block_size(entry: Entry, values: Sequence[Array]) -> Scalars:
    return [entry["options"]["blockSize"]]


def _size(entry: Entry, values: Sequence[Array]) -> Scalars:
    """Width and height; where a pixel's place is defined otherwise, level 30's layout and both flags."""
    height, width = values[1].tolist()
    options = entry["options"]
    flags = [options["alignCorners"], options["halfPixelCenters"]]
    return [width, height, *([False, *flags] if any(flags) else [])]


def _none(entry: Entry, values: Sequence[Array]) -> Scalars:
    return []


_OPERATIONS: dict[str, tuple[OperationCode, ScalarsOf]] = {
    "CONV_2D": (OperationCode.CONV_2D, _convolution),
    "DEPTHWISE_CONV_2D": (OperationCode.DEPTHWISE_CONV_2D, _depthwise),
    "FULLY_CONNECTED": (OperationCode.FULLY_CONNECTED, _only_fuse),
    "ADD": (OperationCode.ADD, _only_fuse),
    "AVERAGE_POOL_2D": (OperationCode.AVERAGE_POOL_2D, _pool),
    "MAX_POOL_2D": (OperationCode.MAX_POOL_2D, _pool),
    "SOFTMAX": (OperationCode.SOFTMAX, _beta),
    "LOGISTIC": (OperationCode.LOGISTIC, _none),
    "CONCATENATION": (OperationCode.CONCATENATION, _axis),
    "RESHAPE": (OperationCode.RESHAPE, _none),
    "RELU": (OperationCode.RELU, _none),
    "RELU_N1_TO_1": (OperationCode.RELU1, _none),
    "RELU6": (OperationCode.RELU6, _none),
    "MUL": (OperationCode.MUL, _only_fuse),
    "TANH": (OperationCode.TANH, _none),
    "DEPTH_TO_SPACE": (OperationCode.DEPTH_TO_SPACE, _block_size),
    "SPACE_TO_DEPTH": (OperationCode.SPACE_TO_DEPTH, _block_size),
    "DEQUANTIZE": (OperationCode.DEQUANTIZE, _none),
    "RESIZE_BILINEAR": (OperationCode.RESIZE_BILINEAR, _size),
}
_ONLY_FIRST_IS_TENSOR = "RESIZE_BILINEAR"
"""The other input of this operator, a constant, becomes scalars."""


@functools.cache
def _entries() -> dict[str, Entry]:
    manifest = SHARED / "oracle" / "corpus" / "manifest.json"
    if not manifest.exists():
        return {}
    return {entry["id"]: entry for entry in json.loads(manifest.read_text())}


@functools.cache
def _archive(file: str) -> Any:
    return np.load(SHARED / "oracle" / "corpus" / file)


def corpus_ids(operations: Collection[OperationCode] = tuple(OperationCode)) -> tuple[str, ...]:
    """Every uint8 case of `operations` that the corpus has; none if it is absent."""
    return tuple(
        number
        for number, entry in _entries().items()
        if entry["op"] in _OPERATIONS
        and _OPERATIONS[entry["op"]][0] in operations
        and entry["inputs"][0]["dtype"] == "uint8"
    )


def load_corpus_case(number: str) -> CorpusCase:
    """A case by its id."""
    entry = _entries()[number]
    archive, key = _archive(entry["file"]), entry["key"]
    values = [archive[f"{key}.in{i}"] for i in range(len(entry["inputs"]))]
    code, scalars_of = _OPERATIONS[entry["op"]]
    scalars = scalars_of(entry, values)
    tensors = entry["inputs"][:1] if entry["op"] == _ONLY_FIRST_IS_TENSOR else entry["inputs"]
    values = values[: len(tensors)]
    constant = [tensor["const"] for tensor in tensors]
    graph = one_operation(
        code,
        [
            (_type(tensor), value if is_constant else None)
            for tensor, value, is_constant in zip(tensors, values, constant, strict=True)
        ],
        scalars,
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
    if tensor["dtype"] == "float32":
        return OperandType(OperandCode.TENSOR_FLOAT32, tuple(tensor["shape"]))
    if OperandCode.TENSOR_INT32.name.lower().endswith(tensor["dtype"]):
        return int32(*tensor["shape"], scale=tensor["scale"] or 0.0)
    return quant8(*tensor["shape"], scale=tensor["scale"], zero_point=tensor["zero_point"])
