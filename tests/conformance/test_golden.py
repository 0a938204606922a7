"""Whole networks: every tensor as TensorFlow Lite's reference kernels compute it."""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from compiler.errors import GraphError
from compiler.nnapi import Numerics, PreferenceCode
from compiler.reference.interpreter import run_graph
from runtime.device import CompilationOptions, RunOptions
from tests.support.execute import PRESETS, npu
from tests.support.golden import INPUT_KINDS, UINT8_MOBILENETS, load_golden, sha256

SMALL, *_ = UINT8_MOBILENETS

QUICK_TENSORS = {(SMALL, "random", "tiny"), (SMALL, "gradient", "phone")}
QUICK_PREFERENCES = {
    (SMALL, "tiny", PreferenceCode.LOW_POWER),
    (SMALL, "phone", PreferenceCode.FAST_SINGLE_ANSWER),
}
"""What the default run samples; the rest is slow."""


def networks_with(quick: set[Any], *choices: Iterable[Any]) -> list[Any]:
    """All combinations of the networks and `choices`; slow unless in `quick`."""
    return [
        pytest.param(*values, marks=[] if values in quick else pytest.mark.slow)
        for values in itertools.product(UINT8_MOBILENETS, *choices)
    ]


@pytest.mark.parametrize("kind", INPUT_KINDS)
@pytest.mark.parametrize("network", UINT8_MOBILENETS)
def test_the_reference_reproduces_every_tensor(network: str, kind: str) -> None:
    golden = load_golden(network, kind)
    values = run_graph(golden.graph, golden.inputs)
    expected = golden.sha256_of_operand
    assert len(expected) == len(golden.graph.operations)
    assert [number for number in expected if sha256(values[number]) != expected[number]] == []


@pytest.mark.parametrize(("network", "kind", "preset"), networks_with(QUICK_TENSORS, INPUT_KINDS, PRESETS))
def test_the_npu_reproduces_every_tensor(network: str, kind: str, preset: str) -> None:
    golden = load_golden(network, kind)
    prepared = npu(preset).prepare(golden.graph, CompilationOptions(keep_tensors=True))
    tensors = prepared.execute(golden.inputs, RunOptions()).tensors
    expected = golden.sha256_of_operand
    assert expected.keys() <= tensors.keys()
    assert [number for number in expected if sha256(tensors[number]) != expected[number]] == []


@pytest.mark.parametrize(
    ("network", "preset", "preference"), networks_with(QUICK_PREFERENCES, PRESETS, PreferenceCode)
)
def test_the_output_does_not_depend_on_machine_and_preference(
    network: str, preset: str, preference: PreferenceCode
) -> None:
    golden = load_golden(network, "random")
    prepared = npu(preset).prepare(golden.graph, CompilationOptions(preference=preference))
    (output,) = prepared.execute(golden.inputs, RunOptions()).outputs
    assert sha256(output) == golden.sha256_of_operand[golden.graph.outputs[0]]


def test_level_27_refuses_a_network_whose_multiplier_reaches_one() -> None:
    golden = load_golden("coral_mobilenet_v2_1.0_224_inat_bird_quant", "gradient")
    with pytest.raises(GraphError, match="must be below the output scale"):
        run_graph(golden.graph, golden.inputs, Numerics.NNAPI27)


def test_level_27_rounds_some_elements_of_a_network_differently() -> None:
    """Its single-precision multiplier moves three sums over a rounding border, by one step each."""
    golden = load_golden("coral_mobilenet_v1_0.5_160_quant", "gradient")
    later = run_graph(golden.graph, golden.inputs)
    level_27 = run_graph(golden.graph, golden.inputs, Numerics.NNAPI27)
    first = next(number for number in golden.sha256_of_operand if (later[number] != level_27[number]).any())
    steps = later[first].astype(int) - level_27[first]
    assert sorted(steps[steps != 0].tolist()) == [-1, -1, -1]
