"""ANeuralNetworksExecution: one run of a compilation."""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from compiler.graph import OperandType
from compiler.nnapi import DurationCode
from runtime.arguments import ArrayStore, BytesStore, Store
from runtime.burst import Burst
from runtime.compilation import Compilation, Specialised
from runtime.device import Array, DeviceResult, PreparedModel, RunOptions
from runtime.device_clock import PS_PER_NS, Submission, Timing
from runtime.device_memory import Direction
from runtime.errors import (
    BadDataError,
    BadStateError,
    OpFailedError,
    OutputInsufficientSizeError,
    translated,
)
from runtime.event import Event, Waitable
from runtime.execution_slots import ExecutionSlots
from runtime.lifecycle import Phase, require
from runtime.memory import Memory

ByteBuffer = bytes | bytearray | memoryview

DEFAULT_LOOP_TIMEOUT_NS = 2 * 10**9
MAXIMUM_LOOP_TIMEOUT_NS = 15 * 10**9
"""What NNAPI's getDefaultLoopTimeout and getMaximumLoopTimeout answer; longer limits are cut to this."""


class Execution:
    """Inputs, output buffers and one run. `options` go beyond NNAPI; see `RunOptions`.

    A run that is not functional needs no inputs but those whose size the model leaves open, and fills no
    outputs. `on_success` is told when the run has succeeded, in the thread that ran it.
    """

    def __init__(
        self,
        compilation: Compilation,
        options: RunOptions | None = None,
        on_success: "Callable[[Execution], None] | None" = None,
    ) -> None:
        require("Execution", compilation.phase)
        self.compilation = compilation
        self._graph = compilation.model.graph
        self._options = options or RunOptions()
        self._on_success = on_success
        self._slots = ExecutionSlots(compilation)
        self._phase = Phase.EXECUTION_PREPARING
        self._timeout_ns = 0
        self._loop_timeout_ns = DEFAULT_LOOP_TIMEOUT_NS
        self._is_measured = False
        self._result: DeviceResult | None = None
        self._timing: Timing | None = None
        self._error: BaseException | None = None
        self._specialised: Specialised | None = None

    @property
    def options(self) -> RunOptions:
        """How it is run."""
        return self._options

    @property
    def phase(self) -> Phase:
        """Where the execution is in its life."""
        return self._phase

    def require_preparing(self, call: str) -> None:
        """Refuse a call that comes after the start (BadStateError)."""
        require(call, self._phase)

    def set_input(
        self, index: int, buffer: Array | ByteBuffer | None, type_: OperandType | None = None
    ) -> None:
        """Give the value of an input, by its position in the model's list; copied at the start of the run.

        `type_` gives the dimensions that the model leaves open; only its dimensions count. None instead of a
        buffer leaves an optional input out. Raises BadDataError for a wrong position, type, dtype or shape,
        BadStateError if it is set already.
        """
        self._set("Execution.set_input", Direction.INPUT, index, _store(buffer), type_)

    def set_output(
        self, index: int, buffer: Array | ByteBuffer | None, type_: OperandType | None = None
    ) -> None:
        """Give the array that the run writes an output to, by its position in the model's list.

        Dimensions that depend on open ones of inputs are compared with the array's when the run starts. None
        instead of a buffer leaves the output out. Raises BadDataError for a wrong position, type, dtype or
        shape, or an array that cannot be written, BadStateError if it is set already.
        """
        if isinstance(buffer, np.ndarray) and not buffer.flags.writeable:
            raise BadDataError(
                f"Execution.set_output: the array of output {index} is read-only, must be writable"
            )
        self._set("Execution.set_output", Direction.OUTPUT, index, _store(buffer), type_)

    def set_input_from_memory(
        self,
        index: int,
        memory: Memory,
        offset_bytes: int,
        length_bytes: int,
        type_: OperandType | None = None,
    ) -> None:
        """Give a range of a memory as the value of an input; see `set_input`.

        Memory made from a descriptor is used whole: offset and length are 0. Raises BadDataError for a wrong
        range, or a use that the descriptor does not list.
        """
        call = "Execution.set_input_from_memory"
        self._set_from_memory(call, Direction.INPUT, index, memory, (offset_bytes, length_bytes), type_)

    def set_output_from_memory(
        self,
        index: int,
        memory: Memory,
        offset_bytes: int,
        length_bytes: int,
        type_: OperandType | None = None,
    ) -> None:
        """Give a range of a memory for an output to be written to; see `set_input_from_memory`."""
        call = "Execution.set_output_from_memory"
        self._set_from_memory(call, Direction.OUTPUT, index, memory, (offset_bytes, length_bytes), type_)

    def set_timeout(self, duration_ns: int) -> None:
        """Limit the simulated time from the start of the run to its end; 0: no limit.

        Raises BadDataError unless the compilation is for one listed device.
        """
        self.compilation.require_single_device("Execution.set_timeout")
        require("Execution.set_timeout", self._phase)
        self._timeout_ns = duration_ns

    def set_loop_timeout(self, duration_ns: int) -> None:
        """Limit the time of each WHILE; more than the maximum means the maximum."""
        require("Execution.set_loop_timeout", self._phase)
        self._loop_timeout_ns = min(duration_ns, MAXIMUM_LOOP_TIMEOUT_NS)

    @property
    def loop_timeout_ns(self) -> int:
        """The limit of each WHILE. No device runs loops yet."""
        return self._loop_timeout_ns

    def set_measure_timing(self, measure: bool) -> None:
        """Ask for `get_duration`; BadDataError unless the compilation is for one listed device."""
        self.compilation.require_single_device("Execution.set_measure_timing")
        require("Execution.set_measure_timing", self._phase)
        self._is_measured = measure

    def compute(self) -> None:
        """Run now; raises BadDataError if an input or output is not set, OpFailedError if the run fails.

        A model with open dimensions is compiled here for those given; that raises what `Compilation.finish`
        raises, and OutputInsufficientSizeError for an output array that is too small. A run that misses its
        time limit raises MissedDeadlineTransientError or MissedDeadlinePersistentError.
        """
        self._started("Execution.compute")()

    def start_compute(self) -> Event:
        """Start the run in the background; the returned event's `wait` gives its outcome."""
        return Event(self._started("Execution.start_compute"))

    def start_compute_with_dependencies(
        self, dependencies: Sequence[Waitable], duration_ns: int = 0
    ) -> Event:
        """Start a run that waits for others; `duration_ns` limits its simulated time from then on (0: no).

        Runs are waited for here, and their errors raised; fences are waited for in the background, and the
        run fails if one of them does. Raises BadDataError if an output's size is not known, or for a limit
        unless the compilation is for one listed device.
        """
        call = "Execution.start_compute_with_dependencies"
        if duration_ns:
            self.compilation.require_single_device(call)
        require(call, self._phase)
        self._slots.check_outputs_specified(call)
        submitted_ps = self._now_ps()
        for event in dependencies:
            if not event.has_fence:
                event.wait()
        fences = [event for event in dependencies if event.has_fence]
        return Event(self._started(call, fences, submitted_ps, duration_ns))

    def burst_compute(self, burst: Burst) -> None:
        """Run now, right behind the burst's last run; see `compute`.

        Raises BadDataError for a burst of another compilation, BadStateError if it is busy.
        """
        call = "Execution.burst_compute"
        with burst.one_run(call, self.compilation):
            self._started(call, follows_ps=burst.end_ps)()
            burst.end_ps = None if self._timing is None else self._timing.end_ps

    @property
    def result(self) -> DeviceResult:
        """Everything the device answered; BadStateError before the run has ended."""
        require("Execution.result", self._phase)
        if self._result is None:
            raise OpFailedError("Execution.result: the run failed, there is no result")
        return self._result

    @property
    def prepared(self) -> PreparedModel:
        """What was run: the model as the device prepared it for these inputs."""
        require("Execution.prepared", self._phase)
        if self._specialised is None:
            raise OpFailedError("Execution.prepared: the run failed before the model was prepared")
        return self._specialised.prepared

    @property
    def timing(self) -> Timing | None:
        """When the run used the device, in its simulated time; None for a device without, or a failed run."""
        return self._timing

    @property
    def is_output_insufficient(self) -> bool:
        """True if the run failed because an output had too little room."""
        return isinstance(self._error, OutputInsufficientSizeError)

    def output_dimensions(self, index: int) -> tuple[int, ...]:
        """Dimensions that an output has in this execution, known even if its array was too small.

        Raises BadStateError before the run has ended, or if it failed for another reason, BadDataError for a
        wrong position.
        """
        call = "Execution.output_dimensions"
        require(call, self._phase)
        if self._specialised is None or (self._error is not None and not self.is_output_insufficient):
            raise BadStateError(f"{call}: the run failed, its outputs have no dimensions")
        self._slots.check_position(call, Direction.OUTPUT, index)
        return self._specialised.graph.operands[self._graph.outputs[index]].type.dimensions

    def get_output_operand_rank(self, index: int) -> int:
        """Number of dimensions of an output; raises as `output_dimensions`."""
        return len(self.output_dimensions(index))

    def get_output_operand_dimensions(self, index: int) -> tuple[int, ...]:
        """Dimensions of an output that is a tensor, BadDataError for a scalar; see `output_dimensions`."""
        dimensions = self.output_dimensions(index)
        if self._graph.operands[self._graph.outputs[index]].type.code.is_scalar:
            place = self._slots.name(Direction.OUTPUT, index)
            raise BadDataError(f"Execution.get_output_operand_dimensions: {place} is a scalar, has none")
        return dimensions

    def get_duration(self, code: DurationCode | int) -> int | None:
        """Simulated nanoseconds of the run; None if it was not measured, failed, or cannot be measured.

        ON_HARDWARE counts while the hardware works, IN_DRIVER from the start call, FENCED_IN_DRIVER from
        when all dependencies were done. Raises BadStateError before the run has ended, BadDataError for an
        unknown code.
        """
        require("Execution.get_duration", self._phase)
        if code not in tuple(DurationCode):
            allowed = ", ".join(f"{known.value} ({known.name})" for known in DurationCode)
            raise BadDataError(f"Execution.get_duration: duration is {code}, must be one of {allowed}")
        timing = self._timing
        if timing is None or self._error is not None or not self._is_measured:
            return None
        durations_ps = {
            DurationCode.ON_HARDWARE: timing.busy_ps,
            DurationCode.IN_DRIVER: timing.end_ps - timing.submitted_ps,
            DurationCode.FENCED_ON_HARDWARE: timing.busy_ps,
            DurationCode.FENCED_IN_DRIVER: timing.end_ps - timing.ready_ps,
        }
        return math.ceil(durations_ps[DurationCode(code)] / PS_PER_NS)

    def _set(
        self, call: str, side: Direction, index: int, store: Store | None, type_: OperandType | None
    ) -> None:
        with self._slots.lock:
            require(call, self._phase)
            self._slots.set(call, side, index, store, type_)

    def _set_from_memory(
        self,
        call: str,
        side: Direction,
        index: int,
        memory: Memory,
        extent: tuple[int, int],
        type_: OperandType | None,
    ) -> None:
        with self._slots.lock:
            require(call, self._phase)
            self._slots.set_from_memory(call, side, index, memory, extent, type_)

    def _started(
        self,
        call: str,
        fences: Sequence[Waitable] = (),
        submitted_ps: int | None = None,
        duration_ns: int = 0,
        follows_ps: int | None = None,
    ) -> Callable[[], None]:
        """Start, once; the run itself is what is returned."""
        with self._slots.lock:
            require(call, self._phase)
            self._phase = Phase.EXECUTION_COMPUTING
            if self._options.functional:
                try:
                    self._slots.check_all_set(call)
                except BadDataError as error:
                    self._error, self._phase = error, Phase.EXECUTION_COMPLETED
                    raise
        ready_ps = self._now_ps()
        submission = Submission(
            priority=self.compilation.priority,
            submitted_ps=ready_ps if submitted_ps is None else submitted_ps,
            ready_ps=ready_ps,
            limit_ns=self._timeout_ns,
            fenced_limit_ns=duration_ns,
            follows_ps=follows_ps,
        )
        return lambda: self._run(fences, submission)

    def _run(self, fences: Sequence[Waitable], submission: Submission) -> None:
        try:
            for fence in fences:
                fence.wait()
                submission = dataclasses.replace(submission, ready_ps=self._now_ps())
            inputs = self._slots.values()
            self._specialised = self.compilation.specialised(self._slots.shapes())
            self._slots.check_room(self._specialised.graph)
            with translated():
                result = self._executed(self._specialised.prepared, inputs, submission)
            self._slots.write(result.outputs)
            self._result = result
        except BaseException as error:
            self._error = error
            self._slots.fail()
            raise
        finally:
            self._phase = Phase.EXECUTION_COMPLETED
        if self._on_success is not None:
            self._on_success(self)

    def _executed(
        self, prepared: PreparedModel, inputs: Sequence[Array], submission: Submission
    ) -> DeviceResult:
        """Run on the device; where executions share one, when it is this one's turn."""
        clock = self.compilation.clock
        if clock is None:
            return prepared.execute(inputs, self._options)
        result, self._timing = clock.run(submission, lambda: prepared.execute(inputs, self._options))
        return result

    def _now_ps(self) -> int:
        clock = self.compilation.clock
        return 0 if clock is None else clock.now_ps


def _store(buffer: Array | ByteBuffer | None) -> Store | None:
    if buffer is None:
        return None
    if isinstance(buffer, np.ndarray):
        return ArrayStore(buffer)
    memory = Memory(buffer)
    return BytesStore(memory, 0, memory.size_bytes)
