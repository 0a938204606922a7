"""Fusion of clamps into their producers."""

import numpy as np

from compiler.lower import lower_graph
from compiler.nnapi import Numerics, OperationCode
from compiler.options import CompileOptions
from compiler.passes.fuse_clamp import fuse_clamps
from compiler.passes.legalise import legalise
from compiler.stage import LoweringContext
from tests.support.graphs import GraphBuilder
from tests.support.machines import cost_of, machine

CONFIG = machine()
CONTEXT = LoweringContext(target=CONFIG.target, cost=cost_of(CONFIG))


def _add_then_relu(*, keep_sum: bool):
    b = GraphBuilder()
    source = b.input((1, 4, 4, 2))
    other = b.constant(np.ones((1, 4, 4, 2), np.uint8), 0.1, 3)
    total = b.tensor((1, 4, 4, 2), 0.2, 100)
    b.operation(OperationCode.ADD, [source, other, b.scalar(0)], total)
    clamped = b.tensor((1, 4, 4, 2), 0.2, 100)
    b.operation(OperationCode.RELU6, [total], clamped)
    graph = legalise(b.graph(*([total, clamped] if keep_sum else [clamped])), Numerics.NNAPI)
    return lower_graph(graph, CONTEXT, CompileOptions())


def test_a_clamp_moves_into_the_operation_before():
    assert len(fuse_clamps(_add_then_relu(keep_sum=False)).stages) == 1


def test_a_tensor_that_is_an_output_is_not_fused_away():
    assert len(fuse_clamps(_add_then_relu(keep_sum=True)).stages) == 2
