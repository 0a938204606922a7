"""ANeuralNetworksMemoryDesc: what a memory will be used for, so that a device can allocate it."""

import dataclasses
from collections.abc import Sequence

from compiler.graph import OperandType
from compiler.specialise import is_specified
from runtime.compilation import Compilation
from runtime.device_memory import DeviceMemory, Direction, MemoryRole
from runtime.errors import BadDataError, OpFailedError
from runtime.lifecycle import Phase, require


class MemoryDescription:
    """Roles and dimensions of a memory under description, then finished; see `create_memory`.

    All roles are of one operand type; dimensions that one leaves open, another may fill in.
    """

    def __init__(self) -> None:
        self._phase = Phase.DESCRIPTION_BUILDING
        self._roles: dict[MemoryRole, float] = {}
        self._type: OperandType | None = None
        self._dimensions: tuple[int, ...] = ()

    @property
    def phase(self) -> Phase:
        """Where the descriptor is in its life."""
        return self._phase

    def add_input_role(self, compilation: Compilation, index: int, frequency: float) -> None:
        """Say that the memory will be an input of a finished compilation, and how likely (0 to 1).

        Raises BadDataError for a compilation that is not finished, a wrong position or frequency, a role that
        is there already, or an operand that does not go with the others.
        """
        self._add_role("MemoryDescription.add_input_role", compilation, Direction.INPUT, index, frequency)

    def add_output_role(self, compilation: Compilation, index: int, frequency: float) -> None:
        """Say that the memory will be an output of a finished compilation; see `add_input_role`."""
        self._add_role("MemoryDescription.add_output_role", compilation, Direction.OUTPUT, index, frequency)

    def set_dimensions(self, dimensions: Sequence[int]) -> None:
        """Fill in dimensions that the roles leave open (0: still open; none: rank still open or a scalar).

        Raises BadDataError if they contradict what is known.
        """
        call = "MemoryDescription.set_dimensions"
        require(call, self._phase)
        if dimensions and self._type is not None and self._type.code.is_scalar:
            raise BadDataError(f"{call}: dimensions are {list(dimensions)}, must be none for a scalar")
        self._dimensions = _merged(call, self._dimensions, tuple(dimensions))

    def finish(self) -> None:
        """End the description; BadDataError if no role was added."""
        call = "MemoryDescription.finish"
        require(call, self._phase)
        if not self._roles:
            raise BadDataError(f"{call}: the descriptor has no role, must have at least 1")
        self._phase = Phase.DESCRIPTION_FINISHED

    def create_memory(self) -> DeviceMemory:
        """A new memory for the roles; OpFailedError if its size is not known."""
        call = "MemoryDescription.create_memory"
        require(call, self._phase)
        assert self._type is not None
        type_ = dataclasses.replace(self._type, dimensions=self._dimensions)
        if not is_specified(type_):
            raise OpFailedError(
                f"{call}: the dimensions are {list(self._dimensions)}; the devices allocate memory only if"
                " all are known"
            )
        return DeviceMemory(type_, frozenset(self._roles))

    def _add_role(
        self, call: str, compilation: Compilation, direction: Direction, index: int, frequency: float
    ) -> None:
        require(call, self._phase)
        if compilation.phase is not Phase.COMPILATION_FINISHED:
            raise BadDataError(f"{call}: the {compilation.phase}; it must be finished")
        graph = compilation.model.graph
        numbers = graph.inputs if direction is Direction.INPUT else graph.outputs
        if not 0 <= index < len(numbers):
            raise BadDataError(f"{call}: {direction} {index} does not exist, must be 0 to {len(numbers) - 1}")
        if not 0 < frequency <= 1:
            raise BadDataError(f"{call}: frequency is {frequency}, must be greater than 0 and at most 1")
        role = MemoryRole(compilation, direction, index)
        if role in self._roles:
            raise BadDataError(f"{call}: {direction} {index} of this compilation is a role already")
        type_ = graph.operands[numbers[index]].type
        self._check_type(call, type_)
        self._dimensions = _merged(call, self._dimensions, type_.dimensions)
        self._type = dataclasses.replace(type_, dimensions=())
        self._roles[role] = frequency

    def _check_type(self, call: str, type_: OperandType) -> None:
        if type_.code.is_scalar and self._dimensions:
            raise BadDataError(
                f"{call}: the operand is {type_.code.name}, but dimensions {list(self._dimensions)} were set"
            )
        if self._type is not None and dataclasses.replace(type_, dimensions=()) != self._type:
            raise BadDataError(
                f"{call}: the operand is {_described(type_)}, must be {_described(self._type)} as in the"
                " roles before"
            )


def _merged(call: str, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """Both dimensions in one, where 0 and no dimensions at all are open; BadDataError if they clash."""
    if not first or not second:
        return first or second
    if len(first) != len(second) or any(a and b and a != b for a, b in zip(first, second, strict=True)):
        raise BadDataError(f"{call}: dimensions {list(second)} contradict {list(first)}")
    return tuple(a or b for a, b in zip(first, second, strict=True))


def _described(type_: OperandType) -> str:
    scales = "" if type_.channels is None else f" and scales per channel {list(type_.channels.scales)}"
    return f"{type_.code.name} with scale {type_.scale:.9g}, zero point {type_.zero_point}{scales}"
