"""What the importers of TFLite operators share: tensors, options and the scalars made from them."""

from typing import Any

import numpy as np

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperandCode, PaddingCode
from compiler.operation import ConstantInput, ImportedInput, ScalarInput, TfliteOperator, TfliteTensor
from compiler.ops.quantization import scale_product

_FUSE_CODES = {
    "NONE": FuseCode.NONE,
    "RELU": FuseCode.RELU,
    "RELU_N1_TO_1": FuseCode.RELU1,
    "RELU6": FuseCode.RELU6,
}
_PADDING_CODES = {"SAME": PaddingCode.SAME, "VALID": PaddingCode.VALID}


def label(operator: TfliteOperator) -> str:
    """How messages name an operator: its builtin name and the tensor it writes."""
    writes = f" writing “{operator.outputs[0].name}”" if operator.outputs else ""
    return f"TFLite operator {operator.name}{writes}"


def option(operator: TfliteOperator, name: str) -> Any:
    """An option's value; GraphError if the operator came without it."""
    if name not in operator.options:
        raise GraphError(f"{label(operator)}: its option {name} is missing in the file")
    return operator.options[name]


def optional_tensor(operator: TfliteOperator, position: int) -> TfliteTensor | None:
    """The tensor at an input position; None if omitted."""
    return operator.inputs[position] if position < len(operator.inputs) else None


def tensor(operator: TfliteOperator, position: int, name: str) -> TfliteTensor:
    """The tensor at an input position; GraphError if it is missing."""
    found = optional_tensor(operator, position)
    if found is None:
        raise GraphError(f"{label(operator)}: {name} (input {position}) is missing in the file")
    return found


def int32(value: int) -> ScalarInput:
    """A new INT32 scalar."""
    return ScalarInput(OperandCode.INT32, int(value))


def fused_activation(operator: TfliteOperator) -> ScalarInput:
    """The fused activation as NNAPI's scalar; UnsupportedError for those NNAPI has not."""
    name = option(operator, "fused_activation_function")
    if name not in _FUSE_CODES:
        allowed = ", ".join(_FUSE_CODES)
        raise UnsupportedError(f"{label(operator)}: fused activation {name} is not in NNAPI ({allowed})")
    return int32(_FUSE_CODES[name])


def padding_and_strides(operator: TfliteOperator) -> list[ImportedInput]:
    """The implicit padding scheme and both strides as NNAPI's scalars."""
    name = option(operator, "padding")
    if name not in _PADDING_CODES:
        allowed = " or ".join(_PADDING_CODES)
        raise GraphError(f"{label(operator)}: padding {name} in the file, must be {allowed}")
    return [
        int32(_PADDING_CODES[name]),
        int32(option(operator, "stride_w")),
        int32(option(operator, "stride_h")),
    ]


def layout_and_dilations(operator: TfliteOperator) -> list[ImportedInput]:
    """The operands level 29 adds for dilation; none if the filter is not dilated."""
    width, height = option(operator, "dilation_w_factor"), option(operator, "dilation_h_factor")
    if (width, height) == (1, 1):
        return []
    return [ScalarInput(OperandCode.BOOL, 0), int32(width), int32(height)]


def bias(operator: TfliteOperator, channels: int) -> ImportedInput:
    """The bias (input 2), or zeros of the right type and scale where the file omits it."""
    found = optional_tensor(operator, 2)
    if found is not None:
        return found
    input_type, filter_type = tensor(operator, 0, "input").type, tensor(operator, 1, "filter").type
    if input_type.code is OperandCode.TENSOR_FLOAT32:
        return ConstantInput(OperandType(input_type.code, (channels,)), np.zeros(channels, np.float32))
    scale = scale_product(input_type, filter_type)
    type_ = OperandType(OperandCode.TENSOR_INT32, (channels,), float(scale))
    return ConstantInput(type_, np.zeros(channels, np.int32))


def dimension(operator: TfliteOperator, position: int, name: str, axis: int) -> int:
    """A dimension of an input tensor; GraphError if its rank is too small."""
    shape = tensor(operator, position, name).type.dimensions
    if not -len(shape) <= axis < len(shape):
        raise GraphError(
            f"{label(operator)}: {name} (input {position}) has shape {list(shape)} of too low rank"
        )
    return shape[axis]


def constant(operator: TfliteOperator, position: int, name: str, shape: tuple[int, ...]) -> list[Any]:
    """Values of a constant input tensor of a shape; UnsupportedError if it is computed."""
    found = tensor(operator, position, name)
    if found.value is None:
        raise UnsupportedError(f"{label(operator)}: {name} (input {position}) is not constant in the file")
    if found.value.shape != shape:
        raise GraphError(
            f"{label(operator)}: {name} (input {position}) has shape {list(found.value.shape)}, must have"
            f" {list(shape)}"
        )
    values: list[Any] = found.value.tolist()
    return values
