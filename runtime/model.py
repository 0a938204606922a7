"""ANeuralNetworksModel: records operands and operations, and becomes a graph."""

import dataclasses
import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from compiler.graph import Graph, Operand, OperandType, Operation
from compiler.nnapi import MAX_IMMEDIATE_VALUE_BYTES, OperationCode
from runtime.errors import BadDataError, RuntimeFailure
from runtime.graph_builder import Role, build_graph, describe
from runtime.lifecycle import Phase, require
from runtime.operand_rules import OperandValue, checked_type, checked_value


class Model:
    """A model under construction, then finished and immutable.

    `tensor_indices` maps operands to the tensor numbers of the file the model came from, if any.
    """

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self.tensor_indices: dict[int, int] = {}
        self._phase = Phase.MODEL_BUILDING
        self._operands: list[Operand] = []
        self._roles: list[Role] = []
        self._operations: list[Operation] = []
        self._inputs: tuple[int, ...] = ()
        self._outputs: tuple[int, ...] = ()
        self._relaxed = False
        self._graph: Graph | None = None

    @property
    def phase(self) -> Phase:
        """Where the model is in its life."""
        return self._phase

    def add_operand(self, type_: OperandType, name: str = "") -> int:
        """Add an operand and return its number; BadDataError if its type breaks a rule."""
        require("Model.add_operand", self._phase)
        self._operands.append(Operand(checked_type(type_), name))
        self._roles.append(Role.TEMPORARY)
        return len(self._operands) - 1

    def set_operand_value(self, index: int, value: OperandValue | None) -> None:
        """Make an operand a constant; None marks an optional operand as omitted.

        Values of up to 128 bytes are copied now, longer ones in `finish`: until then the caller must not
        change them. Raises BadDataError for a wrong index, dtype or size.
        """
        require("Model.set_operand_value", self._phase)
        (number,) = self._checked_numbers("Model.set_operand_value", [index])
        if self._roles[number] in (Role.INPUT, Role.OUTPUT):
            raise BadDataError(
                f"Model.set_operand_value: {self._describe(number)} is a {self._roles[number]},"
                " must not have a value"
            )
        operand = self._operands[number]
        if value is None:
            self._operands[number] = dataclasses.replace(operand, value=None, omitted=True)
        else:
            try:
                array = checked_value(operand.type, value)
            except BadDataError as error:
                raise BadDataError(f"Model.set_operand_value: {self._describe(number)}: {error}") from error
            if array.nbytes <= MAX_IMMEDIATE_VALUE_BYTES:
                array = _frozen(array)
            self._operands[number] = dataclasses.replace(operand, value=array, omitted=False)
        self._roles[number] = Role.CONSTANT

    def add_operation(
        self, code: OperationCode, inputs: Sequence[int], outputs: Sequence[int], name: str = ""
    ) -> None:
        """Add an operation on operands added before; BadDataError for an unknown code or operand."""
        call = "Model.add_operation"
        require(call, self._phase)
        if code not in tuple(OperationCode):
            raise BadDataError(
                f"{call}: operation code is {code}, must be {min(OperationCode)} to {max(OperationCode)}"
            )
        operation = Operation(
            OperationCode(code),
            self._checked_numbers(call, inputs),
            self._checked_numbers(call, outputs),
            name,
        )
        self._operations.append(operation)

    def identify_inputs_and_outputs(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Say which operands the model takes and returns, in order.

        Raises BadDataError for a constant, an unknown operand, or one that is listed twice.
        """
        call = "Model.identify_inputs_and_outputs"
        require(call, self._phase)
        numbers = self._checked_numbers(call, inputs), self._checked_numbers(call, outputs)
        roles = list(self._roles)
        for listed, role in zip(numbers, (Role.INPUT, Role.OUTPUT), strict=True):
            for number in listed:
                if roles[number] is not Role.TEMPORARY:
                    raise BadDataError(
                        f"{call}: {self._describe(number)} is a {roles[number]} already, cannot be a {role}"
                    )
                roles[number] = role
        self._roles = roles
        self._inputs, self._outputs = numbers

    def relax_computation_float32_to_float16(self, allow: bool) -> None:
        """Permit float32 operations to be computed in float16 precision; quant8 is never relaxed."""
        require("Model.relax_computation_float32_to_float16", self._phase)
        self._relaxed = allow

    def finish(self) -> None:
        """End construction: check the structure and order the operations.

        Raises BadDataError if a rule is broken; the model is then invalid for good.
        """
        require("Model.finish", self._phase)
        self._phase = Phase.MODEL_INVALID
        operands = [
            operand if operand.value is None else dataclasses.replace(operand, value=_frozen(operand.value))
            for operand in self._operands
        ]
        try:
            self._graph = build_graph(
                operands, self._operations, self._inputs, self._outputs, self._roles, self.name
            )
        except RuntimeFailure as error:
            raise type(error)(f"Model.finish: {error}") from error
        self._phase = Phase.MODEL_FINISHED

    @property
    def graph(self) -> Graph:
        """The finished model as a graph; BadStateError before `finish`."""
        require("Model.graph", self._phase)
        assert self._graph is not None
        return self._graph

    def _checked_numbers(self, call: str, numbers: Sequence[int]) -> tuple[int, ...]:
        for number in numbers:
            if not 0 <= operator.index(number) < len(self._operands):
                raise BadDataError(
                    f"{call}: operand {number} does not exist, must be 0 to {len(self._operands) - 1}"
                )
        return tuple(operator.index(number) for number in numbers)

    def _describe(self, number: int) -> str:
        return describe(self._operands, number)


def _frozen(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """The array itself if it lies in immutable bytes, else a read-only copy."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    if isinstance(base.base, bytes):
        return array
    copy = array.copy()
    copy.flags.writeable = False
    return copy
