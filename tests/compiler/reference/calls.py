"""Running one operation on the reference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode
from compiler.reference.interpreter import run_graph
from tests.support.one_operation import Given, one_operation, operation

Array = npt.NDArray[Any]

FLOAT = OperandType(OperandCode.TENSOR_FLOAT32)
INT32 = OperandType(OperandCode.TENSOR_INT32)
"""Types that declare no shape."""


def compute(
    code: OperationCode,
    tensors: Sequence[tuple[OperandType, Any]],
    scalars: Sequence[bool | int | float],
    output: OperandType,
    numerics: Numerics = Numerics.NNAPI,
) -> Array:
    """Output of one operation whose tensors are model inputs of the values' shapes."""
    given = [shaped(kind, value) for kind, value in tensors]
    graph = one_operation(code, [(kind, None) for kind, _ in given], scalars, output)
    return run_graph(graph, [value for _, value in given], numerics)[graph.outputs[0]]


def compute_all(
    code: OperationCode,
    inputs: Sequence[Given],
    outputs: Sequence[OperandType],
    numerics: Numerics = Numerics.NNAPI,
) -> list[Array]:
    """All outputs of one operation whose inputs are constants or omitted."""
    graph = operation(code, inputs, outputs)
    values = run_graph(graph, [], numerics)
    return [values[number] for number in graph.outputs]


def shaped(kind: OperandType, value: Any) -> tuple[OperandType, Array]:
    """`value` as an array of the type's dtype, and the type with its shape."""
    array = np.asarray(value).astype(kind.dtype)
    return OperandType(kind.code, array.shape, kind.scale, kind.zero_point), array


def floats(value: Any) -> tuple[OperandType, Array]:
    """A constant float tensor."""
    return shaped(FLOAT, value)


def integers(value: Any) -> tuple[OperandType, Array]:
    """A constant int32 tensor."""
    return shaped(INT32, value)


def single(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """An array of float32."""
    return np.asarray(values, np.float32)
