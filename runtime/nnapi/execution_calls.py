"""ANeuralNetworksExecution_* and the loop timeouts."""

import ctypes
from collections.abc import Sequence

from runtime.burst import Burst
from runtime.compilation import Compilation
from runtime.errors import OutputInsufficientSizeError, UnexpectedNullError
from runtime.event import Event, Waitable
from runtime.execution import DEFAULT_LOOP_TIMEOUT_NS, MAXIMUM_LOOP_TIMEOUT_NS, Execution
from runtime.memory import Memory
from runtime.nnapi import foreign_memory
from runtime.nnapi.foreign_memory import operand_type
from runtime.nnapi.state import State, implements

NO_DURATION = 2**64 - 1


@implements("ANeuralNetworksExecution_create")
def create(state: State, compilation: Compilation, execution: int) -> None:
    """Make an execution."""
    made = Execution(compilation, state.new_run_options(), state.on_run)
    foreign_memory.write(execution, ctypes.c_void_p, state.handles.add("Execution", made))


@implements("ANeuralNetworksExecution_setInput")
def set_input(state: State, execution: Execution, index: int, type_: int, buffer: int, length: int) -> None:
    """Give an input's value, or leave it out."""
    execution.require_preparing("Execution.set_input")
    value = foreign_memory.view(buffer, length) if buffer else None
    execution.set_input(index, value, operand_type(type_))


@implements("ANeuralNetworksExecution_setOutput")
def set_output(state: State, execution: Execution, index: int, type_: int, buffer: int, length: int) -> None:
    """Give an output's place, or leave it out."""
    execution.require_preparing("Execution.set_output")
    value = foreign_memory.view(buffer, length, writable=True) if buffer else None
    execution.set_output(index, value, operand_type(type_))


@implements("ANeuralNetworksExecution_setInputFromMemory")
def set_input_from_memory(
    state: State, execution: Execution, index: int, type_: int, memory: Memory, offset: int, length: int
) -> None:
    """Give a range of a memory as an input's value."""
    execution.require_preparing("Execution.set_input_from_memory")
    execution.set_input_from_memory(index, memory, offset, length, operand_type(type_))


@implements("ANeuralNetworksExecution_setOutputFromMemory")
def set_output_from_memory(
    state: State, execution: Execution, index: int, type_: int, memory: Memory, offset: int, length: int
) -> None:
    """Give a range of a memory as an output's place."""
    execution.require_preparing("Execution.set_output_from_memory")
    execution.set_output_from_memory(index, memory, offset, length, operand_type(type_))


@implements("ANeuralNetworksExecution_setTimeout")
def set_timeout(state: State, execution: Execution, duration: int) -> None:
    """Limit the run's simulated time."""
    execution.set_timeout(duration)


@implements("ANeuralNetworksExecution_setLoopTimeout")
def set_loop_timeout(state: State, execution: Execution, duration: int) -> None:
    """Limit the time of loops."""
    execution.set_loop_timeout(duration)


@implements("ANeuralNetworksExecution_setMeasureTiming")
def set_measure_timing(state: State, execution: Execution, measure: bool) -> None:
    """Ask for durations."""
    execution.set_measure_timing(measure)


@implements("ANeuralNetworksExecution_compute")
def compute(state: State, execution: Execution) -> None:
    """Run now."""
    execution.compute()


@implements("ANeuralNetworksExecution_burstCompute")
def burst_compute(state: State, execution: Execution, burst: Burst) -> None:
    """Run now, behind the burst's last run."""
    execution.burst_compute(burst)


@implements("ANeuralNetworksExecution_startCompute")
def start_compute(state: State, execution: Execution, event: int) -> None:
    """Run in the background."""
    _give(state, event, execution.start_compute())


@implements("ANeuralNetworksExecution_startComputeWithDependencies")
def start_compute_with_dependencies(
    state: State, execution: Execution, dependencies: int, count: int, duration: int, event: int
) -> None:
    """Run in the background, after others."""
    events = _events(state, list(foreign_memory.addresses(dependencies, count)))
    _give(state, event, execution.start_compute_with_dependencies(events, duration))


def _events(state: State, handles: Sequence[int]) -> list[Waitable]:
    if 0 in handles:
        raise UnexpectedNullError(f"event {handles.index(0)} of {len(handles)} is NULL")
    return [state.handles.get("Event", handle) for handle in handles]  # type: ignore[misc]


def _give(state: State, event: int, made: Event) -> None:
    foreign_memory.write(event, ctypes.c_void_p, state.handles.add("Event", made))


@implements("ANeuralNetworksExecution_getOutputOperandRank")
def get_output_operand_rank(state: State, execution: Execution, index: int, rank: int) -> None:
    """Rank of an output, also if it had too little room."""
    foreign_memory.write(rank, ctypes.c_uint32, execution.get_output_operand_rank(index))
    _check_room(execution, index)


@implements("ANeuralNetworksExecution_getOutputOperandDimensions")
def get_output_operand_dimensions(state: State, execution: Execution, index: int, dimensions: int) -> None:
    """Dimensions of an output, also if it had too little room."""
    values = execution.get_output_operand_dimensions(index)
    foreign_memory.write_all(dimensions, ctypes.c_uint32, values)
    _check_room(execution, index)


def _check_room(execution: Execution, index: int) -> None:
    if execution.is_output_insufficient:
        raise OutputInsufficientSizeError(f"output {index} is known, but an output had too little room")


@implements("ANeuralNetworksExecution_getDuration")
def get_duration(state: State, execution: Execution, code: int, duration: int) -> None:
    """Simulated time of the run."""
    measured = execution.get_duration(code)
    foreign_memory.write(duration, ctypes.c_uint64, NO_DURATION if measured is None else measured)


@implements("ANeuralNetworks_getDefaultLoopTimeout")
def get_default_loop_timeout(state: State) -> int:
    """Nanoseconds that loops have without another limit."""
    return DEFAULT_LOOP_TIMEOUT_NS


@implements("ANeuralNetworks_getMaximumLoopTimeout")
def get_maximum_loop_timeout(state: State) -> int:
    """The longest limit of loops, in nanoseconds."""
    return MAXIMUM_LOOP_TIMEOUT_NS
