"""The inputs and outputs of an execution, set one by one, and what a run makes of them."""

import threading
from collections.abc import Callable, Sequence

from compiler.graph import Graph, OperandType
from compiler.specialise import InputShape, fits, is_specified
from runtime.arguments import Argument, BytesStore, Store
from runtime.compilation import Compilation
from runtime.device import Array
from runtime.device_memory import DeviceMemory, Direction, MemoryRole
from runtime.errors import BadDataError, BadStateError, OpFailedError, placed
from runtime.graph_builder import describe
from runtime.memory import Memory
from runtime.operand_rules import filled_type


class ExecutionSlots:
    """Inputs and outputs by position in the model's lists. `lock` guards the start of the run too."""

    def __init__(self, compilation: Compilation) -> None:
        self.lock = threading.Lock()
        self._compilation = compilation
        self._graph = compilation.model.graph
        self._arguments: dict[Direction, dict[int, Argument]] = {side: {} for side in Direction}

    def set(
        self, call: str, side: Direction, index: int, store: Store | None, type_: OperandType | None
    ) -> None:
        """Set a slot to a store of the caller's; see `Execution.set_input`."""
        self._fill(call, side, index, lambda declared: filled_type(declared, type_), store)

    def set_from_memory(
        self,
        call: str,
        side: Direction,
        index: int,
        memory: Memory,
        extent: tuple[int, int],
        type_: OperandType | None,
    ) -> None:
        """Set a slot to a range (offset, length) of a memory; see `Execution.set_input_from_memory`."""
        offset_bytes, length_bytes = extent
        if isinstance(memory, DeviceMemory):
            length_bytes = memory.size_bytes

        def fill(declared: OperandType) -> OperandType:
            filled = filled_type(declared, type_)
            if not isinstance(memory, DeviceMemory):
                memory.check_range(offset_bytes, length_bytes)
                return filled
            memory.check_role(MemoryRole(self._compilation, side, index), *extent)
            return filled_type(filled, memory.type)

        self._fill(call, side, index, fill, BytesStore(memory, offset_bytes, length_bytes))

    def _fill(
        self,
        call: str,
        side: Direction,
        index: int,
        fill: Callable[[OperandType], OperandType],
        store: Store | None,
    ) -> None:
        """The order of the checks decides which error wins."""
        self.check_position(call, side, index)
        declared = self._graph.operands[self._numbers(side)[index]].type
        with placed(f"{call}: {self.name(side, index)}"):
            type_ = declared if store is None else fill(declared)
            if store is not None and side is Direction.INPUT and not is_specified(type_):
                raise BadDataError(
                    f"the operand has dimensions {list(type_.dimensions)}; a type must fill in those that"
                    " the model leaves open"
                )
            if index in self._arguments[side]:
                raise BadStateError("it is set already, must be set once")
            if store is not None:
                store.check(type_)
        self._arguments[side][index] = Argument(type_, store)

    def check_all_set(self, call: str) -> None:
        """Refuse to start without an input or output (BadDataError)."""
        for side in Direction:
            for index in range(len(self._numbers(side))):
                if index not in self._arguments[side]:
                    raise BadDataError(
                        f"{call}: {self.name(side, index)} is not set; every input and output must be"
                    )

    def check_outputs_specified(self, call: str) -> None:
        """Refuse to start if the size of an output is not known (BadDataError)."""
        for index, argument in self._arguments[Direction.OUTPUT].items():
            if not is_specified(argument.type):
                raise BadDataError(
                    f"{call}: {self.name(Direction.OUTPUT, index)} has dimensions"
                    f" {list(argument.type.dimensions)}; all must be known"
                )

    def values(self) -> list[Array]:
        """Values of the inputs that are not left out, in order."""
        values = []
        for index, argument in sorted(self._arguments[Direction.INPUT].items()):
            if argument.store is not None:
                with placed(f"Execution.compute: {self.name(Direction.INPUT, index)}"):
                    values.append(argument.store.read(argument.type))
        return values

    def shapes(self) -> list[InputShape]:
        """Shapes of all inputs; those that a run without values does not need are the model's."""
        shapes: list[InputShape] = []
        for index, number in enumerate(self._graph.inputs):
            argument = self._arguments[Direction.INPUT].get(index)
            if argument is not None:
                shapes.append(None if argument.store is None else argument.type.dimensions)
                continue
            type_ = self._graph.operands[number].type
            if not is_specified(type_):
                raise BadDataError(
                    f"Execution.compute: {self.name(Direction.INPUT, index)} is not set; its dimensions"
                    f" {list(type_.dimensions)} are needed even for timing"
                )
            shapes.append(type_.dimensions)
        return shapes

    def check_room(self, graph: Graph) -> None:
        """Compare outputs' stores with the dimensions that the outputs have in this run."""
        for index, argument in self._arguments[Direction.OUTPUT].items():
            type_ = graph.operands[self._graph.outputs[index]].type
            if argument.store is None:
                continue
            with placed(f"Execution.compute: {self.name(Direction.OUTPUT, index)}"):
                argument.store.check_room(type_)
                if not fits(type_.dimensions, argument.type):
                    raise OpFailedError(
                        f"it is set with dimensions {list(argument.type.dimensions)}, has"
                        f" {list(type_.dimensions)}"
                    )

    def write(self, outputs: Sequence[Array]) -> None:
        """Put the outputs, in order, where they belong; `check_room` has passed."""
        for index, value in enumerate(outputs):
            store = self._arguments[Direction.OUTPUT][index].store
            if store is not None:
                with placed(f"Execution.compute: {self.name(Direction.OUTPUT, index)}"):
                    store.write(value)

    def fail(self) -> None:
        """Tell the outputs' stores that the run failed."""
        for argument in self._arguments[Direction.OUTPUT].values():
            if argument.store is not None:
                argument.store.fail()

    def check_position(self, call: str, side: Direction, index: int) -> None:
        """Refuse a position that does not exist (BadDataError)."""
        count = len(self._numbers(side))
        if not 0 <= index < count:
            raise BadDataError(f"{call}: {side} {index} does not exist, must be 0 to {count - 1}")

    def name(self, side: Direction, index: int) -> str:
        """How messages name a slot."""
        return f"{side} {index} ({describe(self._graph.operands, self._numbers(side)[index])})"

    def _numbers(self, side: Direction) -> tuple[int, ...]:
        return self._graph.inputs if side is Direction.INPUT else self._graph.outputs
