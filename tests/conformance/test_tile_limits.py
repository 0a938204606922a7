"""Whole networks under random tile limits: the values stay the same."""

import numpy as np
import pytest

from compiler.options import TileLimits
from runtime.device import CompilationOptions, RunOptions
from tests.support.execute import npu
from tests.support.golden import UINT8_MOBILENETS, load_golden, sha256

SMALL, *_ = UINT8_MOBILENETS
LIMITS = 20


def random_limits(rng: np.random.Generator) -> TileLimits:
    """Limits from coarse to fine; several thousand tiles at the most per layer."""

    def limit(low: int, high: int) -> int | None:
        return int(rng.integers(low, high)) if rng.random() < 0.7 else None

    return TileLimits(
        height=limit(2, 64), width=limit(7, 120), channels=limit(8, 400), reduction=limit(16, 600)
    )


@pytest.mark.parametrize("number", range(LIMITS))
@pytest.mark.parametrize("network", UINT8_MOBILENETS)
@pytest.mark.slow
def test_the_output_does_not_depend_on_tile_limits(network: str, number: int) -> None:
    check_output(network, number)


@pytest.mark.parametrize("number", range(2))
def test_the_output_of_a_small_network_does_not_depend_on_tile_limits(number: int) -> None:
    check_output(SMALL, number)


def check_output(network: str, number: int) -> None:
    rng = np.random.default_rng([number, len(network)])
    golden = load_golden(network, "gradient")
    preset = ("phone", "tiny")[number % 2]
    options = CompilationOptions(tile_limits=random_limits(rng))
    (output,) = npu(preset).prepare(golden.graph, options).execute(golden.inputs, RunOptions()).outputs
    assert sha256(output) == golden.sha256_of_operand[golden.graph.outputs[0]]
