import numpy as np

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from runtime.model_builder import ModelBuilder, quant8


def test_scale_is_the_float32_that_nnapi_stores() -> None:
    assert quant8((1,), 0.1, 3).scale == float(np.float32(0.1))


def test_bias_has_the_product_of_the_scales_in_single_precision() -> None:
    add = ModelBuilder()
    source, weights = add.variable(quant8((1, 2), 0.1, 0)), add.variable(quant8((3, 2), 0.3, 0))
    bias = add.bias(source, weights, np.zeros(3, np.int32))
    product = float(np.float32(0.1) * np.float32(0.3))
    assert add.type_of(bias) == OperandType(OperandCode.TENSOR_INT32, (3,), product, 0)


def test_finished_model_is_what_was_added() -> None:
    add = ModelBuilder("sum")
    first, second = (add.variable(quant8((2,), 0.5, 0), name) for name in ("first", "second"))
    inputs = [first, second, *add.scalars(FuseCode.NONE)]
    total = add.operation(OperationCode.ADD, inputs, quant8((2,), 1.0, 0), "total")
    graph = add.finish([first, second], [total]).graph
    assert graph.name == "sum"
    assert [operation.code for operation in graph.operations] == [OperationCode.ADD]
    assert [graph.operands[number].name for number in graph.inputs] == ["first", "second"]
    assert [graph.operands[number].name for number in graph.outputs] == ["total"]
