"""ANeuralNetworksMemory_* and ASharedMemory_create."""

import ctypes
import os
import sys

from runtime.device_memory import copy_memory
from runtime.errors import BadDataError
from runtime.memory import MAX_BYTES, Memory
from runtime.memory_description import MemoryDescription
from runtime.nnapi import foreign_memory
from runtime.nnapi.state import State, implements


@implements("ANeuralNetworksMemory_createFromFd")
def create_from_fd(state: State, size: int, protect: int, descriptor: int, offset: int, memory: int) -> None:
    """Map part of a file."""
    made = Memory.create_from_fd(size, protect, descriptor, offset)
    foreign_memory.write(memory, ctypes.c_void_p, state.handles.add("Memory", made))


@implements("ANeuralNetworksMemory_createFromAHardwareBuffer")
def create_from_hardware_buffer(state: State, buffer: int, memory: int) -> None:
    """Refuse: only Android has hardware buffers."""
    raise BadDataError(
        f"the platform is {sys.platform}, which has no hardware buffers; memory can be made of a file"
        " descriptor"
    )


@implements("ANeuralNetworksMemory_createFromDesc")
def create_from_desc(state: State, description: MemoryDescription, memory: int) -> None:
    """Allocate memory for a descriptor."""
    foreign_memory.write(memory, ctypes.c_void_p, state.handles.add("Memory", description.create_memory()))


@implements("ANeuralNetworksMemory_copy")
def copy(state: State, source: Memory, destination: Memory) -> None:
    """Copy a memory's bytes."""
    copy_memory(source, destination)


@implements("ASharedMemory_create")
def create_shared_memory(state: State, name: int, size: int) -> int:
    """A descriptor of new shared memory of zeros, or -1."""
    if not 0 < size <= MAX_BYTES:
        return -1
    text = foreign_memory.string(name) if name else b""
    try:
        descriptor = os.memfd_create(text[:249].decode(errors="replace") or "shared memory")
    except OSError:
        return -1
    try:
        os.ftruncate(descriptor, size)
    except OSError:
        os.close(descriptor)
        return -1
    return descriptor
