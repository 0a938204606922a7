"""Runs a conformance case through the runtime's objects and judges the answer."""

import dataclasses
import enum
from collections.abc import Sequence

import numpy as np

from compiler.graph import Graph
from compiler.nnapi import Numerics
from runtime.compilation import Compilation
from runtime.conformance.case import Case, Example, Subject
from runtime.conformance.comparison import Agreement, compare
from runtime.device import Array, Device, DeviceResult
from runtime.errors import (
    BadDataError,
    BadStateError,
    MissingPackageError,
    OpFailedError,
    RuntimeFailure,
    UnexpectedNullError,
    UnsupportedModelError,
)
from runtime.execution import Execution
from runtime.memory import Memory
from runtime.model import Model


class Verdict(enum.StrEnum):
    """How a case came out."""

    EXACT = "exact"
    WITHIN_TOLERANCE = "within_tolerance"
    FAILED = "failed"
    REFUSED = "refused"


_VERDICTS = {
    Agreement.EXACT: Verdict.EXACT,
    Agreement.WITHIN_TOLERANCE: Verdict.WITHIN_TOLERANCE,
    Agreement.FAILED: Verdict.FAILED,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a case.

    `detail` is the first difference, or why the case was refused. `ran_on` says for each subject where it
    ran, `fallbacks` why something ran on the host of an NPU; both are empty if nothing ran.
    """

    name: str
    variant: str
    subjects: tuple[Subject, ...]
    verdict: Verdict
    detail: str = ""
    ran_on: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How reports name the case: its name and its variant."""
        return f"{self.name} ({self.variant})" if self.variant else self.name


def run_case(case: Case, device: Device, numerics: Numerics) -> Outcome:
    """Build the model, compile it, run every example; the worst answer decides."""
    outcome = Outcome(name=case.name, variant=case.variant, subjects=case.subjects, verdict=Verdict.EXACT)
    worst, detail, results = Agreement.EXACT, "", []
    try:
        compilation = Compilation(build_model(case), device, numerics=numerics)
        compilation.finish()
        for example in case.examples:
            result = _executed(compilation, example)
            results.append(result)
            agreement, difference = _judged(example, result.outputs)
            if agreement > worst:
                worst, detail = agreement, difference
    except RuntimeFailure as error:
        if case.expect_failure and _is_by_the_rules(error):
            return outcome
        return dataclasses.replace(outcome, verdict=Verdict.REFUSED, detail=str(error))
    except Exception as error:
        # No answer that the rules know, so a defect of this program; the other cases are still worth running.
        detail = f"internal error: {type(error).__name__}: {error}"
        return dataclasses.replace(outcome, verdict=Verdict.FAILED, detail=detail)
    if case.expect_failure:
        worst, detail = Agreement.FAILED, "compiling and running must report an error; neither did"
    return dataclasses.replace(
        outcome,
        verdict=_VERDICTS[worst],
        detail=detail,
        ran_on=tuple(_place(subject, device, compilation.graph, results) for subject in case.subjects),
        fallbacks=tuple({f"{f.op}: {f.reason}": None for result in results for f in result.fallbacks}),
    )


def unreadable(file: str, detail: str) -> Outcome:
    """The outcome of a file that is no case: it fails, about no operation."""
    return Outcome(name=file, variant="", subjects=(), verdict=Verdict.FAILED, detail=detail)


def _is_by_the_rules(error: RuntimeFailure) -> bool:
    """True if the rules give this error; False if it is a limit of this program or of its surroundings."""
    if isinstance(error, UnsupportedModelError | MissingPackageError):
        return False
    return isinstance(error, UnexpectedNullError | BadDataError | BadStateError | OpFailedError)


def build_model(case: Case) -> Model:
    """The case's model, finished; a RuntimeFailure if it breaks a rule."""
    return _model(case.graph, case.by_reference)


def _model(graph: Graph, by_reference: frozenset[int]) -> Model:
    model = Model(graph.name)
    for number, operand in enumerate(graph.operands):
        model.add_operand(dataclasses.replace(operand.type, channels=None), operand.name)
        if operand.type.channels is not None:
            axis, scales = operand.type.channels.axis, operand.type.channels.scales
            model.set_operand_symm_per_channel_quant_params(number, axis, scales)
        if operand.body is not None:
            model.set_operand_value_from_model(number, _model(operand.body, frozenset()))
        elif operand.omitted:
            model.set_operand_value(number, None)
        elif operand.value is not None and number in by_reference:
            memory = Memory(operand.value.data)
            model.set_operand_value_from_memory(number, memory, 0, memory.size_bytes)
        elif operand.value is not None:
            model.set_operand_value(number, operand.value)
    for operation in graph.operations:
        model.add_operation(operation.code, operation.inputs, operation.outputs)
    model.identify_inputs_and_outputs(graph.inputs, graph.outputs)
    model.finish()
    return model


def _executed(compilation: Compilation, example: Example) -> DeviceResult:
    """One run, with an array for every output."""
    execution = Execution(compilation)
    for index, value in enumerate(example.inputs):
        execution.set_input(index, value)
    shapes = [None if value is None else value.shape for value in example.inputs]
    operands = compilation.specialised(shapes).graph.operands
    for index, number in enumerate(compilation.graph.outputs):
        type_ = operands[number].type
        execution.set_output(index, np.empty(type_.dimensions, type_.dtype))
    execution.compute()
    return execution.result


def _judged(example: Example, outputs: Sequence[Array]) -> tuple[Agreement, str]:
    """The worst agreement of an example's outputs, and the difference that makes it so."""
    worst, detail = Agreement.EXACT, ""
    for index, (output, expected) in enumerate(zip(outputs, example.outputs, strict=True)):
        if expected is None:
            continue
        agreement, difference = compare(output, expected, example.name)
        if agreement > worst:
            worst, detail = agreement, f"{example.name}: output {index}: {difference}"
    return worst, detail


def _place(subject: Subject, device: Device, graph: Graph, results: Sequence[DeviceResult]) -> str:
    """The device that ran the operations of a subject: "host" is the NPU's, "npu, host" both of them."""
    total = sum(operation.code.name == subject.operation for operation in graph.operations)
    places: dict[str, None] = {}
    for result in results:
        on_host = sum(fallback.op == subject.operation for fallback in result.fallbacks)
        if on_host < total:
            places[device.name] = None
        if on_host:
            places["host"] = None
    return ", ".join(places)
