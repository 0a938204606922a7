"""Reads a .tflite file into plain data, with every number checked before it is used.

The flatbuffer accessors come from the `tflite` package. They trust the file, so this module bounds all
that they return: the sum of the lengths of all vectors read may not exceed the file's size, which keeps the
work linear in it.
"""

import dataclasses
import functools
import inspect
import re
import struct
from collections.abc import Iterator
from typing import Any

import tflite

from runtime.errors import ModelFileError

IDENTIFIER = b"TFL3"
_MIN_FILE_BYTES = 8

_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
    struct.error,
)
"""What the accessors raise when they follow a wrong offset."""

_OPTION_ENUMS: dict[str, type] = {
    "fused_activation_function": tflite.ActivationFunctionType,
    "padding": tflite.Padding,
    "weights_format": tflite.FullyConnectedOptionsWeightsFormat,
    "type": tflite.LSHProjectionType,
    "kernel_type": tflite.LSTMKernelType,
}
"""Builtin options whose numbers stand for names."""


@dataclasses.dataclass(frozen=True, slots=True)
class FileTensor:
    """A tensor as the file describes it; `data`, a view of the file, is empty for variables."""

    index: int
    name: str
    type_name: str
    shape: tuple[int, ...]
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    data: memoryview
    is_sparse: bool
    is_state: bool
    """The tensor keeps its value from one inference to the next."""


@dataclasses.dataclass(frozen=True, slots=True)
class FileOperator:
    """An operator; tensors are indices into the file's list, -1 for an omitted one."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class FileModel:
    """The one subgraph of a file; only the tensors that it uses."""

    tensors: dict[int, FileTensor]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def read_model(content: bytes) -> FileModel:
    """Read a file's content; ModelFileError if it is damaged or has not exactly one subgraph."""
    if len(content) < _MIN_FILE_BYTES or content[4:8] != IDENTIFIER:
        raise ModelFileError("not a TFLite model: the file must have the identifier TFL3 at byte 4")
    try:
        return _Reader(content).model()
    except _DAMAGE as error:
        raise ModelFileError("the file is damaged: an offset in it leads outside or to other data") from error


class _Reader:
    """One pass over a file. `_left` is how many more vector elements may be read."""

    def __init__(self, content: bytes) -> None:
        self._size = len(content)
        self._left = len(content)
        self._model = tflite.Model.GetRootAs(content, 0)

    def model(self) -> FileModel:
        """Everything the importer needs."""
        count = self._spend(self._model.SubgraphsLength(), "subgraphs")
        if count != 1:
            raise ModelFileError(f"the file has {count} subgraphs; only files with 1 are supported")
        graph = self._model.Subgraphs(0)
        tensor_count = self._spend(graph.TensorsLength(), "tensors")
        inputs = self._indices(graph, "Inputs", tensor_count, lowest=0)
        outputs = self._indices(graph, "Outputs", tensor_count, lowest=0)
        codes = self._operator_names()
        operators = tuple(
            self._operator(graph.Operators(i), i, codes, tensor_count)
            for i in range(self._spend(graph.OperatorsLength(), "operators"))
        )
        used = {*inputs, *outputs, *(t for o in operators for t in (*o.inputs, *o.outputs) if t >= 0)}
        buffer_count = self._spend(self._model.BuffersLength(), "buffers")
        tensors = {t: self._tensor(graph.Tensors(t), t, buffer_count) for t in sorted(used)}
        return FileModel(tensors, operators, inputs, outputs)

    def _spend(self, length: int, what: str) -> int:
        """A vector's length, if the file can hold that many elements."""
        self._left -= length
        if self._left < 0:
            raise ModelFileError(
                f"the file is damaged: it lists {length} {what}, more than its {self._size} bytes can hold"
            )
        return length

    def _vector(self, table: Any, name: str) -> tuple[Any, ...]:
        """A vector of numbers."""
        self._spend(getattr(table, name + "Length")(), f"elements in {name}")
        if getattr(table, name + "IsNone")():
            return ()
        return tuple(getattr(table, name + "AsNumpy")().tolist())

    def _indices(self, table: Any, name: str, tensor_count: int, lowest: int) -> tuple[int, ...]:
        """A vector of tensor indices, each from `lowest` to the last."""
        indices = self._vector(table, name)
        wrong = [index for index in indices if not lowest <= index < tensor_count]
        if wrong:
            raise ModelFileError(
                f"the file is damaged: {name.lower()} name tensor {wrong[0]}, but there are {tensor_count}"
            )
        return indices

    def _operator_names(self) -> list[str]:
        """Builtin or custom operator names, by opcode index."""
        names = []
        for i in range(self._spend(self._model.OperatorCodesLength(), "operator codes")):
            code = self._model.OperatorCodes(i)
            number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
            if number == tflite.BuiltinOperator.CUSTOM:
                names.append(f"CUSTOM “{_text(code.CustomCode())}”")
            else:
                names.append(_enum_name(tflite.BuiltinOperator, number))
        return names

    def _operator(self, operator: Any, index: int, codes: list[str], tensor_count: int) -> FileOperator:
        opcode = operator.OpcodeIndex()
        if opcode >= len(codes):
            raise ModelFileError(
                f"the file is damaged: operator {index} has code index {opcode}, but there are {len(codes)}"
            )
        return FileOperator(
            name=codes[opcode],
            inputs=self._indices(operator, "Inputs", tensor_count, lowest=-1),
            outputs=self._indices(operator, "Outputs", tensor_count, lowest=0),
            options=self._options(operator),
        )

    def _options(self, operator: Any) -> dict[str, Any]:
        """The builtin options by snake-case name; empty if there are none."""
        union = operator.BuiltinOptions()
        kind = _enum_name(tflite.BuiltinOptions, operator.BuiltinOptionsType())
        accessor = getattr(tflite, kind, None)
        if union is None or accessor is None:
            return {}
        table = accessor()
        table.Init(union.Bytes, union.Pos)
        options: dict[str, Any] = {}
        for method, is_vector in _accessors(accessor):
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower()
            if is_vector:
                options[name] = self._vector(table, method)
            elif name in _OPTION_ENUMS:
                options[name] = _enum_name(_OPTION_ENUMS[name], getattr(table, method)())
            else:
                options[name] = getattr(table, method)()
        return options

    def _tensor(self, tensor: Any, index: int, buffer_count: int) -> FileTensor:
        buffer = tensor.Buffer()
        if buffer >= buffer_count:
            raise ModelFileError(
                f"the file is damaged: tensor {index} has buffer {buffer}, but there are {buffer_count}"
            )
        quantization = tensor.Quantization()
        scales = zero_points = ()
        if quantization is not None:
            scales = self._vector(quantization, "Scale")
            zero_points = self._vector(quantization, "ZeroPoint")
        return FileTensor(
            index=index,
            name=_text(tensor.Name()),
            type_name=_enum_name(tflite.TensorType, tensor.Type()),
            shape=self._vector(tensor, "Shape"),
            scales=scales,
            zero_points=zero_points,
            data=self._data(self._model.Buffers(buffer), index),
            is_sparse=tensor.Sparsity() is not None,
            is_state=bool(tensor.IsVariable()),
        )

    def _data(self, buffer: Any, index: int) -> memoryview:
        """A view of a buffer in the file. Buffers may be shared, so they are not charged to the budget."""
        if buffer.Offset() > 1:
            raise ModelFileError(f"tensor {index} has its data outside the flatbuffer; this is not supported")
        if buffer.DataIsNone():
            return memoryview(b"")
        length = buffer.DataLength()
        data = buffer.DataAsNumpy()
        if length > self._size or data.size != length:
            raise ModelFileError(f"the file is damaged: the data of tensor {index} ends beyond the file")
        return memoryview(data).toreadonly()


def _text(raw: bytes | None) -> str:
    """A name for people: unprintable characters replaced."""
    decoded = (raw or b"").decode("utf-8", errors="replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in decoded)


def _enum_name(enumeration: type, number: int) -> str:
    return _enum_names(enumeration).get(number, f"number {number}")


@functools.cache
def _enum_names(enumeration: type) -> dict[int, str]:
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}


@functools.cache
def _accessors(options: type) -> tuple[tuple[str, bool], ...]:
    """Names of the option accessors of a generated class, and whether each is a vector."""
    return tuple(_find_accessors(options))


def _find_accessors(options: type) -> Iterator[tuple[str, bool]]:
    methods = {name: f for name, f in vars(options).items() if inspect.isfunction(f) and name != "Init"}
    vectors = {name.removesuffix("AsNumpy") for name in methods if name.endswith("AsNumpy")}
    for name, function in methods.items():
        if name in vectors:
            yield name, True
        elif len(inspect.signature(function).parameters) == 1 and not any(
            name == vector + suffix for vector in vectors for suffix in ("AsNumpy", "Length", "IsNone")
        ):
            yield name, False
