"""ANeuralNetworksCompilation_*."""

import ctypes
import os

from compiler.nnapi import CACHE_TOKEN_BYTES
from runtime.compilation import Compilation
from runtime.errors import BadDataError
from runtime.listed_device import DeviceSet
from runtime.model import Model
from runtime.nnapi import foreign_memory
from runtime.nnapi.device_calls import chosen_devices
from runtime.nnapi.state import State, implements


@implements("ANeuralNetworksCompilation_create")
def create(state: State, model: Model, compilation: int) -> None:
    """Make a compilation for all devices."""
    made = Compilation(model, DeviceSet(state.devices, is_explicit=False))
    foreign_memory.write(compilation, ctypes.c_void_p, state.handles.add("Compilation", made))


@implements("ANeuralNetworksCompilation_createForDevices")
def create_for_devices(state: State, model: Model, devices: int, count: int, compilation: int) -> None:
    """Make a compilation for some devices."""
    if count == 0:
        raise BadDataError("0 devices are listed, must be at least 1")
    made = Compilation.create_for_devices(model, chosen_devices(state, devices, count))
    foreign_memory.write(compilation, ctypes.c_void_p, state.handles.add("Compilation", made))


@implements("ANeuralNetworksCompilation_setPreference")
def set_preference(state: State, compilation: Compilation, preference: int) -> None:
    """Say what to optimise for."""
    compilation.set_preference(preference)


@implements("ANeuralNetworksCompilation_setCaching")
def set_caching(state: State, compilation: Compilation, directory: int, token: int) -> None:
    """Keep programs on disk; an empty name means the root, as NNAPI adds a slash to it."""
    path = os.fsdecode(foreign_memory.string(directory)) or "/"
    compilation.set_caching(path, bytes(foreign_memory.view(token, CACHE_TOKEN_BYTES)))


@implements("ANeuralNetworksCompilation_setPriority")
def set_priority(state: State, compilation: Compilation, priority: int) -> None:
    """Say how urgent executions are."""
    compilation.set_priority(priority)


@implements("ANeuralNetworksCompilation_setTimeout")
def set_timeout(state: State, compilation: Compilation, duration: int) -> None:
    """Limit the time to finish."""
    compilation.set_timeout(duration)


@implements("ANeuralNetworksCompilation_finish")
def finish(state: State, compilation: Compilation) -> None:
    """Compile."""
    compilation.finish()
