import compiler.ops  # noqa: F401  (fills the registry)
from compiler.graph import Graph
from compiler.nnapi import OperationCode
from compiler.operation import REGISTRY, OperationView, not_on_npu, operator_outputs, quant8_only
from npu_sim.config_io import load_machine
from tests.support.one_operation import Omitted, float32, int32, operation, quant8
from tests.support.tflite_operators import tflite_operator

TARGET = load_machine("tiny").target


def view(graph: Graph) -> OperationView:
    return OperationView(graph, graph.operations[0])


def test_every_operation_of_level_27_is_registered() -> None:
    assert {code for code in OperationCode if code <= OperationCode.TANH} <= set(REGISTRY)


def test_every_operation_can_be_imported_from_its_own_tflite_operator() -> None:
    names = [spec.tflite for spec in REGISTRY.values() if spec.from_tflite is not None]
    assert len(set(names)) == len(REGISTRY)


def test_tensors_are_listed_with_their_places_without_scalars_and_omitted_ones() -> None:
    inputs = [quant8(1), 3, Omitted(float32(1)), int32(2)]
    places = view(operation(OperationCode.ADD, inputs, [float32(1)])).tensors()
    assert list(places) == [("input 0", quant8(1)), ("input 3", int32(2)), ("output 0", float32(1))]


def test_only_inputs_of_the_model_may_come_with_an_execution() -> None:
    one = view(operation(OperationCode.ADD, [quant8(1), (quant8(1), [0]), 0], [quant8(1)]))
    assert [one.is_model_input(position) for position in range(3)] == [True, False, False]


def test_without_more_the_npu_takes_bytes_and_their_int32_parameters() -> None:
    graph = operation(OperationCode.CONV_2D, [quant8(1), quant8(1), int32(1), 0, 1.0], [quant8(1)])
    assert quant8_only(view(graph), TARGET) is None


def test_without_more_the_npu_refuses_floats_wherever_they_are() -> None:
    graph = operation(OperationCode.DEQUANTIZE, [quant8(1)], [float32(1)])
    reason = "output 0 is TENSOR_FLOAT32; the NPU takes TENSOR_QUANT8_ASYMM here"
    assert quant8_only(view(graph), TARGET) == reason


def test_an_operation_that_never_runs_on_the_npu_says_why() -> None:
    graph = operation(OperationCode.RELU, [quant8(1)], [quant8(1)])
    assert not_on_npu("too odd")(view(graph), TARGET) == "too odd"


def test_without_more_an_operators_outputs_are_the_operations() -> None:
    operator = tflite_operator("RELU", [])
    assert list(operator_outputs(operator)) == list(operator.outputs)
