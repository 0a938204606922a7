"""ANeuralNetworksBurst_create."""

import ctypes

from runtime.burst import Burst
from runtime.compilation import Compilation
from runtime.nnapi import foreign_memory
from runtime.nnapi.state import State, implements


@implements("ANeuralNetworksBurst_create")
def create(state: State, compilation: Compilation, burst: int) -> None:
    """Make a burst."""
    foreign_memory.write(burst, ctypes.c_void_p, state.handles.add("Burst", Burst(compilation)))
