"""What the compiler knows of an operation, in one place per operation, and the registry.

A module in `compiler/ops` builds one `OperationSpec` per operation and registers it. Nothing outside
`compiler/ops` and `compiler/reference` names an operation.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.errors import GraphError
from compiler.graph import Graph, Operand, OperandType, Operation
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation_notes import OperationNotes
from compiler.stage import LoweringContext, Stage, View
from isa.dtypes import DataType
from isa.target import Target


@dataclasses.dataclass(frozen=True, slots=True)
class OperationView:
    """One operation of a graph, with its operands at hand. Rules are judged by `numerics`."""

    graph: Graph
    operation: Operation
    numerics: Numerics = Numerics.NNAPI

    @property
    def label(self) -> str:
        """How messages name the operation: its code, its place and its name."""
        return self.graph.label(self.graph.operations.index(self.operation))

    def input(self, position: int) -> Operand:
        """The operand at an input position."""
        return self.graph.operands[self.operation.inputs[position]]

    def output(self, position: int = 0) -> Operand:
        """The operand at an output position."""
        return self.graph.operands[self.operation.outputs[position]]

    def tensors(self) -> Iterator[tuple[str, OperandType]]:
        """Place (“input 0”) and type of every tensor operand that is not omitted, inputs first."""
        sides = (("input", self.operation.inputs), ("output", self.operation.outputs))
        for side, numbers in sides:
            for position, number in enumerate(numbers):
                operand = self.graph.operands[number]
                if not (operand.omitted or operand.type.code.is_scalar):
                    yield f"{side} {position}", operand.type

    def is_model_input(self, position: int) -> bool:
        """True if the caller gives the operand at an input position, or leaves it out, at execution."""
        return self.operation.inputs[position] in self.graph.inputs

    def constant(self, position: int) -> npt.NDArray[np.generic]:
        """Value of a constant input; GraphError if it is not constant."""
        value = self.input(position).value
        if value is None:
            raise self.error(f"input {position} must be a constant")
        return value

    def scalar(self, position: int) -> Any:
        """Value of a constant scalar input as a Python number."""
        return self.constant(position).item()

    def error(self, message: str, code: ResultCode = ResultCode.BAD_DATA) -> GraphError:
        """A GraphError whose message names this operation."""
        return GraphError(f"{self.label}: {message}", code)


@dataclasses.dataclass(frozen=True, slots=True)
class TfliteTensor:
    """A tensor of a .tflite file as an operation's importer sees it."""

    index: int
    name: str
    type: OperandType
    value: npt.NDArray[np.generic] | None


@dataclasses.dataclass(frozen=True, slots=True)
class TfliteOperator:
    """An operator of a .tflite file: builtin name, tensors (None: omitted) and options.

    `options` holds the builtin options by their schema names in snake case (`stride_w`,
    `fused_activation_function` as its enum name, …).
    """

    name: str
    inputs: tuple[TfliteTensor | None, ...]
    outputs: tuple[TfliteTensor, ...]
    options: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class ScalarInput:
    """A scalar operand that an importer adds to an operation."""

    code: OperandCode
    value: float


@dataclasses.dataclass(frozen=True, slots=True)
class ConstantInput:
    """A constant tensor operand that an importer adds to an operation."""

    type: OperandType
    value: npt.NDArray[np.generic]


@dataclasses.dataclass(frozen=True, slots=True)
class OmittedInput:
    """An optional operand that an importer leaves out; `type` says which kind of operand it would be."""

    type: OperandType


ImportedInput = TfliteTensor | ScalarInput | ConstantInput | OmittedInput
"""One NNAPI input made from a TFLite operator: one of its tensors, or something new."""


@dataclasses.dataclass(frozen=True, slots=True)
class StateOutput:
    """The next value of a tensor that keeps its value between inferences: a new output of the model."""

    state: TfliteTensor


@dataclasses.dataclass(frozen=True, slots=True)
class ExtraOutput:
    """An output that NNAPI's operation has and TFLite's operator has not: a new output of the model."""

    name: str
    type: OperandType


ImportedOutput = TfliteTensor | StateOutput | ExtraOutput
"""One NNAPI output made from a TFLite operator."""


def operator_outputs(operator: TfliteOperator) -> Sequence[ImportedOutput]:
    """The operator's own outputs, as they are."""
    return operator.outputs


NpuRefusal = Callable[[OperationView, Target], str | None]
"""Why a legal operation cannot run on a target's NPU; None if it can."""


def quant8_only(view: OperationView, target: Target) -> str | None:
    """Refuse tensors that are not quant8; int32 ones are biases, shapes and indices."""
    for place, type_ in view.tensors():
        if type_.code not in (OperandCode.TENSOR_QUANT8_ASYMM, OperandCode.TENSOR_INT32):
            return f"{place} is {type_.code.name}; the NPU takes TENSOR_QUANT8_ASYMM here"
    return None


def quant8_or_float(view: OperationView, target: Target) -> str | None:
    """Refuse float32 tensors on a target without float lanes; quant8 and int32 ones run on all."""
    if DataType.FP32 in target.data_types:
        return None
    for place, type_ in view.tensors():
        if type_.code is OperandCode.TENSOR_FLOAT32:
            return f"{place} is TENSOR_FLOAT32; the NPU has no float lanes"
    return None


def any_type(view: OperationView, target: Target) -> str | None:
    """Refuse nothing: the NPU moves bytes of every type."""
    return None


def not_on_npu(reason: str) -> NpuRefusal:
    """The refusal of an operation that never runs on an NPU."""

    def refusal(view: OperationView, target: Target) -> str | None:
        return reason

    return refusal


def no_macs(view: OperationView) -> int:
    """Count the multiply-accumulates of an operation that has none."""
    return 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OperationSpec:
    """Everything about one operation but its reference meaning.

    `summary` and `notes` are its documentation; `python -m compiler` writes them to OPERATIONS.md.
    `infer` judges NNAPI's rules for every operand type the API lists, wherever the operation runs
    (GraphError, UnsupportedError), and returns the types of all outputs. `npu_refusal` says why a legal
    operation cannot run on the NPU; one that it does not refuse, `lower` turns into stages (None: the
    refusal refuses all). `tflite` names the builtin operator, `from_tflite` maps one to NNAPI inputs in
    order (GraphError, UnsupportedError), `tflite_outputs` to NNAPI outputs. `macs` counts the
    multiply-accumulates of an operation, from its shapes: they decide the host's time, and where it runs.
    """

    code: OperationCode
    summary: str
    notes: OperationNotes
    infer: Callable[[OperationView], tuple[OperandType, ...]]
    npu_refusal: NpuRefusal = quant8_only
    lower: Callable[[OperationView, LoweringContext], Sequence[Stage | View]] | None
    tflite: str | None = None
    from_tflite: Callable[[TfliteOperator], Sequence[ImportedInput]] | None = None
    tflite_outputs: Callable[[TfliteOperator], Sequence[ImportedOutput]] = operator_outputs
    macs: Callable[[OperationView], int] = no_macs


REGISTRY: dict[OperationCode, OperationSpec] = {}


def register(spec: OperationSpec) -> OperationSpec:
    """Add an operation to the registry; each code once."""
    if spec.code in REGISTRY:
        raise ValueError(f"{spec.code.name} is registered twice")
    REGISTRY[spec.code] = spec
    return spec
