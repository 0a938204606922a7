"""Control instructions order others; they change no byte."""

from isa.instruction import Instruction
from isa.instructions.control import Halt, Signal, Wait
from npu_sim.functional.registry import executes
from npu_sim.functional.state import MachineState


def order_only(state: MachineState, instruction: Instruction, unit_index: int) -> None:
    """Leave the state as it is."""


for _cls in (Wait, Signal, Halt):
    executes(_cls)(order_only)
