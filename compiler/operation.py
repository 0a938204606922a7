"""What the compiler knows of an operation, in one place per operation, and the registry.

A module in `compiler/ops` builds one `OperationSpec` per operation and registers it. Nothing outside
`compiler/ops` and `compiler/reference` names an operation.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.errors import GraphError
from compiler.graph import Graph, Operand, OperandType, Operation
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.stage import LoweringContext, Stage, View


@dataclasses.dataclass(frozen=True, slots=True)
class OperationView:
    """One operation of a graph, with its operands at hand. Rules are judged by `numerics`."""

    graph: Graph
    operation: Operation
    numerics: Numerics = Numerics.NNAPI

    @property
    def label(self) -> str:
        """How messages name the operation: its code, its place and its name."""
        index = self.graph.operations.index(self.operation)
        name = f" “{self.operation.name}”" if self.operation.name else ""
        return f"{self.operation.code.name} (operation {index}{name})"

    def input(self, position: int) -> Operand:
        """The operand at an input position."""
        return self.graph.operands[self.operation.inputs[position]]

    def output(self, position: int = 0) -> Operand:
        """The operand at an output position."""
        return self.graph.operands[self.operation.outputs[position]]

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


ImportedInput = TfliteTensor | ScalarInput | ConstantInput
"""One NNAPI input made from a TFLite operator: one of its tensors, or a new scalar or constant."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OperationSpec:
    """Everything about one operation but its reference meaning.

    `infer` checks all constraints (GraphError, UnsupportedError) and returns the output types.
    `lower` returns the stages that compute it on the NPU. `tflite` names the builtin operator,
    `from_tflite` maps one to NNAPI inputs in order (GraphError/UnsupportedError if it cannot).
    """

    code: OperationCode
    summary: str
    infer: Callable[[OperationView], tuple[OperandType, ...]]
    lower: Callable[[OperationView, LoweringContext], Sequence[Stage | View]]
    tflite: str
    from_tflite: Callable[[TfliteOperator], Sequence[ImportedInput]]


REGISTRY: dict[OperationCode, OperationSpec] = {}


def register(spec: OperationSpec) -> OperationSpec:
    """Add an operation to the registry; each code once."""
    if spec.code in REGISTRY:
        raise ValueError(f"{spec.code.name} is registered twice")
    REGISTRY[spec.code] = spec
    return spec
