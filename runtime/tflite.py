"""Imports .tflite files: from the file's tensors and operators to NNAPI calls on a Model.

How each operator maps to NNAPI is known by its module in `compiler/ops`.
"""

import os
from collections.abc import Sequence
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
    ImportedOutput,
    OmittedInput,
    OperationSpec,
    ScalarInput,
    StateOutput,
    TfliteOperator,
    TfliteTensor,
)
from runtime.argument_checks import checked, checked_sequence
from runtime.cutting import FUSED_NAME_SEPARATOR, TensorKey, find_tensors, needed_operations
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
_SPECIFICATIONS = {spec.tflite: spec for spec in REGISTRY.values() if spec.tflite is not None}


TfliteSource = str | os.PathLike[str] | bytes | bytearray | memoryview
"""The path of a .tflite file, or its content."""


def load_tflite(source: TfliteSource, *, until: Sequence[TensorKey] = ()) -> Model:
    """Import a model from a path or a file's content; the model is finished.

    With `until`, names or numbers of tensors, only the part of the file that computes these is imported, and
    they are the outputs: what stands behind them may be anything.

    Operands and operations keep the file's tensor names, `tensor_indices` its tensor numbers. A tensor that
    keeps its value between inferences, the state of a recurrent operator, becomes one more input of the
    model, and its next value one more output: the caller feeds it back. Raises ModelFileError, with one line
    that says why, if the file cannot be read, is damaged, or uses an operator, type or option that is not
    supported; UnexpectedNullError and BadDataError for a source that is neither path nor content.
    """
    checked_sequence("until", until, (str, int), "names or numbers of tensors")
    if isinstance(source, bytes | bytearray | memoryview):
        name, content, prefix = "model", bytes(source), ""
    else:
        checked("model", source, (str, os.PathLike), "a Model, the path of a .tflite file or its content")
        path = Path(source)
        name, content, prefix = path.stem, _read(path), f"{path}: "
    try:
        return _Importer(_cut(read_model(content), until), name).model()
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


def _cut(file: FileModel, until: Sequence[TensorKey]) -> FileModel:
    """The part of a file that computes some tensors; all of it if there are none."""
    if not until:
        return file
    written = {tensor for operator in file.operators for tensor in operator.outputs}
    wanted = find_tensors(until, {t: tensor.name for t, tensor in file.tensors.items()}, written)
    kept = needed_operations(
        [operator.inputs for operator in file.operators],
        [operator.outputs for operator in file.operators],
        wanted,
    )
    operators = tuple(file.operators[index] for index in kept)
    used = {tensor for operator in operators for tensor in (*operator.inputs, *operator.outputs)}
    return FileModel(
        tensors={index: tensor for index, tensor in file.tensors.items() if index in used},
        operators=operators,
        inputs=tuple(tensor for tensor in file.inputs if tensor in used),
        outputs=tuple(wanted),
    )


class _Importer:
    """Makes the NNAPI calls for one file."""

    def __init__(self, file: FileModel, name: str) -> None:
        self._file = file
        self._model = Model(name)
        self._tensors: dict[int, TfliteTensor] = {}
        self._operands: dict[int, int] = {}
        self._states: set[int] = set()
        """Tensors whose next value is an output of the model."""
        self._new_outputs: list[int] = []
        """Operands of outputs that NNAPI's operations have and the file's operators have not."""

    def model(self) -> Model:
        """The finished model."""
        for index, operator in enumerate(self._file.operators):
            _specification(operator, index)
        for tensor in self._file.tensors.values():
            self._add_tensor(tensor)
        for index, operator in enumerate(self._file.operators):
            self._add_operation(operator, index)
        self._model.identify_inputs_and_outputs(
            [self._operands[t] for t in (*self._file.inputs, *self._state_inputs())],
            [*(self._operands[t] for t in self._file.outputs), *self._new_outputs],
        )
        self._model.tensor_indices = {operand: tensor for tensor, operand in self._operands.items()}
        self._model.finish()
        return self._model

    def _state_inputs(self) -> list[int]:
        """Tensors that keep their value between inferences; UnsupportedError if nothing renews one."""
        states = [tensor for tensor in self._file.tensors.values() if tensor.is_state]
        for tensor in states:
            if tensor.index not in self._states:
                raise UnsupportedError(
                    f"{_label(tensor)} keeps its value between inferences, but no operator has it as its"
                    " state; this is not supported"
                )
        return [tensor.index for tensor in states if tensor.index not in self._file.inputs]

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
        name = seen.outputs[0].name.partition(FUSED_NAME_SEPARATOR)[0]
        assert spec.from_tflite is not None, f"{spec.code.name} names an operator, but does not import it"
        inputs = [self._operand(given) for given in spec.from_tflite(seen)]
        outputs = [self._output(wanted, name) for wanted in spec.tflite_outputs(seen)]
        self._model.add_operation(spec.code, inputs, outputs, name)

    def _operand(self, given: ImportedInput) -> int:
        if isinstance(given, TfliteTensor):
            return self._operands[given.index]
        if isinstance(given, ScalarInput):
            type_ = OperandType(given.code)
            return self._constant(type_, np.asarray(given.value).astype(type_.dtype))
        if isinstance(given, OmittedInput):
            return self._constant(given.type, None)
        return self._constant(given.type, given.value)

    def _output(self, wanted: ImportedOutput, operation: str) -> int:
        if isinstance(wanted, TfliteTensor):
            return self._operands[wanted.index]
        if isinstance(wanted, StateOutput):
            self._states.add(wanted.state.index)
            operand = self._model.add_operand(wanted.state.type, f"{wanted.state.name} (next)")
        else:
            operand = self._model.add_operand(wanted.type, f"{operation} ({wanted.name})")
        self._new_outputs.append(operand)
        return operand

    def _constant(self, type_: OperandType, value: npt.NDArray[np.generic] | None) -> int:
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
    if any(n < 1 for n in tensor.shape):
        raise UnsupportedError(
            f"{_label(tensor)} has shape {list(tensor.shape)}; it must have dimensions of at least 1"
        )
    if code is OperandCode.TENSOR_FLOAT32:
        return OperandType(code, tensor.shape)
    if len(tensor.scales) > 1:
        raise UnsupportedError(f"{_label(tensor)} is quantised per channel; only per tensor is supported")
    # Bytes without a quantisation count as they are, as in TFLite's own NNAPI delegate.
    unquantized = 1.0 if code is OperandCode.TENSOR_QUANT8_ASYMM else 0.0
    scale = tensor.scales[0] if tensor.scales else unquantized
    zero_point = tensor.zero_points[0] if tensor.zero_points else 0
    if code is OperandCode.TENSOR_QUANT8_ASYMM and not scale > 0:
        raise UnsupportedError(f"{_label(tensor)} is UINT8 with scale {scale}, must be greater than 0")
    return OperandType(code, tensor.shape, scale, zero_point)
