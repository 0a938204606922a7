"""ANeuralNetworksExecution: one run of a compilation."""

import threading

import numpy as np

from compiler.graph import Operand
from runtime.compilation import Compilation
from runtime.device import Array, DeviceResult, RunOptions
from runtime.errors import BadDataError, BadStateError, OpFailedError, translated
from runtime.event import Event
from runtime.graph_builder import describe
from runtime.lifecycle import Phase, require


class Execution:
    """Inputs, output buffers and one run. `options` go beyond NNAPI; see `RunOptions`.

    A run that is not functional needs no inputs and fills no outputs.
    """

    def __init__(self, compilation: Compilation, options: RunOptions | None = None) -> None:
        require("Execution", compilation.phase)
        self._compilation = compilation
        self._graph = compilation.graph
        self._options = options or RunOptions()
        self._inputs: dict[int, Array] = {}
        self._outputs: dict[int, Array] = {}
        self._phase = Phase.EXECUTION_PREPARING
        self._starting = threading.Lock()
        self._result: DeviceResult | None = None

    def set_input(self, index: int, buffer: Array) -> None:
        """Give the value of an input, by its position in the model's list; copied at the start of the run.

        Raises BadDataError for a wrong position, dtype or shape, BadStateError if it is set already.
        """
        self._set("Execution.set_input", self._graph.inputs, self._inputs, index, buffer)

    def set_output(self, index: int, buffer: Array) -> None:
        """Give the array that the run writes an output to, by its position in the model's list.

        Raises BadDataError for a wrong position, dtype or shape, or an array that cannot be written,
        BadStateError if it is set already.
        """
        self._set("Execution.set_output", self._graph.outputs, self._outputs, index, buffer)
        if not buffer.flags.writeable:
            del self._outputs[index]
            raise BadDataError(
                f"Execution.set_output: the array of output {index} is read-only, must be writable"
            )

    def compute(self) -> None:
        """Run now; raises BadDataError if an input or output is not set, OpFailedError if the run fails."""
        self._start("Execution.compute")
        self._run()

    def start_compute(self) -> Event:
        """Start the run in the background; the returned event's `wait` gives its outcome."""
        self._start("Execution.start_compute")
        return Event(self._run)

    @property
    def result(self) -> DeviceResult:
        """Everything the device answered; BadStateError before the run has ended."""
        require("Execution.result", self._phase)
        if self._result is None:
            raise OpFailedError("Execution.result: the run failed, there is no result")
        return self._result

    def _set(
        self, call: str, numbers: tuple[int, ...], slots: dict[int, Array], index: int, buffer: Array
    ) -> None:
        require(call, self._phase)
        kind = call.removeprefix("Execution.set_")
        if not 0 <= index < len(numbers):
            raise BadDataError(f"{call}: {kind} {index} does not exist, must be 0 to {len(numbers) - 1}")
        if index in slots:
            raise BadStateError(f"{call}: {kind} {index} is set already, must be set once")
        operand = self._graph.operands[numbers[index]]
        reason = mismatch(operand, buffer)
        if reason:
            raise BadDataError(
                f"{call}: {kind} {index} ({describe(self._graph.operands, numbers[index])}) {reason}"
            )
        slots[index] = buffer

    def _start(self, call: str) -> None:
        with self._starting:
            require(call, self._phase)
            if self._options.functional:
                self._check_all_set(call)
            self._phase = Phase.EXECUTION_COMPUTING

    def _check_all_set(self, call: str) -> None:
        for kind, numbers, slots in (
            ("input", self._graph.inputs, self._inputs),
            ("output", self._graph.outputs, self._outputs),
        ):
            for index, number in enumerate(numbers):
                if index not in slots:
                    self._phase = Phase.EXECUTION_COMPLETED
                    raise BadDataError(
                        f"{call}: {kind} {index} ({describe(self._graph.operands, number)}) is not set;"
                        " every input and output must be"
                    )

    def _run(self) -> None:
        inputs = [np.ascontiguousarray(self._inputs[index]) for index in sorted(self._inputs)]
        try:
            with translated():
                result = self._compilation.prepared.execute(inputs, self._options)
            for index, value in enumerate(result.outputs):
                self._outputs[index][...] = value
            self._result = result
        finally:
            self._phase = Phase.EXECUTION_COMPLETED


def mismatch(operand: Operand, array: Array) -> str:
    """What is wrong with an array for an operand, as the end of a sentence; "" if nothing is."""
    type_ = operand.type
    if array.dtype != type_.dtype:
        return f"has dtype {array.dtype}, must have {type_.dtype}"
    if array.shape != type_.dimensions:
        return f"has shape {list(array.shape)}, must have {list(type_.dimensions)}"
    return ""
