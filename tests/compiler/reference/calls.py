"""Running one operation on the reference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from compiler.nnapi import Numerics, OperationCode
from compiler.reference.interpreter import run_graph
from tests.support.one_operation import one_operation

Array = npt.NDArray[Any]


def compute(
    code: OperationCode,
    tensors: Sequence[tuple[OperandType, Any]],
    scalars: Sequence[bool | int | float],
    output: OperandType,
    numerics: Numerics = Numerics.NNAPI,
) -> Array:
    """Output of one operation whose tensors are model inputs of the values' shapes."""
    values = [np.asarray(value).astype(kind.dtype) for kind, value in tensors]
    kinds = [
        OperandType(kind.code, value.shape, kind.scale, kind.zero_point)
        for (kind, _), value in zip(tensors, values, strict=True)
    ]
    graph = one_operation(code, [(kind, None) for kind in kinds], scalars, output)
    return run_graph(graph, values, numerics)[graph.outputs[0]]
