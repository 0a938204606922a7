import ast
from pathlib import Path

import numpy as np
import pytest

import compiler.reference
from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import OperandCode, OperationCode
from compiler.reference.interpreter import run_graph
from compiler.reference.registry import Array, Call, reference, references
from tests.support.one_operation import OperandList, one_operation, quant8

KIND = quant8(2, scale=0.5)


def chain() -> Graph:
    """RELU6 of RELU of the input (operands 0, 1, 2)."""
    builder = OperandList()
    operands = [builder.operand(KIND) for _ in range(3)]
    builder.operation(OperationCode.RELU, operands[:1], operands[1:2])
    builder.operation(OperationCode.RELU6, operands[1:2], operands[2:])
    return builder.finish(operands[:1], operands[2:])


def test_every_computed_operand_is_returned() -> None:
    values = run_graph(chain(), [np.array([3, 99], np.uint8)])
    assert {number: value.tolist() for number, value in values.items()} == {
        0: [3, 99],
        1: [3, 99],
        2: [3, 12],
    }


def test_constants_may_stand_where_inputs_do() -> None:
    graph = one_operation(OperationCode.ADD, [(KIND, None), (KIND, [1, 2])], [0], KIND)
    assert run_graph(graph, [np.array([10, 20], np.uint8)])[graph.outputs[0]].tolist() == [11, 22]


def test_an_unspecified_dimension_takes_any_size() -> None:
    kind = quant8(0, scale=0.5)
    graph = one_operation(OperationCode.RELU, [(kind, None)], [], kind)
    assert run_graph(graph, [np.zeros(5, np.uint8)])[graph.outputs[0]].shape == (5,)


@pytest.mark.parametrize("value", [np.zeros(2, np.int8), np.zeros(3, np.uint8), np.zeros((1, 2), np.uint8)])
def test_inputs_of_another_type_or_shape_are_refused(value: Array) -> None:
    with pytest.raises(GraphError, match="the model wants uint8"):
        run_graph(chain(), [value])


def test_a_wrong_number_of_inputs_is_refused() -> None:
    with pytest.raises(GraphError, match="has 1 inputs, 2 given"):
        run_graph(chain(), [np.zeros(2, np.uint8)] * 2)


def test_operands_that_nothing_produces_are_refused() -> None:
    builder = OperandList()
    source, result = builder.operand(KIND), builder.operand(KIND)
    builder.operation(OperationCode.RELU, [source], [result])
    with pytest.raises(GraphError, match="nothing produces operand 0"):
        run_graph(builder.finish([], [result]), [])


def test_operations_without_a_reference_are_unsupported() -> None:
    graph = one_operation(OperationCode.LSTM, [(KIND, None)], [], KIND)
    with pytest.raises(UnsupportedError, match="LSTM"):
        run_graph(graph, [np.zeros(2, np.uint8)])


def test_float_tensors_are_unsupported() -> None:
    kind = OperandType(OperandCode.TENSOR_FLOAT32, (2,))
    graph = one_operation(OperationCode.RELU, [(kind, None)], [], kind)
    with pytest.raises(UnsupportedError, match="TENSOR_FLOAT32"):
        run_graph(graph, [np.zeros(2, np.float32)])


def test_a_tensor_without_scale_is_refused() -> None:
    kind = OperandType(OperandCode.TENSOR_QUANT8_ASYMM, (2,))
    graph = one_operation(OperationCode.RELU, [(kind, None)], [], kind)
    with pytest.raises(GraphError, match=r"input 0 has scale 0\.0"):
        run_graph(graph, [np.zeros(2, np.uint8)])


def test_an_operation_has_one_reference() -> None:
    assert OperationCode.ADD in references()

    def another(call: Call) -> list[Array]:
        return []

    with pytest.raises(ValueError, match="two reference functions"):
        reference(OperationCode.ADD)(another)


def test_the_reference_shares_no_code_with_the_compiler() -> None:
    allowed = ("compiler.graph", "compiler.nnapi", "compiler.errors", "compiler.reference")
    imported = set()
    for path in Path(compiler.reference.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module or "")
            elif isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
    own = {
        name for name in imported if name.split(".")[0] in ("isa", "compiler", "npu_sim", "runtime", "traces")
    }
    assert {name for name in own if not name.startswith(allowed)} == set()
