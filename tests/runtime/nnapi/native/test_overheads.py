"""What the way through C costs, in CPU time of this process."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler.graph import Graph
from compiler.nnapi import OperationCode
from runtime.device import DeviceResult
from runtime.devices.npu_prepared import NpuPrepared
from runtime.digits import digits_model, held_out
from runtime.runner import run
from tests.support.native_client import NEEDS_COMPILER, LoadedApi
from tests.support.nnapi_client import QUANT8, Client

pytestmark = NEEDS_COMPILER
FRAMES = 100
MAX_BUILD_MS = 50.0
MAX_ADDED_MS = 1.0


@pytest.fixture
def client() -> Client:
    client = Client(LoadedApi())
    client.devices()  # the first call is not measured
    return client


def least_ms(work: Callable[[], object], tries: int) -> float:
    times = []
    for _ in range(tries):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return 1000 * min(times)


def copied(graph: Graph, client: Client) -> int:
    """The model of a graph, built through the client."""
    model = client.model()
    for operand in graph.operands:
        type_ = operand.type
        index = client.operand(model, type_.code, type_.dimensions, type_.scale, type_.zero_point)
        if operand.value is not None:
            array = np.ascontiguousarray(operand.value)
            client.must("Model_setOperandValue", model, index, client.pointer(array), array.nbytes)
    for operation in graph.operations:
        assert client.operation(model, operation.code, operation.inputs, operation.outputs) == 0
    assert client.identify(model, graph.inputs, graph.outputs) == 0
    client.must("Model_finish", model)
    return model


def test_a_model_of_100_operations_is_finished_within_the_limit(client: Client) -> None:
    def build() -> None:
        model = client.model()
        first = last = client.tensor(model, 1, 8, code=QUANT8)
        fuse = client.fuse_none(model)
        for _ in range(100):
            total = client.tensor(model, 1, 8, code=QUANT8)
            client.operation(model, OperationCode.ADD, [last, first, fuse], [total])
            last = total
        client.identify(model, [first], [last])
        client.must("Model_finish", model)

    assert least_ms(build, 5) <= MAX_BUILD_MS


def test_a_burst_adds_less_than_the_limit_to_each_simulation(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    digits, image = digits_model(), held_out()[0][:1]
    compilation = client.compilation(copied(digits.graph, client), client.devices()[:1])
    burst = client.new("Burst_create", compilation)
    output = np.zeros((1, 10), np.uint8)
    simulated_s, simulate = [0.0], NpuPrepared.execute

    def timed(*arguments: Any) -> DeviceResult:
        begun = time.process_time()
        result = simulate(*arguments)
        simulated_s[0] += time.process_time() - begun
        return result

    def frame() -> None:
        execution = client.execution(compilation)
        client.set_input(execution, 0, image)
        client.set_output(execution, 0, output)
        client.must("Execution_burstCompute", execution, burst)
        client.free("Execution", execution)

    monkeypatch.setattr(NpuPrepared, "execute", timed)
    begun = time.process_time()
    for _ in range(FRAMES):
        frame()
    added_s = time.process_time() - begun - simulated_s[0]
    assert simulated_s[0] > 0
    assert 1000 * added_s / FRAMES <= MAX_ADDED_MS
    (expected,) = run(digits, [image], machine="tiny").outputs.values()
    np.testing.assert_array_equal(output, expected)
