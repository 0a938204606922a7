"""Executors: apply an instruction's meaning to the machine state, or do nothing.

A unit calls its executor when it retires an instruction. A timing-only run is the same run with
`NullExecutor`.
"""

from typing import Protocol

from isa.instruction import Instruction
from npu_sim.errors import MachineError
from npu_sim.functional import (  # noqa: F401  (fills the registry)
    control,
    dma,
    float_vector,
    gather,
    matrix,
    resize,
    vector,
)
from npu_sim.functional.registry import MEANINGS
from npu_sim.functional.state import MachineState


class InstructionExecutor(Protocol):
    """What a unit needs: something that makes an instruction happen."""

    def execute(self, instruction: Instruction, unit_index: int) -> None:
        """Apply the instruction, executed by the `unit_index`-th unit of its kind."""
        ...


class Executor:
    """Executes instructions on the bytes of a machine state."""

    def __init__(self, state: MachineState) -> None:
        self.state = state

    def execute(self, instruction: Instruction, unit_index: int) -> None:
        """Apply the instruction's meaning at once.

        Raises MachineError, naming the instruction, for an access outside a memory, an encoding that
        this machine does not execute, or a row number or key that it does not take; output bytes are
        then unchanged.
        """
        cls = type(instruction)
        meaning = MEANINGS.get(cls)
        if meaning is None:
            raise MachineError(f"{cls.__name__}: no unit executes this instruction")
        try:
            meaning(self.state, instruction, unit_index)
        except (MachineError, ValueError) as error:
            raise MachineError(f"{cls.__name__}: {error}") from error


class NullExecutor:
    """Touches no byte."""

    def execute(self, instruction: Instruction, unit_index: int) -> None:
        """Do nothing."""
