"""ANeuralNetworksEvent_*."""

import ctypes

from runtime.event import FenceEvent, Waitable
from runtime.nnapi import foreign_memory
from runtime.nnapi.state import State, implements


@implements("ANeuralNetworksEvent_wait")
def wait(state: State, event: Waitable) -> None:
    """Wait for an event, and fail as what it stands for failed."""
    event.wait()


@implements("ANeuralNetworksEvent_createFromSyncFenceFd")
def create_from_sync_fence_fd(state: State, descriptor: int, event: int) -> None:
    """Make an event of a fence."""
    made = FenceEvent(descriptor)
    foreign_memory.write(event, ctypes.c_void_p, state.handles.add("Event", made))


@implements("ANeuralNetworksEvent_getSyncFenceFd")
def get_sync_fence_fd(state: State, event: Waitable, descriptor: int) -> None:
    """The fence of an event that has one."""
    foreign_memory.write(descriptor, ctypes.c_int, event.get_sync_fence_fd())
