"""The executors as a whole."""

import numpy as np
import pytest

from isa.instruction import REGISTRY, Instruction, UnitKind
from isa.instructions.control import Halt, Signal, Wait
from isa.instructions.vector import Copy
from npu_sim.errors import MachineError
from npu_sim.functional.executor import Executor, NullExecutor
from npu_sim.functional.registry import MEANINGS, executes
from tests.support.functional_states import random_state


def test_every_instruction_has_exactly_one_meaning() -> None:
    assert set(MEANINGS) == set(REGISTRY.values())


@pytest.mark.parametrize(
    "instruction",
    [
        Wait(unit_kind=UnitKind.DMA, unit_mask=1, semaphore=0, count=1),
        Signal(unit_kind=UnitKind.DMA, unit_mask=1, semaphore=0),
        Halt(),
    ],
)
def test_control_instructions_change_no_byte(instruction: Instruction) -> None:
    state = random_state(0)
    before = state.sram.copy()
    Executor(state).execute(instruction, 0)
    assert np.array_equal(state.sram, before)


def test_an_unknown_instruction_is_an_error() -> None:
    with pytest.raises(MachineError, match="Instruction: no unit executes"):
        Executor(random_state(0)).execute(Instruction(), 0)


def test_a_second_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match="Copy already has a meaning"):
        executes(Copy)(lambda state, instruction, unit_index: None)


def test_the_null_executor_accepts_what_the_machine_could_not_do() -> None:
    NullExecutor().execute(Copy(unit_mask=1, count0=9, input_address=1 << 31, output_address=0), 0)
