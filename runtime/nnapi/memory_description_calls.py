"""ANeuralNetworksMemoryDesc_*."""

import ctypes

from runtime.compilation import Compilation
from runtime.memory_description import MemoryDescription
from runtime.nnapi import foreign_memory
from runtime.nnapi.state import State, implements


@implements("ANeuralNetworksMemoryDesc_create")
def create(state: State, description: int) -> None:
    """Make an empty descriptor."""
    made = state.handles.add("MemoryDesc", MemoryDescription())
    foreign_memory.write(description, ctypes.c_void_p, made)


@implements("ANeuralNetworksMemoryDesc_addInputRole")
def add_input_role(
    state: State, description: MemoryDescription, compilation: Compilation, index: int, frequency: float
) -> None:
    """Add a role as input."""
    description.add_input_role(compilation, index, frequency)


@implements("ANeuralNetworksMemoryDesc_addOutputRole")
def add_output_role(
    state: State, description: MemoryDescription, compilation: Compilation, index: int, frequency: float
) -> None:
    """Add a role as output."""
    description.add_output_role(compilation, index, frequency)


@implements("ANeuralNetworksMemoryDesc_setDimensions")
def set_dimensions(state: State, description: MemoryDescription, rank: int, dimensions: int) -> None:
    """Fill in dimensions."""
    description.set_dimensions(foreign_memory.uint32_list(dimensions, rank))


@implements("ANeuralNetworksMemoryDesc_finish")
def finish(state: State, description: MemoryDescription) -> None:
    """End the description."""
    description.finish()
