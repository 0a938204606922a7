"""What the rules of NNAPI say of random calls, kept apart from the runtime: the life of each object."""

import dataclasses
import enum

from compiler.nnapi import ResultCode

OK, NULL, BAD_DATA, BAD_STATE = (
    ResultCode.NO_ERROR,
    ResultCode.UNEXPECTED_NULL,
    ResultCode.BAD_DATA,
    ResultCode.BAD_STATE,
)


class Life(enum.Enum):
    """Where an object is in its life."""

    OPEN = "may be changed"
    DONE = "finished, or completed"
    FAILED = "failed to finish, or to run"
    RUNNING = "started; nobody has waited for the end"


@dataclasses.dataclass
class KnownModel:
    """A model: is its graph there, and how many operands are there that nothing uses."""

    life: Life = Life.OPEN
    has_graph: bool = False
    unused: int = 0

    def finish(self) -> ResultCode:
        if self.life is not Life.OPEN:
            return BAD_STATE
        self.life = Life.DONE if self.has_graph and not self.unused else Life.FAILED
        return OK if self.life is Life.DONE else BAD_DATA


@dataclasses.dataclass
class KnownCompilation:
    """A compilation, and whether it is for one listed device."""

    is_single: bool
    life: Life = Life.OPEN

    def set(self, *, is_valid: bool) -> ResultCode:
        if self.life is not Life.OPEN:
            return BAD_STATE
        return OK if is_valid else BAD_DATA

    def finish(self) -> ResultCode:
        if self.life is not Life.OPEN:
            return BAD_STATE
        self.life = Life.DONE
        return OK


SLOTS = (("Input", 0), ("Input", 1), ("Output", 0))


@dataclasses.dataclass
class KnownExecution:
    """An execution of the model of two inputs and one output."""

    compilation: KnownCompilation
    handle_of_compilation: int
    life: Life = Life.OPEN
    slots: set[tuple[str, int]] = dataclasses.field(default_factory=set)

    def set_slot(self, side: str, index: int, *, has_right_length: bool) -> ResultCode:
        if self.life is not Life.OPEN:
            return BAD_STATE
        if (side, index) not in SLOTS:
            return BAD_DATA
        if (side, index) in self.slots:
            return BAD_STATE
        if not has_right_length:
            return BAD_DATA
        self.slots.add((side, index))
        return OK

    def set_single(self) -> ResultCode:
        if not self.compilation.is_single:
            return BAD_DATA
        return OK if self.life is Life.OPEN else BAD_STATE

    def start(self, then: Life) -> ResultCode:
        if self.life is not Life.OPEN:
            return BAD_STATE
        self.life = then if len(self.slots) == len(SLOTS) else Life.FAILED
        return OK if self.life is then else BAD_DATA

    def ask(self, *, is_valid: bool) -> tuple[ResultCode, ...]:
        """Codes of a question for a dimension; a run that nobody waited for may have ended or not."""
        answer = OK if is_valid else BAD_DATA
        if self.life is Life.RUNNING:
            return answer, BAD_STATE
        return (answer,) if self.life is Life.DONE else (BAD_STATE,)


@dataclasses.dataclass
class KnownMemory:
    """A memory of a file."""

    size: int


@dataclasses.dataclass
class KnownDescription:
    """A memory descriptor: the roles it has."""

    life: Life = Life.OPEN
    roles: set[tuple[int, str, int]] = dataclasses.field(default_factory=set)

    def add_role(
        self, compilation: KnownCompilation, role: tuple[int, str, int], *, is_frequency_valid: bool
    ) -> ResultCode:
        if self.life is not Life.OPEN:
            return BAD_STATE
        if compilation.life is not Life.DONE or role[1:] not in SLOTS or not is_frequency_valid:
            return BAD_DATA
        if role in self.roles:
            return BAD_DATA
        self.roles.add(role)
        return OK

    def finish(self) -> ResultCode:
        if self.life is not Life.OPEN:
            return BAD_STATE
        if not self.roles:
            return BAD_DATA
        self.life = Life.DONE
        return OK
