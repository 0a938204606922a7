"""ANeuralNetworksModel: records operands and operations, and becomes a graph."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from compiler.graph import ChannelQuantization, Graph, Operand, OperandType, Operation
from compiler.nnapi import MAX_IMMEDIATE_VALUE_BYTES, Numerics, OperandCode, OperationCode
from runtime import extensions
from runtime.argument_checks import checked_whole, checked_whole_numbers
from runtime.errors import BadDataError, BadStateError, placed
from runtime.graph_builder import Role, build_graph, describe
from runtime.lifecycle import Phase, require
from runtime.listed_device import DeviceSet, ListedDevice
from runtime.memory import Memory
from runtime.operand_rules import OperandValue, checked_channels, checked_type, checked_value
from runtime.signatures import check_signature

OPERATIONS = frozenset(OperationCode)


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
        self._referred: set[int] = set()
        self._relaxed = False
        self._graph: Graph | None = None

    @property
    def phase(self) -> Phase:
        """Where the model is in its life."""
        return self._phase

    @property
    def operation_count(self) -> int:
        """Operations added so far."""
        return len(self._operations)

    def require_building(self, call: str) -> None:
        """Refuse a call that comes after `finish` (BadStateError)."""
        require(call, self._phase)

    def add_operand(self, type_: OperandType, name: str = "") -> int:
        """Add an operand and return its number.

        Raises BadDataError if its type breaks a rule or is none, UnexpectedNullError for None.
        """
        require("Model.add_operand", self._phase)
        self._operands.append(Operand(checked_type(type_), name))
        self._roles.append(Role.TEMPORARY)
        return len(self._operands) - 1

    def set_operand_value(self, index: int, value: OperandValue | None) -> None:
        """Make an operand a constant; None marks an optional operand as omitted.

        Values of up to 128 bytes are copied now, longer ones in `finish`: until then the caller must not
        change them. Raises BadDataError for a wrong index, dtype or size.
        """
        number = self._without_value("Model.set_operand_value", index)
        operand = self._operands[number]
        if value is None:
            self._operands[number] = dataclasses.replace(operand, value=None, omitted=True)
        else:
            with placed(f"Model.set_operand_value: {self._describe(number)}"):
                array = checked_value(operand.type, value)
            if array.nbytes <= MAX_IMMEDIATE_VALUE_BYTES:
                array = _frozen(array)
            self._operands[number] = dataclasses.replace(operand, value=array, omitted=False)
        self._roles[number] = Role.CONSTANT
        self._referred.discard(number)

    def set_operand_value_from_memory(
        self, index: int, memory: Memory, offset_bytes: int, length_bytes: int
    ) -> None:
        """Make an operand a constant that lies in a memory; it is never copied, so it must not change.

        Raises BadDataError for a wrong index, range or size.
        """
        call = "Model.set_operand_value_from_memory"
        number = self._without_value(call, index)
        operand = self._operands[number]
        with placed(f"{call}: {self._describe(number)}"):
            array = memory.array(operand.type, offset_bytes, length_bytes)
        self._operands[number] = dataclasses.replace(operand, value=array, omitted=False)
        self._roles[number] = Role.CONSTANT
        self._referred.add(number)

    def set_operand_value_from_model(self, index: int, value: "Model") -> None:
        """Let a MODEL operand stand for another model, which is referred to, not copied.

        Raises BadStateError if that is not finished, BadDataError for a wrong index or type.
        """
        call = "Model.set_operand_value_from_model"
        require(call, self._phase)
        if value.phase is not Phase.MODEL_FINISHED:
            raise BadStateError(f"{call}: the value: the {value.phase}; it must be finished")
        number = self._without_value(call, index)
        operand = self._operands[number]
        if operand.type.code is not OperandCode.MODEL:
            raise BadDataError(f"{call}: {self._describe(number)} is {operand.type.code.name}, must be MODEL")
        self._operands[number] = dataclasses.replace(operand, body=value.graph)
        self._roles[number] = Role.CONSTANT

    def set_operand_symm_per_channel_quant_params(
        self, index: int, channel_dim: int, scales: Sequence[float]
    ) -> None:
        """Give a TENSOR_QUANT8_SYMM_PER_CHANNEL its scales; BadDataError if they do not fit the operand."""
        call = "Model.set_operand_symm_per_channel_quant_params"
        require(call, self._phase)
        (number,) = self._checked_numbers(call, [index])
        operand = self._operands[number]
        with placed(f"{call}: {self._describe(number)}"):
            type_ = checked_channels(operand.type, ChannelQuantization(channel_dim, tuple(scales)))
        self._operands[number] = dataclasses.replace(operand, type=type_)

    def get_extension_operand_type(self, extension: str, code: int) -> OperandCode:
        """The operand type for a code within an extension; BadDataError for an unknown one."""
        with placed("Model.get_extension_operand_type"):
            return extensions.operand_code(extension, code)

    def get_extension_operation_type(self, extension: str, code: int) -> OperationCode:
        """The operation for a code within an extension; BadDataError for an unknown extension."""
        with placed("Model.get_extension_operation_type"):
            return extensions.operation_code(extension, code)

    def set_operand_extension_data(self, index: int, data: bytes | None) -> None:
        """Give an operand of an extension's type what it carries beside the type; None takes it away.

        Raises BadDataError for a wrong index, another type, or no bytes.
        """
        call = "Model.set_operand_extension_data"
        require(call, self._phase)
        (number,) = self._checked_numbers(call, [index])
        operand = self._operands[number]
        if not operand.type.code.is_extension:
            raise BadDataError(
                f"{call}: {self._describe(number)} is {operand.type.code.name}, must be of an extension"
            )
        if data is not None and not data:
            raise BadDataError(f"{call}: {self._describe(number)} is given 0 bytes, must be None or some")
        self._operands[number] = dataclasses.replace(operand, extension_data=data or b"")

    def add_operation(
        self, code: OperationCode, inputs: Sequence[int], outputs: Sequence[int], name: str = ""
    ) -> None:
        """Add an operation on operands added before.

        Raises BadDataError for an unknown code or operand, UnexpectedNullError for None.
        """
        call = "Model.add_operation"
        require(call, self._phase)
        checked_whole(f"{call}: operation code", code)
        if not _is_operation(code):
            raise BadDataError(
                f"{call}: operation code is {code:d}, must be {min(OperationCode):d} to"
                f" {OperationCode.RANK:d}, {OperationCode.OEM_OPERATION:d}, or an extension's"
            )
        code = OperationCode(code)
        operation = Operation(
            code, self._checked_numbers(call, inputs), self._checked_numbers(call, outputs), name
        )
        with placed(call):
            check_signature(code, self._codes(operation.inputs), self._codes(operation.outputs))
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
        for number, operand in enumerate(self._operands):
            if operand.value is not None and number not in self._referred:
                # In place, so that the caller's array is not kept alive beside the copy.
                self._operands[number] = dataclasses.replace(operand, value=_frozen(operand.value))
        with placed("Model.finish"):
            self._check_described()
            self._graph = build_graph(
                self._operands, self._operations, self._inputs, self._outputs, self._roles, self.name
            )
        self._phase = Phase.MODEL_FINISHED

    def get_supported_operations_for_devices(self, devices: Sequence[ListedDevice]) -> tuple[bool, ...]:
        """For each operation, in the order they were added, whether one of the devices can run it.

        Raises BadStateError before `finish`, BadDataError for no device or one that is listed twice.
        """
        call = "Model.get_supported_operations_for_devices"
        with placed(call):
            chosen = DeviceSet(tuple(devices), is_explicit=True)
        require(call, self._phase)
        graph = self.graph
        answers = dict(zip(graph.operations, chosen.supported(graph, Numerics.NNAPI), strict=True))
        return tuple(answers[operation] for operation in self._operations)

    @property
    def graph(self) -> Graph:
        """The finished model as a graph; BadStateError before `finish`."""
        require("Model.graph", self._phase)
        assert self._graph is not None
        return self._graph

    def _check_described(self) -> None:
        """Refuse operands that lack a part of their description."""
        for number, operand in enumerate(self._operands):
            if operand.type.code is OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL and not operand.type.channels:
                raise BadDataError(f"{self._describe(number)} is {operand.type.code.name} without scales")
        for role, listed in ((Role.INPUT, self._inputs), (Role.OUTPUT, self._outputs)):
            for number, given in enumerate(self._roles):
                if given is role and number not in listed:
                    raise BadDataError(
                        f"{self._describe(number)} was made a {role}, but the last identification leaves it"
                        " out"
                    )

    def _without_value(self, call: str, index: int) -> int:
        """The number of an operand that may be given a value now."""
        require(call, self._phase)
        (number,) = self._checked_numbers(call, [index])
        if self._roles[number] in (Role.INPUT, Role.OUTPUT):
            raise BadDataError(
                f"{call}: {self._describe(number)} is a {self._roles[number]}, must not have a value"
            )
        return number

    def _checked_numbers(self, call: str, numbers: Sequence[int]) -> tuple[int, ...]:
        given = checked_whole_numbers(f"{call}: operand numbers", numbers)
        for number in given:
            if not 0 <= number < len(self._operands):
                raise BadDataError(
                    f"{call}: operand {number} does not exist, must be 0 to {len(self._operands) - 1}"
                )
        return given

    def _codes(self, numbers: Sequence[int]) -> list[OperandCode]:
        return [self._operands[number].type.code for number in numbers]

    def _describe(self, number: int) -> str:
        return describe(self._operands, number)


def _is_operation(code: int) -> bool:
    return code in OPERATIONS or (1 << 16 <= code < 1 << 31 and extensions.is_registered(OperationCode(code)))


def _frozen(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """The array itself if it lies in immutable bytes, else a read-only copy."""
    owner: object = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    if isinstance(owner, bytes):
        return array
    copy = array.copy()
    copy.flags.writeable = False
    return copy
