"""DEQUANTIZE: from bytes to the numbers they stand for."""

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from compiler.reference.registry import Array, Call, reference


@reference(OperationCode.DEQUANTIZE)
def dequantize(call: Call) -> list[Array]:
    """Scale · (byte − zero point), one product in single precision."""
    call.expect_count(1)
    call.expect_rank(0, *range(5))
    call.result(OperandCode.TENSOR_FLOAT32)
    return [call.steps(0).astype(np.float32) * np.float32(call.type(0).scale)]
