"""Models built call by call, for tests of the runtime's objects."""

import numpy as np

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.model import Model
from tests.support.one_operation import quant8

QUANT8 = quant8(2, 3, scale=0.5, zero_point=10)
INT32 = OperandType(OperandCode.INT32)


def add_model(*, finished: bool = True, names: tuple[str, str, str] = ("a", "b", "sum")) -> Model:
    """sum = a + b, two quant8 tensors of shape (2, 3)."""
    model = Model("adder")
    first, second = (model.add_operand(QUANT8, name) for name in names[:2])
    fuse = model.add_operand(INT32)
    model.set_operand_value(fuse, np.int32(0))
    result = model.add_operand(QUANT8, names[2])
    model.add_operation(OperationCode.ADD, [first, second, fuse], [result], "adding")
    model.identify_inputs_and_outputs([first, second], [result])
    if finished:
        model.finish()
    return model
