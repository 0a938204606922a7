"""Synchronisation deleted from compiled networks: the verifier catches it, or it was redundant."""

import functools
import random

import pytest

from compiler.graph import Graph
from isa.errors import VerificationError
from isa.program import Program
from isa.verifier import verify
from runtime.device import CompilationOptions
from runtime.digits import digits_model
from tests.support.execute import npu
from tests.support.golden import load_golden
from tests.support.synchronisation import RedundancyJudge, mutations

SEED = 27


@functools.cache
def compiled(network: str, preset: str) -> Program:
    graph: Graph = digits_model().graph if network == "digits" else load_golden(network, "random").graph
    return npu(preset).prepare(graph, CompilationOptions()).program


def missed_deletions(program: Program, count: int) -> list[int]:
    """Of `count` random deletions, those that the verifier accepts though they matter."""
    judge = RedundancyJudge(program)
    found = list(mutations(program))
    missed = []
    for index, mutated in random.Random(SEED).sample(found, min(count, len(found))):
        try:
            verify(mutated)
        except VerificationError:
            continue
        if not judge.is_redundant(index):
            missed.append(index)
    return missed


@pytest.mark.parametrize("preset", ["tiny", "phone"])
def test_deletions_from_the_digits_classifier_are_caught_or_redundant(preset: str) -> None:
    assert missed_deletions(compiled("digits", preset), 100) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "preset", "count"),
    [
        ("coral_mobilenet_v1_0.25_128_quant", "phone", 400),
        ("coral_mobilenet_v1_0.25_128_quant", "tiny", 400),
        ("coral_mobilenet_v2_1.0_224_quant", "phone", 300),
    ],
)
def test_deletions_from_mobilenets_are_caught_or_redundant(network: str, preset: str, count: int) -> None:
    assert missed_deletions(compiled(network, preset), count) == []
