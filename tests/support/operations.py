"""Checking one operation: the output type it infers, or the message and code it is refused with."""

import pytest

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, ResultCode
from compiler.operation import REGISTRY, OperationView
from compiler.passes.legalise import legalise
from npu_sim.config_io import load_machine


def inferred(graph: Graph, numerics: Numerics = Numerics.NNAPI) -> OperandType:
    """Type of the graph's first output."""
    return legalise(graph, numerics).operands[graph.outputs[0]].type


def all_inferred(graph: Graph, numerics: Numerics = Numerics.NNAPI) -> list[tuple[int, ...]]:
    """Dimensions of all the graph's outputs."""
    legal = legalise(graph, numerics)
    return [legal.operands[number].type.dimensions for number in graph.outputs]


def npu_refusal(graph: Graph, preset: str = "tiny") -> str | None:
    """Why the NPU of a preset cannot run the first operation of a legal graph; None if it can."""
    legal = legalise(graph, Numerics.NNAPI)
    operation = legal.operations[0]
    return REGISTRY[operation.code].npu_refusal(OperationView(legal, operation), load_machine(preset).target)


def refused(graph: Graph, fragment: str, code: ResultCode, numerics: Numerics = Numerics.NNAPI) -> None:
    """Assert that NNAPI's rules refuse the graph with a message that contains `fragment`, and a code."""
    with pytest.raises(GraphError) as caught:
        legalise(graph, numerics)
    assert fragment in str(caught.value)
    assert caught.value.result_code is code


def unsupported(graph: Graph, fragment: str) -> None:
    """Assert that this compiler cannot judge the graph."""
    with pytest.raises(UnsupportedError) as caught:
        legalise(graph, Numerics.NNAPI)
    assert fragment in str(caught.value)
