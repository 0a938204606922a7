import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.nnapi import Numerics, OperationCode
from tests.compiler.reference.calls import FLOAT, compute, single
from tests.support.one_operation import quant8

DEQUANTIZE = OperationCode.DEQUANTIZE


@pytest.mark.parametrize("numerics", list(Numerics))
def test_steps_are_multiplied_by_the_scale_in_single_precision(numerics: Numerics) -> None:
    kind = quant8(scale=0.1, zero_point=3)
    output = compute(DEQUANTIZE, [(kind, [[0, 3, 255]])], [], FLOAT, numerics)
    assert output.tolist() == [(single([-3, 0, 252]) * np.float32(0.1)).tolist()]


def test_only_bytes_are_dequantised_and_only_to_floats() -> None:
    with pytest.raises(GraphError, match="TENSOR_FLOAT32, not TENSOR_QUANT8_ASYMM"):
        compute(DEQUANTIZE, [(FLOAT, [1.0])], [], FLOAT)
    with pytest.raises(GraphError, match="output 0 is TENSOR_QUANT8_ASYMM, not TENSOR_FLOAT32"):
        compute(DEQUANTIZE, [(quant8(), [1])], [], quant8())
