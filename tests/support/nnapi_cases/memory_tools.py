"""Memories for situations."""

import os

from tests.support.nnapi_client import Client

READ_WRITE = 3


def shared_file(client: Client, size: int, content: bytes = b"") -> int:
    """A descriptor of shared memory, which the client keeps open."""
    descriptor: int = client.api.ASharedMemory_create(b"test", size)
    assert descriptor >= 0
    os.pwrite(descriptor, content, 0)
    return descriptor


def file_memory(client: Client, size: int, content: bytes = b"") -> int:
    """Memory of a file; the descriptor is closed at once."""
    descriptor = shared_file(client, size, content)
    try:
        return client.new("Memory_createFromFd", size, READ_WRITE, descriptor, 0)
    finally:
        os.close(descriptor)


def description(
    client: Client, compilation: int | None = None, *, finished: bool = True, direction: str = "Input"
) -> int:
    """A descriptor with a role: input or output 0 of a compilation."""
    made = client.new("MemoryDesc_create")
    compilation = client.compilation() if compilation is None else compilation
    client.must(f"MemoryDesc_add{direction}Role", made, compilation, 0, 1.0)
    if finished:
        client.must("MemoryDesc_finish", made)
    return made


def device_memory(client: Client, compilation: int | None = None, *, direction: str = "Input") -> int:
    """Memory of a descriptor, which is freed at once."""
    described = description(client, compilation, direction=direction)
    memory = client.new("Memory_createFromDesc", described)
    client.free("MemoryDesc", described)
    return memory
