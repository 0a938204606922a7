"""Whatever a program says, it passes or is refused with a message, and quickly."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.errors import VerificationError
from isa.instruction import Instruction
from isa.instructions.control import Halt
from isa.verifier import verify
from tests.support.instructions import plausible_instructions
from tests.support.programs import convolution_instructions, make_program


def passes(instructions: list[Instruction]) -> bool:
    try:
        verify(make_program(instructions))
    except VerificationError:
        return False
    return True


@settings(max_examples=60)
@given(st.lists(plausible_instructions(), max_size=3))
def test_random_instructions_pass_or_are_refused(instructions: list[Instruction]) -> None:
    passes([*instructions, Halt()])


@settings(max_examples=200)
@given(st.data())
def test_one_changed_field_passes_or_is_refused(data: st.DataObject) -> None:
    instructions = convolution_instructions()
    index = data.draw(st.integers(0, len(instructions) - 2), "instruction")
    field = data.draw(st.sampled_from(instructions[index].fields), "field")
    value = data.draw(st.integers(field.minimum - 1, field.maximum + 1), "value")
    instructions[index] = dataclasses.replace(
        instructions[index], **{field.name: field.members.get(value, value)}
    )
    passes(instructions)


@pytest.mark.parametrize("index", range(9))
def test_a_deleted_instruction_is_refused(index: int) -> None:
    instructions = convolution_instructions()
    del instructions[index]
    assert not passes(instructions) or index == 8, "only the store, whose bytes no symbol names, may go"
