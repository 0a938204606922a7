"""Checking one operation: the output type it infers, or the message and code it is refused with."""

import pytest

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, ResultCode
from compiler.passes.legalise import legalise


def inferred(graph: Graph, numerics: Numerics = Numerics.NNAPI) -> OperandType:
    """Type of the graph's first output."""
    return legalise(graph, numerics).operands[graph.outputs[0]].type


def refused(graph: Graph, fragment: str, code: ResultCode, numerics: Numerics = Numerics.NNAPI) -> None:
    """Assert that NNAPI's rules refuse the graph with a message that contains `fragment`, and a code."""
    with pytest.raises(GraphError) as caught:
        legalise(graph, numerics)
    assert fragment in str(caught.value)
    assert caught.value.result_code is code


def unsupported(graph: Graph, fragment: str) -> None:
    """Assert that the graph is legal but not implemented."""
    with pytest.raises(UnsupportedError) as caught:
        legalise(graph, Numerics.NNAPI)
    assert fragment in str(caught.value)
