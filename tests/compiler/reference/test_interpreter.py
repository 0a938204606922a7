import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler.reference
from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import LEVEL_27_OPERATIONS, OperandCode, OperationCode, ResultCode
from compiler.reference.interpreter import run_graph
from compiler.reference.registry import Array, Call, reference, references
from tests.support.one_operation import OperandList, float32, int32, one_operation, operation, quant8

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


def test_an_omitted_input_that_is_not_optional_is_refused() -> None:
    with pytest.raises(GraphError, match="input 0 has no value") as caught:
        run_graph(chain(), [None])
    assert caught.value.result_code is ResultCode.BAD_DATA


def test_operands_that_nothing_produces_are_refused() -> None:
    builder = OperandList()
    source, result = builder.operand(KIND), builder.operand(KIND)
    builder.operation(OperationCode.RELU, [source], [result])
    with pytest.raises(GraphError, match="nothing produces operand 0"):
        run_graph(builder.finish([], [result]), [])


@pytest.mark.parametrize("declared", [(3,), (1, 2)])
def test_an_output_declared_with_another_shape_is_refused(declared: tuple[int, ...]) -> None:
    graph = one_operation(OperationCode.RELU, [(KIND, None)], [], quant8(*declared, scale=0.5))
    with pytest.raises(GraphError, match=r"declared as .*, but the operation gives \[2\]") as caught:
        run_graph(graph, [np.zeros(2, np.uint8)])
    assert caught.value.result_code is ResultCode.OP_FAILED


def test_an_output_may_leave_its_shape_open() -> None:
    graph = one_operation(OperationCode.RELU, [(KIND, None)], [], quant8(scale=0.5))
    assert run_graph(graph, [np.zeros(2, np.uint8)])[graph.outputs[0]].shape == (2,)


def test_every_operation_of_level_27_has_a_reference() -> None:
    assert set(references()) == set(LEVEL_27_OPERATIONS)


def test_later_operations_are_unsupported() -> None:
    graph = one_operation(OperationCode.SUB, [(KIND, None), (KIND, None)], [0], KIND)
    with pytest.raises(UnsupportedError, match="does not compute SUB"):
        run_graph(graph, [np.zeros(2, np.uint8)] * 2)


def assert_bad_data(code: OperationCode, inputs: list[Any], outputs: list[OperandType]) -> None:
    with pytest.raises(GraphError) as caught:
        run_graph(operation(code, inputs, outputs), [])
    assert caught.value.result_code is ResultCode.BAD_DATA


@pytest.mark.parametrize("code", LEVEL_27_OPERATIONS)
def test_an_operation_without_inputs_or_outputs_is_bad_data(code: OperationCode) -> None:
    assert_bad_data(code, [], [])
    outputs = {OperationCode.RNN: 2, OperationCode.SVDF: 2, OperationCode.HASHTABLE_LOOKUP: 2}
    for count in (1, outputs.get(code, 4)):
        assert_bad_data(code, [], [float32()] * count)


def test_a_quantised_output_of_a_float_operation_is_bad_data() -> None:
    assert_bad_data(OperationCode.RELU, [(float32(1), [1.0])], [quant8(1)])


def test_a_float_output_of_a_quantised_operation_is_bad_data() -> None:
    assert_bad_data(OperationCode.RELU, [(quant8(1), [1])], [float32(1)])


def test_inputs_of_different_types_are_bad_data() -> None:
    assert_bad_data(OperationCode.ADD, [(float32(1), [1.0]), (quant8(1), [1]), 0], [float32(1)])
    assert_bad_data(OperationCode.CONCATENATION, [(quant8(1), [1]), (int32(1), [1]), 0], [quant8(2)])


def test_a_tensor_without_scale_is_refused() -> None:
    kind = OperandType(OperandCode.TENSOR_QUANT8_ASYMM, (2,))
    graph = one_operation(OperationCode.RELU, [(kind, None)], [], kind)
    with pytest.raises(GraphError, match=r"input 0 has scale 0\.0"):
        run_graph(graph, [np.zeros(2, np.uint8)])


def test_infinities_and_nan_pass_in_silence() -> None:
    graph = one_operation(OperationCode.ADD, [(float32(2), None), (float32(2), None)], [0], float32(2))
    values = [np.array([np.inf, 3e38], np.float32), np.array([-np.inf, 3e38], np.float32)]
    output = run_graph(graph, values)[graph.outputs[0]]
    assert np.isnan(output[0])
    assert output[1] == np.inf


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
