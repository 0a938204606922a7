"""Models that need both the NPU and its host, built call by call."""

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.model import Model
from tests.support.one_operation import float32, int32, quant8

SIZE = 4


def dense_model() -> Model:
    """quant8 x (2, 4) → dequantised → dense (host) → relu → y; the dense result z is an output as well.

    The weights are twice the identity and the bias is 1, so that z = 2x + 1.
    """
    model = Model("dense")
    x = model.add_operand(quant8(2, SIZE, scale=0.5, zero_point=8), "x")
    real = model.add_operand(float32(2, SIZE), "real")
    z = model.add_operand(float32(2, SIZE), "z")
    y = model.add_operand(float32(2, SIZE), "y")
    weights = constant(model, float32(SIZE, SIZE), 2 * np.eye(SIZE, dtype=np.float32))
    bias = constant(model, float32(SIZE), np.ones(SIZE, np.float32))
    model.add_operation(OperationCode.RELU, [z], [y], "positive")
    model.add_operation(OperationCode.DEQUANTIZE, [x], [real])
    model.add_operation(OperationCode.FULLY_CONNECTED, [real, weights, bias, scalar(model, 0)], [z], "dense")
    model.identify_inputs_and_outputs([x], [y, z])
    model.finish()
    return model


def residual_model() -> Model:
    """quant8 x (2, 4) → dense (identity) → dequantised “real” → dense (host) → z, an output; y = z + real.

    z = 2 real + 1 as in `dense_model`. The multiply-accumulates of the first layer keep the dequantisation
    and the sum on the NPU.
    """
    model = Model("residual")
    x = model.add_operand(quant8(2, SIZE, scale=0.5, zero_point=8), "x")
    real = model.add_operand(float32(2, SIZE), "real")
    z = model.add_operand(float32(2, SIZE), "z")
    y = model.add_operand(float32(2, SIZE), "y")
    same = model.add_operand(quant8(2, SIZE, scale=0.5, zero_point=8), "same")
    identity = constant(model, quant8(SIZE, SIZE, scale=1.0), np.eye(SIZE, dtype=np.uint8))
    none = constant(model, int32(SIZE, scale=0.5), np.zeros(SIZE, np.int32))
    weights = constant(model, float32(SIZE, SIZE), 2 * np.eye(SIZE, dtype=np.float32))
    bias = constant(model, float32(SIZE), np.ones(SIZE, np.float32))
    fuse = scalar(model, 0)
    model.add_operation(OperationCode.ADD, [z, real, fuse], [y], "sum")
    model.add_operation(OperationCode.FULLY_CONNECTED, [x, identity, none, fuse], [same], "same")
    model.add_operation(OperationCode.DEQUANTIZE, [same], [real])
    model.add_operation(OperationCode.FULLY_CONNECTED, [real, weights, bias, fuse], [z], "dense")
    model.identify_inputs_and_outputs([x], [y, z])
    model.finish()
    return model


def rnn_model() -> Model:
    """A recurrent network of 2 units: next state and output are relu(x + 0.5 state + 1), x (1, 2)."""
    model = Model("rnn")
    x, state = (model.add_operand(float32(1, 2), name) for name in ("x", "state"))
    identity = np.eye(2, dtype=np.float32)
    weights = constant(model, float32(2, 2), identity)
    recurrent = constant(model, float32(2, 2), identity / 2)
    bias = constant(model, float32(2), np.ones(2, np.float32))
    following, output = (model.add_operand(float32(1, 2), name) for name in ("state (next)", "y"))
    inputs = [x, weights, recurrent, bias, state, scalar(model, 1)]
    model.add_operation(OperationCode.RNN, inputs, [following, output])
    model.identify_inputs_and_outputs([x, state], [following, output])
    model.finish()
    return model


def svdf_model() -> Model:
    """One filter over a memory of 3 inputs, x (1, 1): y = x[t] + 2 x[t - 1] + 4 x[t - 2]; no bias."""
    model = Model("svdf")
    x, state = model.add_operand(float32(1, 1), "x"), model.add_operand(float32(1, 3), "state")
    feature = constant(model, float32(1, 1), np.ones((1, 1), np.float32))
    time = constant(model, float32(1, 3), np.array([[4, 2, 1]], np.float32))
    bias = omitted(model, float32(1))
    following, output = (
        model.add_operand(float32(1, size), name) for size, name in ((3, "state (next)"), (1, "y"))
    )
    inputs = [x, feature, time, bias, state, scalar(model, 1), scalar(model, 0)]
    model.add_operation(OperationCode.SVDF, inputs, [following, output])
    model.identify_inputs_and_outputs([x, state], [following, output])
    model.finish()
    return model


def lookup_model() -> Model:
    """y = two rows of a table (2, 2), then relu: the index decides whether the lookup succeeds."""
    model = Model("lookup")
    rows = model.add_operand(int32(2), "rows")
    table = constant(model, float32(2, 2), np.array([[1, 2], [3, 4]], np.float32))
    found, result = model.add_operand(float32(2, 2), "found"), model.add_operand(float32(2, 2), "y")
    model.add_operation(OperationCode.RELU, [found], [result])
    model.add_operation(OperationCode.EMBEDDING_LOOKUP, [rows, table], [found])
    model.identify_inputs_and_outputs([rows], [result])
    model.finish()
    return model


def wide_softmax_model(size: int) -> Model:
    """y = softmax(relu(x)) of one row, which a memory must hold as a whole."""
    model = Model("softmax")
    x, between = (model.add_operand(quant8(1, size, scale=0.5, zero_point=8)) for _ in range(2))
    y = model.add_operand(quant8(1, size, scale=1 / 256), "y")
    beta = model.add_operand(OperandType(OperandCode.FLOAT32))
    model.set_operand_value(beta, np.float32(1))
    model.add_operation(OperationCode.RELU, [x], [between])
    model.add_operation(OperationCode.SOFTMAX, [between, beta], [y])
    model.identify_inputs_and_outputs([x], [y])
    model.finish()
    return model


def constant(model: Model, type_: OperandType, value: npt.NDArray[np.generic]) -> int:
    """Add a constant tensor."""
    operand = model.add_operand(type_)
    model.set_operand_value(operand, value)
    return operand


def scalar(model: Model, value: int) -> int:
    """Add a constant INT32."""
    operand = model.add_operand(OperandType(OperandCode.INT32))
    model.set_operand_value(operand, np.int32(value))
    return operand


def omitted(model: Model, type_: OperandType) -> int:
    """Add an optional operand without a value."""
    operand = model.add_operand(type_)
    model.set_operand_value(operand, None)
    return operand
