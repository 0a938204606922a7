"""The registry of meanings: one function per instruction class."""

from collections.abc import Callable
from typing import Any, TypeVar

from isa.instruction import Instruction
from npu_sim.functional.state import MachineState

MEANINGS: dict[type[Instruction], Callable[[MachineState, Any, int], None]] = {}
"""Instruction class -> function of the state, the instruction and the unit's index."""

_Instruction = TypeVar("_Instruction", bound=Instruction)
_Meaning = Callable[[MachineState, _Instruction, int], None]


def executes(cls: type[_Instruction]) -> Callable[[_Meaning[_Instruction]], _Meaning[_Instruction]]:
    """Register the decorated function as the meaning of an instruction class."""

    def register(meaning: _Meaning[_Instruction]) -> _Meaning[_Instruction]:
        if cls in MEANINGS:
            raise ValueError(f"{cls.__name__} already has a meaning")
        MEANINGS[cls] = meaning
        return meaning

    return register
