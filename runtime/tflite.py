"""Imports .tflite files: from the file's tensors and operators to NNAPI calls on a Model.

How each operator maps to NNAPI is known by its module in `compiler/ops`.
"""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

import compiler.ops  # noqa: F401  (fills the registry)
from compiler.errors import CompilerError, UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import OperandCode
from compiler.operation import (
    REGISTRY,
    ImportedInput,
    OperationSpec,
    ScalarInput,
    TfliteOperator,
    TfliteTensor,
)
from runtime.errors import ModelFileError, RuntimeFailure
from runtime.model import Model
from runtime.tflite_file import FileModel, FileOperator, FileTensor, read_model

MAX_FILE_BYTES = 1 << 28
"""Largest file that is imported: 256 MiB."""

_OPERAND_CODES = {
    "UINT8": OperandCode.TENSOR_QUANT8_ASYMM,
    "INT32": OperandCode.TENSOR_INT32,
    "FLOAT32": OperandCode.TENSOR_FLOAT32,
}
_FUSED_NAME_SEPARATOR = ";"
"""Between the names of operations that a converter fused; the first one produced the tensor."""

_SPECIFICATIONS = {spec.tflite: spec for spec in REGISTRY.values()}


def load_tflite(source: str | os.PathLike[str] | bytes) -> Model:
    """Import a model from a path or a file's content; the model is finished.

    Operands and operations keep the file's tensor names, `tensor_indices` its tensor numbers. Raises
    ModelFileError, with one line that says why, if the file cannot be read, is damaged, or uses an
    operator, type or option that is not supported.
    """
    if isinstance(source, bytes):
        name, content, prefix = "model", source, ""
    else:
        path = Path(source)
        name, content, prefix = path.stem, _read(path), f"{path}: "
    try:
        return _Importer(read_model(content), name).model()
    except (CompilerError, RuntimeFailure) as error:
        raise ModelFileError(f"{prefix}{error}") from error


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ModelFileError(f"{path}: has {size} bytes, must have at most {MAX_FILE_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror or error}") from error


class _Importer:
    """Makes the NNAPI calls for one file."""

    def __init__(self, file: FileModel, name: str) -> None:
        self._file = file
        self._model = Model(name)
        self._tensors: dict[int, TfliteTensor] = {}
        self._operands: dict[int, int] = {}

    def model(self) -> Model:
        """The finished model."""
        for index, operator in enumerate(self._file.operators):
            _specification(operator, index)
        for tensor in self._file.tensors.values():
            self._add_tensor(tensor)
        for index, operator in enumerate(self._file.operators):
            self._add_operation(operator, index)
        self._model.identify_inputs_and_outputs(
            [self._operands[t] for t in self._file.inputs], [self._operands[t] for t in self._file.outputs]
        )
        self._model.tensor_indices = {operand: tensor for tensor, operand in self._operands.items()}
        self._model.finish()
        return self._model

    def _add_tensor(self, tensor: FileTensor) -> None:
        type_ = _operand_type(tensor)
        try:
            operand = self._model.add_operand(type_, tensor.name)
        except RuntimeFailure as error:
            raise ModelFileError(f"{_label(tensor)}: {error}") from error
        value = None
        if tensor.data:
            if len(tensor.data) != type_.size_bytes:
                raise ModelFileError(
                    f"{_label(tensor)} has {len(tensor.data)} bytes of data, must have {type_.size_bytes} for"
                    f" {tensor.type_name} {list(tensor.shape)}"
                )
            value = np.frombuffer(tensor.data, type_.dtype).reshape(type_.dimensions)
            self._model.set_operand_value(operand, value)
        self._operands[tensor.index] = operand
        self._tensors[tensor.index] = TfliteTensor(tensor.index, tensor.name, type_, value)

    def _add_operation(self, operator: FileOperator, index: int) -> None:
        spec = _specification(operator, index)
        if not operator.outputs:
            raise ModelFileError(f"TFLite operator {operator.name} (operator {index}) has no outputs")
        seen = TfliteOperator(
            name=operator.name,
            inputs=tuple(self._tensors.get(t) for t in operator.inputs),
            outputs=tuple(self._tensors[t] for t in operator.outputs),
            options=operator.options,
        )
        inputs = [self._operand(given) for given in spec.from_tflite(seen)]
        outputs = [self._operands[t] for t in operator.outputs]
        name = seen.outputs[0].name.partition(_FUSED_NAME_SEPARATOR)[0]
        self._model.add_operation(spec.code, inputs, outputs, name)

    def _operand(self, given: ImportedInput) -> int:
        if isinstance(given, TfliteTensor):
            return self._operands[given.index]
        if isinstance(given, ScalarInput):
            type_ = OperandType(given.code)
            return self._constant(type_, np.asarray(given.value).astype(type_.dtype))
        return self._constant(given.type, given.value)

    def _constant(self, type_: OperandType, value: npt.NDArray[np.generic]) -> int:
        operand = self._model.add_operand(type_)
        self._model.set_operand_value(operand, value)
        return operand


def _specification(operator: FileOperator, index: int) -> OperationSpec:
    spec = _SPECIFICATIONS.get(operator.name)
    if spec is not None:
        return spec
    known = ", ".join(sorted(_SPECIFICATIONS))
    raise UnsupportedError(
        f"TFLite operator {operator.name} (operator {index}) is not supported (supported: {known})"
    )


def _label(tensor: FileTensor) -> str:
    return f"tensor {tensor.index} “{tensor.name}”"


def _operand_type(tensor: FileTensor) -> OperandType:
    """The NNAPI type of a tensor; UnsupportedError for types and quantisations NNAPI's quant8 has not.

    A tensor without a shape gets its dimensions from the operation that writes it.
    """
    code = _OPERAND_CODES.get(tensor.type_name)
    if code is None:
        known = ", ".join(_OPERAND_CODES)
        raise UnsupportedError(f"{_label(tensor)} has type {tensor.type_name}; supported are {known}")
    if tensor.is_sparse:
        raise UnsupportedError(f"{_label(tensor)} is sparse; only dense tensors are supported")
    if tensor.is_state:
        raise UnsupportedError(f"{_label(tensor)} keeps its value between inferences; this is not supported")
    if any(n < 1 for n in tensor.shape):
        raise UnsupportedError(
            f"{_label(tensor)} has shape {list(tensor.shape)}; it must have dimensions of at least 1"
        )
    if code is OperandCode.TENSOR_FLOAT32:
        return OperandType(code, tensor.shape)
    if len(tensor.scales) > 1:
        raise UnsupportedError(f"{_label(tensor)} is quantised per channel; only per tensor is supported")
    scale = tensor.scales[0] if tensor.scales else 0.0
    zero_point = tensor.zero_points[0] if tensor.zero_points else 0
    if code is OperandCode.TENSOR_QUANT8_ASYMM and not scale > 0:
        raise UnsupportedError(f"{_label(tensor)} is UINT8 with scale {scale}, must be greater than 0")
    return OperandType(code, tensor.shape, scale, zero_point)
