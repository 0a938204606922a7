import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Graph
from compiler.lower import lower_graph
from compiler.nnapi import Numerics, OperationCode
from compiler.options import CompileOptions
from compiler.passes.legalise import legalise
from compiler.stage import LoweringContext
from npu_sim.config_io import load_machine
from npu_sim.cost import MachineCost
from tests.support.one_operation import float32, int32, operation, quant8

MACHINE = load_machine("tiny")


def lowered(graph: Graph) -> None:
    cost = MachineCost(MACHINE, MACHINE.operating_point("LOW"))
    context = LoweringContext(target=MACHINE.target, cost=cost)
    lower_graph(legalise(graph, Numerics.NNAPI), context, CompileOptions())


def test_a_graph_for_the_npu_alone_is_refused_with_the_operations_reason() -> None:
    tensors = [float32(1, 2, 2, 3), float32(4, 1, 1, 3), float32(4)]
    graph = operation(OperationCode.CONV_2D, [*tensors, 2, 1, 1, 0], [float32()])
    with pytest.raises(UnsupportedError) as caught:
        lowered(graph)
    reason = "input 0 is TENSOR_FLOAT32; the NPU takes TENSOR_QUANT8_ASYMM here"
    assert str(caught.value) == f"CONV_2D (operation 0): {reason}"


def test_an_operation_that_is_not_refused_is_lowered() -> None:
    tensors = [quant8(1, 2, 2, 3), quant8(4, 1, 1, 3), int32(4, scale=1.0)]
    lowered(operation(OperationCode.CONV_2D, [*tensors, 2, 1, 1, 0], [quant8(scale=2.0)]))
