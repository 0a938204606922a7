"""Operators of TFLite files as the importers of operations see them."""

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from compiler.graph import OperandType
from compiler.operation import TfliteOperator, TfliteTensor
from tests.support.one_operation import quant8

_OUTPUT = quant8(1, 1)


def tflite_tensor(kind: OperandType, value: npt.NDArray[Any] | None = None) -> TfliteTensor:
    """A tensor named "t"."""
    return TfliteTensor(0, "t", kind, value)


def tflite_operator(
    name: str,
    inputs: Sequence[TfliteTensor | None],
    output: OperandType = _OUTPUT,
    **options: Any,
) -> TfliteOperator:
    """An operator that writes the tensor “y”."""
    return TfliteOperator(name, tuple(inputs), (TfliteTensor(9, "y", output, None),), options)
