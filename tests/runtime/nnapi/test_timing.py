import ctypes
import os
import threading
import time
from collections.abc import Sequence

import pytest

from compiler.nnapi import DurationCode, PriorityCode, ResultCode
from npu_sim.config_io import load_machine
from npu_sim.core.hooks import Hook
from npu_sim.events import Span
from runtime.device import RunOptions
from runtime.execution import Execution
from runtime.nnapi.table import NnApi
from tests.support.nnapi_cases.run import running
from tests.support.nnapi_client import Client

NO_DURATION = 2**64 - 1
NPU, CPU = 0, 1
DISPATCH_NS = load_machine("tiny").host.dispatch_latency_us * 1000


def on(client: Client, device: int, *, priority: int = PriorityCode.MEDIUM) -> int:
    """A finished compilation for one device."""
    compilation = client.compilation(devices=[client.devices()[device]], finished=False)
    client.must("Compilation_setPriority", compilation, priority)
    client.must("Compilation_finish", compilation)
    return compilation


def measured(client: Client, compilation: int) -> int:
    execution = client.execution(compilation, filled=True)
    client.must("Execution_setMeasureTiming", execution, True)
    return execution


def durations(client: Client, execution: int) -> list[int]:
    values = []
    for code in DurationCode:
        value = ctypes.c_uint64()
        client.must("Execution_getDuration", execution, code, ctypes.byref(value))
        values.append(value.value)
    return values


def test_the_duration_is_the_simulated_time() -> None:
    runs: list[Execution] = []
    client = Client(NnApi("tiny", on_run=runs.append))
    execution = measured(client, on(client, NPU))
    client.must("Execution_compute", execution)
    on_hardware, in_driver, fenced, fenced_in_driver = durations(client, execution)
    simulation = runs[0].result.simulation
    assert simulation is not None
    assert on_hardware == pytest.approx(simulation.latency_s * 1e9, abs=1)
    assert in_driver == pytest.approx(on_hardware + DISPATCH_NS, abs=1)
    assert (fenced, fenced_in_driver) == (on_hardware, in_driver)


def test_what_was_not_asked_for_is_not_measured(client: Client) -> None:
    execution = client.execution(on(client, NPU), filled=True)
    client.must("Execution_compute", execution)
    assert durations(client, execution) == [NO_DURATION] * 4


def test_the_reference_has_no_time(client: Client) -> None:
    execution = measured(client, on(client, CPU))
    client.must("Execution_compute", execution)
    assert durations(client, execution) == [NO_DURATION] * 4


def test_a_failed_run_has_no_duration(client: Client) -> None:
    execution = measured(client, on(client, NPU))
    client.must("Execution_setTimeout", execution, 1)
    client.call("Execution_compute", execution)
    assert durations(client, execution) == [NO_DURATION] * 4


def test_frames_of_a_burst_follow_without_dispatch(client: Client) -> None:
    compilation = on(client, NPU)
    burst, found = client.new("Burst_create", compilation), []
    for _ in range(3):
        execution = measured(client, compilation)
        client.must("Execution_burstCompute", execution, burst)
        found.append(durations(client, execution)[:2])
    assert found[0][1] == pytest.approx(found[0][0] + DISPATCH_NS, abs=1)
    assert all(in_driver == on_hardware for on_hardware, in_driver in found[1:])


def test_a_run_between_costs_a_burst_a_dispatch(client: Client) -> None:
    compilation = on(client, NPU)
    burst = client.new("Burst_create", compilation)
    client.must("Execution_burstCompute", measured(client, compilation), burst)
    client.must("Execution_compute", measured(client, compilation))
    execution = measured(client, compilation)
    client.must("Execution_burstCompute", execution, burst)
    on_hardware, in_driver = durations(client, execution)[:2]
    assert in_driver > on_hardware


def test_a_limit_that_the_run_keeps_is_no_error(client: Client) -> None:
    compilation = on(client, NPU)
    first = measured(client, compilation)
    client.must("Execution_compute", first)
    in_driver = durations(client, first)[1]
    for limit, code in (
        (in_driver, ResultCode.NO_ERROR),
        (in_driver - 2, ResultCode.MISSED_DEADLINE_PERSISTENT),
        (0, ResultCode.NO_ERROR),
        (2**64 - 1, ResultCode.NO_ERROR),
    ):
        execution = client.execution(compilation, filled=True)
        client.must("Execution_setTimeout", execution, limit)
        assert client.call("Execution_compute", execution) == code


def test_a_run_that_misses_its_limit_writes_nothing(client: Client) -> None:
    execution = client.execution(on(client, NPU))
    output = client.fill(execution)
    client.must("Execution_setTimeout", execution, 1)
    client.call("Execution_compute", execution)
    assert output.tolist() == [0, 0]


def test_limits_do_not_bind_the_reference(client: Client) -> None:
    execution = client.execution(on(client, CPU), filled=True)
    client.must("Execution_setTimeout", execution, 1)
    client.must("Execution_compute", execution)


def started_after(client: Client, fence: int, priorities: Sequence[int]) -> list[tuple[int, int]]:
    """Executions and events, one per priority, that all start when a fence is signalled."""
    found = []
    for priority in priorities:
        execution = measured(client, on(client, NPU, priority=priority))
        event = client.new("Execution_startComputeWithDependencies", execution, client.handles([fence]), 1, 0)
        found.append((execution, event))
    return found


def test_the_time_that_a_run_waits_for_the_device_counts_in_the_driver(client: Client) -> None:
    signal = os.eventfd(0)
    fence = client.new("Event_createFromSyncFenceFd", signal)
    started = started_after(client, fence, [PriorityCode.MEDIUM] * 3)
    os.eventfd_write(signal, 1)
    os.close(signal)
    for _, event in started:
        assert client.wait(event) == ResultCode.NO_ERROR
    waits = sorted(
        round((in_driver - on_hardware - DISPATCH_NS) / (on_hardware + DISPATCH_NS))
        for on_hardware, in_driver, _, _ in (durations(client, execution) for execution, _ in started)
    )
    assert waits == [0, 1, 2]


def test_a_fenced_duration_begins_with_the_fence(client: Client) -> None:
    compilation = on(client, NPU)
    with running(client) as (_, _):
        signal = os.eventfd(0)
        fence = client.new("Event_createFromSyncFenceFd", signal)
        execution = measured(client, compilation)
        event = client.new("Execution_startComputeWithDependencies", execution, client.handles([fence]), 1, 0)
        client.must("Execution_compute", measured(client, compilation))
        os.eventfd_write(signal, 1)
        os.close(signal)
        assert client.wait(event) == ResultCode.NO_ERROR
    on_hardware, in_driver, _, fenced_in_driver = durations(client, execution)
    assert fenced_in_driver == pytest.approx(on_hardware + DISPATCH_NS, abs=1)
    assert in_driver == pytest.approx(2 * fenced_in_driver, abs=2)


def test_the_limit_of_a_fenced_start_begins_with_the_fence(client: Client) -> None:
    compilation = on(client, NPU)
    for limit, code in ((1, ResultCode.MISSED_DEADLINE_PERSISTENT), (10**12, ResultCode.NO_ERROR)):
        execution = client.execution(compilation, filled=True)
        event = client.new("Execution_startComputeWithDependencies", execution, None, 0, limit)
        assert client.wait(event) == code


def test_a_run_depends_on_runs(client: Client) -> None:
    first = client.new("Execution_startCompute", client.execution(filled=True))
    second = client.new(
        "Execution_startComputeWithDependencies",
        client.execution(filled=True),
        client.handles([first]),
        1,
        0,
    )
    assert client.wait(second) == ResultCode.NO_ERROR


def test_a_fence_that_fails_fails_the_run(client: Client) -> None:
    reading, writing = os.pipe()
    fence = client.new("Event_createFromSyncFenceFd", reading)
    os.close(reading)
    execution = client.execution(filled=True)
    event = client.new("Execution_startComputeWithDependencies", execution, client.handles([fence]), 1, 0)
    os.close(writing)
    assert client.wait(event) == ResultCode.OP_FAILED


def test_the_fence_of_an_event_is_the_callers_to_close(client: Client) -> None:
    signal = os.eventfd(0)
    event = client.new("Event_createFromSyncFenceFd", signal)
    os.close(signal)
    copy = ctypes.c_int()
    client.must("Event_getSyncFenceFd", event, ctypes.byref(copy))
    os.eventfd_write(copy.value, 1)
    os.close(copy.value)
    assert client.wait(event) == ResultCode.NO_ERROR


def test_a_descriptor_that_is_not_open_is_no_fence(client: Client) -> None:
    assert client.refused("Event_createFromSyncFenceFd", 2**20 + 1) == ResultCode.BAD_DATA


def test_waiting_for_a_device_ends_when_it_is_idle(client: Client) -> None:
    npu = client.devices()[NPU]
    execution = measured(client, on(client, NPU))
    event = client.new("Execution_startCompute", execution)
    done = threading.Thread(target=client.call, args=("Device_wait", npu))
    done.start()
    client.wait(event)
    done.join(timeout=10)
    assert not done.is_alive()


class Gate(Hook):
    """Stops the simulator at the first event until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def on_span(self, span: Span) -> None:
        self.reached.set()
        self.opened.wait()


def test_of_runs_that_wait_the_most_urgent_goes_first() -> None:
    gate = Gate()
    with Client(NnApi("tiny", new_run_options=lambda: RunOptions(hooks=[gate]))) as client:
        first = client.new("Execution_startCompute", client.execution(on(client, NPU), filled=True))
        gate.reached.wait()
        executions = []
        for priority in (PriorityCode.LOW, PriorityCode.MEDIUM, PriorityCode.HIGH):
            executions.append(measured(client, on(client, NPU, priority=priority)))
            client.new("Execution_startCompute", executions[-1])
        time.sleep(0.2)
        gate.opened.set()
        client.wait(first)
    in_driver = [durations(client, execution)[1] for execution in executions]
    assert in_driver == sorted(in_driver, reverse=True)
    assert len(set(in_driver)) == 3
