"""Writes small .tflite files, byte by byte with the flatbuffer schema, for tests of the importer."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import flatbuffers
import numpy as np
import tflite

Options = tuple[int, Callable[[flatbuffers.Builder], int]]
"""Number of the options' type in the schema's union, and what writes them."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor of a file; `data` makes it constant."""

    name: str
    shape: tuple[int, ...] | None
    type: int = tflite.TensorType.UINT8
    scales: Sequence[float] = (1.0,)
    zero_points: Sequence[int] = (0,)
    data: np.ndarray[Any, Any] | None = None
    is_state: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator of a file; tensors by index, -1: omitted."""

    code: int
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: Options | None = None
    custom: str | None = None


def options(name: str, **fields: Any) -> Options:
    """Builtin options by their schema names in camel case; a list becomes a vector of int32."""

    def write(builder: flatbuffers.Builder) -> int:
        vectors = {
            key: builder.CreateNumpyVector(np.array(value, np.int32))
            for key, value in fields.items()
            if isinstance(value, list)
        }
        getattr(tflite, f"{name}Start")(builder)
        for key, value in fields.items():
            getattr(tflite, f"{name}Add{key}")(builder, vectors.get(key, value))
        return int(getattr(tflite, f"{name}End")(builder))

    return int(getattr(tflite.BuiltinOptions, name)), write


def tflite_file(
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[int],
    outputs: Sequence[int],
    *,
    subgraphs: int = 1,
) -> bytes:
    """The content of a file with the same subgraph `subgraphs` times."""
    builder = flatbuffers.Builder(1024)
    datas = [None, *(t.data for t in tensors if t.data is not None)]
    buffers = [_buffer(builder, data) for data in datas]
    codes = [_operator_code(builder, operator) for operator in operators]
    graph = _subgraph(builder, tensors, operators, inputs, outputs)
    vectors = [_offsets(builder, list(offsets)) for offsets in ([graph] * subgraphs, codes, buffers)]
    tflite.ModelStart(builder)
    tflite.ModelAddVersion(builder, 3)
    tflite.ModelAddSubgraphs(builder, vectors[0])
    tflite.ModelAddOperatorCodes(builder, vectors[1])
    tflite.ModelAddBuffers(builder, vectors[2])
    builder.Finish(tflite.ModelEnd(builder), b"TFL3")
    return bytes(builder.Output())


def _offsets(builder: flatbuffers.Builder, offsets: list[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _buffer(builder: flatbuffers.Builder, data: "np.ndarray[Any, Any] | None") -> int:
    vector = None if data is None else builder.CreateByteVector(data.tobytes())
    tflite.BufferStart(builder)
    if vector is not None:
        tflite.BufferAddData(builder, vector)
    return int(tflite.BufferEnd(builder))


def _operator_code(builder: flatbuffers.Builder, operator: Operator) -> int:
    custom = None if operator.custom is None else builder.CreateString(operator.custom)
    tflite.OperatorCodeStart(builder)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, min(operator.code, 127))
    tflite.OperatorCodeAddBuiltinCode(builder, operator.code)
    if custom is not None:
        tflite.OperatorCodeAddCustomCode(builder, custom)
    return int(tflite.OperatorCodeEnd(builder))


def _tensor(builder: flatbuffers.Builder, tensor: Tensor, buffer: int) -> int:
    name = builder.CreateString(tensor.name)
    shape = None if tensor.shape is None else builder.CreateNumpyVector(np.array(tensor.shape, np.int32))
    scales = builder.CreateNumpyVector(np.array(tensor.scales, np.float32))
    zero_points = builder.CreateNumpyVector(np.array(tensor.zero_points, np.int64))
    tflite.QuantizationParametersStart(builder)
    tflite.QuantizationParametersAddScale(builder, scales)
    tflite.QuantizationParametersAddZeroPoint(builder, zero_points)
    quantization = tflite.QuantizationParametersEnd(builder)
    tflite.TensorStart(builder)
    if shape is not None:
        tflite.TensorAddShape(builder, shape)
    tflite.TensorAddType(builder, tensor.type)
    tflite.TensorAddBuffer(builder, buffer)
    tflite.TensorAddName(builder, name)
    tflite.TensorAddQuantization(builder, quantization)
    tflite.TensorAddIsVariable(builder, tensor.is_state)
    return int(tflite.TensorEnd(builder))


def _subgraph(
    builder: flatbuffers.Builder,
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[int],
    outputs: Sequence[int],
) -> int:
    buffer, written = 0, []
    for tensor in tensors:
        buffer += tensor.data is not None
        written.append(_tensor(builder, tensor, 0 if tensor.data is None else buffer))
    steps = [_operator(builder, operator, index) for index, operator in enumerate(operators)]
    vectors = [
        _offsets(builder, written),
        builder.CreateNumpyVector(np.array(inputs, np.int32)),
        builder.CreateNumpyVector(np.array(outputs, np.int32)),
        _offsets(builder, steps),
    ]
    tflite.SubGraphStart(builder)
    tflite.SubGraphAddTensors(builder, vectors[0])
    tflite.SubGraphAddInputs(builder, vectors[1])
    tflite.SubGraphAddOutputs(builder, vectors[2])
    tflite.SubGraphAddOperators(builder, vectors[3])
    return int(tflite.SubGraphEnd(builder))


def _operator(builder: flatbuffers.Builder, operator: Operator, index: int) -> int:
    kind, table = 0, 0
    if operator.options is not None:
        kind, write = operator.options
        table = write(builder)
    inputs = builder.CreateNumpyVector(np.array(operator.inputs, np.int32))
    outputs = builder.CreateNumpyVector(np.array(operator.outputs, np.int32))
    tflite.OperatorStart(builder)
    tflite.OperatorAddOpcodeIndex(builder, index)
    tflite.OperatorAddInputs(builder, inputs)
    tflite.OperatorAddOutputs(builder, outputs)
    if operator.options is not None:
        tflite.OperatorAddBuiltinOptionsType(builder, kind)
        tflite.OperatorAddBuiltinOptions(builder, table)
    return int(tflite.OperatorEnd(builder))
