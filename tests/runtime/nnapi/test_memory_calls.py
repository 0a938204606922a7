import os

import numpy as np
import pytest

from compiler.nnapi import ResultCode
from tests.support.nnapi_cases.memory_tools import READ_WRITE, device_memory, file_memory, shared_file
from tests.support.nnapi_client import Client


def test_memory_may_be_freed_before_the_run(client: Client) -> None:
    execution, output = client.execution(), np.zeros(2, np.float32)
    for index, values in enumerate(([1, 2], [10, 20])):
        memory = file_memory(client, 64, b"\0" * 8 + np.array(values, np.float32).tobytes())
        client.must("Execution_setInputFromMemory", execution, index, None, memory, 8, 8)
        client.free("Memory", memory)
    client.set_output(execution, 0, output)
    client.must("Execution_compute", execution)
    assert output.tolist() == [11, 22]


def test_shared_memory_is_a_file_of_zeros(client: Client) -> None:
    descriptor = client.api.ASharedMemory_create(b"weights", 4096)
    try:
        assert os.fstat(descriptor).st_size == 4096
        assert os.pread(descriptor, 4096, 0) == bytes(4096)
    finally:
        os.close(descriptor)


def test_shared_memory_needs_no_name(client: Client) -> None:
    descriptor = client.api.ASharedMemory_create(None, 1)
    assert descriptor >= 0
    os.close(descriptor)


@pytest.mark.parametrize("size", [0, 2**63, 2**64 - 1])
def test_shared_memory_of_an_impossible_size_is_minus_1(client: Client, size: int) -> None:
    assert client.api.ASharedMemory_create(b"", size) == -1


def test_device_memory_carries_a_tensor_from_run_to_run(client: Client) -> None:
    compilation = client.compilation()
    described = client.new("MemoryDesc_create")
    client.must("MemoryDesc_addOutputRole", described, compilation, 0, 1.0)
    client.must("MemoryDesc_addInputRole", described, compilation, 0, 1.0)
    client.must("MemoryDesc_finish", described)
    memory = client.new("Memory_createFromDesc", described)
    first = client.execution(compilation)
    for index in range(2):
        client.set_input(first, index, np.array([1, 2], np.float32))
    client.must("Execution_setOutputFromMemory", first, 0, None, memory, 0, 0)
    client.must("Execution_compute", first)
    second, output = client.execution(compilation), np.zeros(2, np.float32)
    client.must("Execution_setInputFromMemory", second, 0, None, memory, 0, 0)
    client.set_input(second, 1, np.array([10, 20], np.float32))
    client.set_output(second, 0, output)
    client.must("Execution_compute", second)
    assert output.tolist() == [12, 24]


def test_a_failed_run_forgets_the_device_memory_of_its_output(client: Client) -> None:
    compilation = client.compilation()
    result, source = (
        device_memory(client, compilation, direction="Output"),
        device_memory(client, compilation),
    )
    client.must("Memory_copy", file_memory(client, 8), result)
    execution = client.execution(compilation)
    client.must("Execution_setInputFromMemory", execution, 0, None, source, 0, 0)
    client.set_input(execution, 1, np.zeros(2, np.float32))
    client.must("Execution_setOutputFromMemory", execution, 0, None, result, 0, 0)
    assert client.call("Execution_compute", execution) == ResultCode.OP_FAILED
    assert client.call("Memory_copy", result, file_memory(client, 8)) == ResultCode.BAD_DATA


def test_results_may_go_to_memory(client: Client) -> None:
    execution = client.execution()
    descriptor = shared_file(client, 64)
    memory = client.new("Memory_createFromFd", 64, READ_WRITE, descriptor, 0)
    for index in range(2):
        client.set_input(execution, index, np.array([1, 2], np.float32))
    client.must("Execution_setOutputFromMemory", execution, 0, None, memory, 16, 8)
    client.must("Execution_compute", execution)
    assert np.frombuffer(os.pread(descriptor, 8, 16), np.float32).tolist() == [2, 4]
    os.close(descriptor)


def test_memory_that_must_not_be_accessed_is_unmappable(client: Client) -> None:
    codes = []
    for protect, side in ((0, "Input"), (2, "Input"), (1, "Output"), (0, "Output")):
        descriptor, execution = shared_file(client, 64), client.execution()
        memory = client.new("Memory_createFromFd", 64, protect, descriptor, 0)
        os.close(descriptor)
        for index in range(2):
            if side == "Output" or index:
                client.set_input(execution, index, np.zeros(2, np.float32))
        client.must(f"Execution_set{side}FromMemory", execution, 0, None, memory, 0, 8)
        if side == "Input":
            client.set_output(execution, 0, np.zeros(2, np.float32))
        codes.append(client.call("Execution_compute", execution))
    assert codes == [ResultCode.UNMAPPABLE] * 4


def test_a_file_that_became_shorter_is_unmappable(client: Client) -> None:
    descriptor = shared_file(client, 8192)
    memory = client.new("Memory_createFromFd", 8192, READ_WRITE, descriptor, 0)
    os.ftruncate(descriptor, 0)
    os.close(descriptor)
    assert client.call("Memory_copy", memory, file_memory(client, 8192)) == ResultCode.UNMAPPABLE
