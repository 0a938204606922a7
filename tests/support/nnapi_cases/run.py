"""Situations of starts, events, timing, results and bursts."""

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from compiler.nnapi import ResultCode
from tests.support.nnapi_cases.execution import open_compilation
from tests.support.nnapi_cases.memory_tools import device_memory
from tests.support.nnapi_cases.registry import situation, situations
from tests.support.nnapi_client import FLOAT, Client

NO_DURATION = 2**64 - 1


@contextlib.contextmanager
def running(client: Client) -> Iterator[tuple[int, int]]:
    """An execution that has started and cannot end, and its event; it can when the block ends."""
    signal = os.eventfd(0)
    execution = client.execution(filled=True)
    fence = client.new("Event_createFromSyncFenceFd", signal)
    event = client.new("Execution_startComputeWithDependencies", execution, client.handles([fence]), 1, 0)
    try:
        yield execution, event
    finally:
        os.eventfd_write(signal, 1)
        os.close(signal)
        client.free("Event", fence)


def computed(client: Client) -> int:
    execution = client.execution(filled=True)
    client.must("Execution_compute", execution)
    return execution


def failing(client: Client) -> int:
    """An execution that will fail: its input is memory that nothing has written."""
    compilation = client.compilation()
    memory = device_memory(client, compilation)
    execution = client.execution(compilation)
    client.must("Execution_setInputFromMemory", execution, 0, None, memory, 0, 0)
    client.set_input(execution, 1, np.zeros(2, np.float32))
    client.set_output(execution, 0, np.zeros(2, np.float32))
    return execution


def failed(client: Client) -> int:
    execution = failing(client)
    assert client.call("Execution_compute", execution) == ResultCode.OP_FAILED
    return execution


def broadcast(client: Client, first: tuple[int, int], second: tuple[int, int], room: int) -> int:
    """An execution of a model that leaves both dimensions open; its output has room for some elements."""
    execution = client.execution(open_compilation(client, (0, 0)))
    for index, shape in enumerate((first, second)):
        array = np.zeros(shape, np.float32)
        assert client.set_input(execution, index, array, client.type(FLOAT, shape)) == 0
    assert client.set_output(execution, 0, np.zeros(room, np.float32)) == 0
    return execution


def too_small(client: Client) -> int:
    execution = broadcast(client, (2, 3), (2, 3), 5)
    assert client.call("Execution_compute", execution) == ResultCode.OUTPUT_INSUFFICIENT_SIZE
    return execution


def computed_while_running(client: Client) -> int:
    with running(client) as (execution, event):
        code = client.call("Execution_compute", execution)
    assert client.wait(event) == ResultCode.NO_ERROR
    return code


def incomplete(client: Client) -> int:
    execution = client.execution()
    client.set_input(execution, 0, np.zeros(2, np.float32))
    return execution


def computed_after_failed_start(client: Client) -> int:
    execution = incomplete(client)
    assert client.call("Execution_compute", execution) == ResultCode.BAD_DATA
    return client.call("Execution_compute", execution)


situations(
    "Execution_compute",
    {
        "execution is NULL": lambda c: c.call("Execution_compute", None),
        "call while it runs": computed_while_running,
        "device-memory input not initialised at compute time": lambda c: c.call(
            "Execution_compute", failing(c)
        ),
        "output buffer too small for a dynamic output": lambda c: c.call(
            "Execution_compute", broadcast(c, (2, 3), (2, 3), 5)
        ),
        "deduced output size overflows 32 bits": lambda c: c.call(
            "Execution_compute", broadcast(c, (2**16, 1), (1, 2**16), 5)
        ),
        "call after a BAD_DATA start (slot missing)": computed_after_failed_start,
    },
)
situations(
    "Execution_startCompute",
    {
        "execution already started or completed (event set to NULL)": lambda c: c.refused(
            "Execution_startCompute", computed(c)
        ),
        "an input or output slot never set": lambda c: c.refused("Execution_startCompute", incomplete(c)),
    },
)


def freed_while_running(client: Client) -> None:
    with running(client) as (execution, event):
        freed = client.free("Execution", execution)
    assert client.wait(event) == ResultCode.NO_ERROR
    return freed


def event_freed_while_running(client: Client) -> None:
    execution = client.execution()
    output = client.fill(execution)
    event = client.new("Execution_startCompute", execution)
    client.free("Event", event)
    assert output.tolist() == [11, 22]


def waited(client: Client, execution: int, times: int = 1) -> list[int]:
    event = client.new("Execution_startCompute", execution)
    codes = [client.call("Event_wait", event) for _ in range(times)]
    client.free("Event", event)
    return codes


situation("Execution_free", "execution still running")(freed_while_running)
situation("Event_free", "execution still running")(event_freed_while_running)
situations(
    "Event_wait",
    {
        "event is NULL": lambda c: c.call("Event_wait", None),
        "normal completion": lambda c: waited(c, c.execution(filled=True)),
        "waited twice": lambda c: waited(c, c.execution(filled=True), 2),
        "execution failed": lambda c: waited(c, failing(c), 2),
    },
)

_FENCED = "Execution_startComputeWithDependencies"


def fenced(client: Client, events: list[int | None], execution: int | None = -1, duration: int = 0) -> int:
    """Result code of a fenced start that has to be refused."""
    execution = client.execution(filled=True) if execution == -1 else execution
    return client.refused(_FENCED, execution, client.handles(events), len(events), duration)


def finished_event(client: Client) -> int:
    return client.new("Execution_startCompute", client.execution(filled=True))


def limited_on(client: Client, devices: int | None) -> int:
    chosen = None if devices is None else client.devices()[:devices]
    execution = client.execution(client.compilation(devices=chosen), filled=True)
    return fenced(client, [], execution, 10**9)


def unspecified(client: Client) -> int:
    return fenced(client, [], broadcast(client, (2, 3), (2, 3), 6))


situations(
    _FENCED,
    {
        "execution is NULL": lambda c: fenced(c, [finished_event(c)], None),
        "dependency list NULL with count 1": lambda c: c.refused(
            _FENCED, c.execution(filled=True), None, 1, 0
        ),
        "event pointer is NULL": lambda c: c.call(_FENCED, c.execution(filled=True), None, 0, 0, None),
        "a NULL entry in the dependency list": lambda c: fenced(c, [finished_event(c), None]),
        "duration > 0 unless createForDevices with one device": lambda c: [
            limited_on(c, None),
            limited_on(c, 2),
        ],
        "an output not fully specified": unspecified,
    },
)
situations(
    "Event_createFromSyncFenceFd",
    {
        "fd -1": lambda c: c.refused("Event_createFromSyncFenceFd", -1),
        "fd 0": lambda c: c.refused("Event_createFromSyncFenceFd", 0),
    },
)


def fence_of_a_run(client: Client) -> int:
    event = client.new(_FENCED, client.execution(filled=True), None, 0, 0)
    descriptor = ctypes.c_int(77)
    code = client.call("Event_getSyncFenceFd", event, client.pointer(descriptor))
    assert descriptor.value == -1
    return code


situations(
    "Event_getSyncFenceFd",
    {
        "out pointer is NULL": lambda c: c.call("Event_getSyncFenceFd", finished_event(c), None),
        "event from a fenced start without a fence (fd set to -1)": fence_of_a_run,
    },
)


def on_devices(client: Client, function: str, devices: int | None, value: Any, *, run: bool = False) -> int:
    """Result code of setting something of an execution on the first so many devices; None: not listed."""
    chosen = None if devices is None else client.devices()[:devices]
    execution = client.execution(client.compilation(devices=chosen), filled=True)
    if run:
        client.must("Execution_compute", execution)
    return client.call(function, execution, value)


situations(
    "Execution_setTimeout",
    {
        "execution is NULL": lambda c: c.call("Execution_setTimeout", None, 1),
        "compilation not from createForDevices with one device": lambda c: [
            on_devices(c, "Execution_setTimeout", devices, 1) for devices in (None, 2)
        ],
        "after the execution finished": lambda c: on_devices(c, "Execution_setTimeout", 1, 1, run=True),
    },
)
situations(
    "Execution_setLoopTimeout",
    {
        "after the execution started": lambda c: c.call("Execution_setLoopTimeout", computed(c), 1),
        "value above the maximum (clamped)": lambda c: c.call(
            "Execution_setLoopTimeout", c.execution(), 2**64 - 1
        ),
    },
)
for _function in ("_getDefaultLoopTimeout", "_getMaximumLoopTimeout"):
    situation(_function, "always")(lambda c, f=_function: c.call(f))  # type: ignore[misc]
situations(
    "Execution_setMeasureTiming",
    {
        "execution is NULL": lambda c: c.call("Execution_setMeasureTiming", None, True),
        "compilation from Compilation_create": lambda c: on_devices(
            c, "Execution_setMeasureTiming", None, True
        ),
        "createForDevices with two devices": lambda c: on_devices(c, "Execution_setMeasureTiming", 2, True),
    },
)


def duration(client: Client, execution: int | None, code: int = 0) -> int:
    """Result code of a question for a duration that has to be refused."""
    value = ctypes.c_uint64(5)
    result = client.call("Execution_getDuration", execution, code, client.pointer(value))
    assert value.value == NO_DURATION
    return result


situations(
    "Execution_getDuration",
    {
        "execution is NULL": lambda c: duration(c, None),
        "out pointer is NULL": lambda c: c.call("Execution_getDuration", computed(c), 0, None),
        "code -1 or 4": lambda c: [duration(c, computed(c), code) for code in (-1, 4)],
        "before completion (value set to UINT64_MAX)": lambda c: duration(c, c.execution(filled=True)),
    },
)


def rank(client: Client, execution: int, *, expected: int | None = None) -> int:
    value = ctypes.c_uint32()
    code = client.call("Execution_getOutputOperandRank", execution, 0, client.pointer(value))
    assert expected is None or value.value == expected
    return code


def dimensions(client: Client, execution: int | None, *, expected: list[int] | None = None) -> int:
    values = (ctypes.c_uint32 * 4)()
    code = client.call("Execution_getOutputOperandDimensions", execution, 0, values)
    assert expected is None or list(values)[: len(expected)] == expected
    return code


situations(
    "Execution_getOutputOperandRank",
    {
        "out pointer is NULL": lambda c: c.call("Execution_getOutputOperandRank", computed(c), 0, None),
        "before completion": lambda c: rank(c, c.execution(filled=True)),
        "after success": lambda c: rank(c, computed(c), expected=1),
        "output buffer was too small": lambda c: [
            rank(c, too_small(c), expected=2),
            dimensions(c, too_small(c), expected=[2, 3]),
        ],
        "execution ended in any other error": lambda c: rank(c, failed(c)),
    },
)
situations(
    "Execution_getOutputOperandDimensions",
    {
        "execution is NULL": lambda c: dimensions(c, None),
        "out pointer is NULL": lambda c: c.call("Execution_getOutputOperandDimensions", computed(c), 0, None),
        "before completion": lambda c: dimensions(c, c.execution(filled=True)),
        "after success": lambda c: dimensions(c, computed(c), expected=[2]),
        "execution ended in any other error": lambda c: dimensions(c, failed(c)),
    },
)


def burst_computed(client: Client, *, run: bool = False, burst: bool = True, execution: bool = True) -> int:
    compilation = client.compilation()
    made = client.execution(compilation, filled=True)
    if run:
        client.must("Execution_compute", made)
    return client.call(
        "Execution_burstCompute",
        made if execution else None,
        client.new("Burst_create", compilation) if burst else None,
    )


def busy_burst(client: Client) -> list[int]:
    compilation = client.compilation()
    burst = client.new("Burst_create", compilation)
    executions = [client.execution(compilation, filled=True) for _ in range(2)]
    codes: list[int] = []
    together = threading.Barrier(2)

    def compute(execution: int) -> None:
        together.wait()
        codes.append(client.call("Execution_burstCompute", execution, burst))

    threads = [threading.Thread(target=compute, args=(execution,)) for execution in executions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ResultCode.NO_ERROR in codes
    return codes


situations(
    "Execution_burstCompute",
    {
        "execution is NULL": lambda c: burst_computed(c, execution=False),
        "burst is NULL": lambda c: burst_computed(c, burst=False),
        "burst busy with another execution": busy_burst,
        "execution already started or completed": lambda c: burst_computed(c, run=True),
    },
)
