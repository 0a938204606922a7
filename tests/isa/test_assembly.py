import re

import pytest
from hypothesis import given

from isa.assembly import disassemble, format_instruction, parse_instruction
from isa.dtypes import Region
from isa.errors import AssemblyError
from isa.instruction import REGISTRY, Instruction, UnitKind
from isa.instructions.control import Halt, Wait
from isa.instructions.dma import Load
from tests.support.instructions import instructions_of
from tests.support.programs import convolution_program

WAIT = Wait(unit_kind=UnitKind.MATRIX, unit_mask=1, semaphore=3, count=17)
CLASSES = sorted(REGISTRY.values(), key=lambda cls: cls.opcode)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_parse_inverts_format(cls: type[Instruction]) -> None:
    @given(instructions_of(cls))
    def check(made: Instruction) -> None:
        parsed = parse_instruction(format_instruction(made))
        assert parsed == made
        assert type(parsed) is cls

    check()


def test_enumerations_are_written_by_name() -> None:
    assert format_instruction(WAIT) == "Wait unit_kind=MATRIX unit_mask=1 semaphore=3 count=17"


def test_fields_at_their_default_are_left_out() -> None:
    load = Load(unit_mask=1, region=Region.CONSTANTS, dram_offset=8, sram_address=64, run_bytes=32, count1=2)
    text = "Load unit_mask=1 region=CONSTANTS dram_offset=8 sram_address=64 run_bytes=32 count1=2"
    assert format_instruction(load) == text


def test_comments_and_spaces_are_skipped() -> None:
    assert parse_instruction("  Halt   ; the end ") == Halt()


def test_integers_may_be_hexadecimal() -> None:
    assert parse_instruction("Wait unit_kind=MATRIX unit_mask=0b1 semaphore=3 count=0x11") == WAIT


def test_enumerations_may_be_numbers() -> None:
    parsed = parse_instruction("Wait unit_kind=1 unit_mask=1 semaphore=3 count=17")
    assert isinstance(parsed, Wait)
    assert parsed.unit_kind is UnitKind.MATRIX


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no instruction in ''"),
        ("; only a comment", "no instruction in '; only a comment'"),
        ("Wiat unit_mask=1", r"no instruction 'Wiat' (did you mean 'Wait'?); there are "),
        ("Halt now", "Halt: 'now' is not of the form field=value"),
        ("Signal unit=1", "Signal has no field 'unit' (did you mean 'unit_mask'?); it has unit_kind, "),
        ("Signal semaphore=1 semaphore=2", "Signal: field 'semaphore' is given twice"),
        ("Signal semaphore=1", "Signal: missing unit_kind, unit_mask"),
        ("Signal unit_kind=GPU", "Signal.unit_kind = 'GPU': allowed are DMA (0), MATRIX (1), VECTOR (2)"),
        ("Signal semaphore=many", "Signal.semaphore = 'many': allowed are 0 … 63"),
        (
            "Signal unit_kind=DMA unit_mask=1 semaphore=64",
            "Signal.semaphore = 64: allowed are 0 … 63",
        ),
    ],
)
def test_wrong_text_is_refused_with_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(AssemblyError, match=re.escape(message)):
        parse_instruction(text)


def test_disassembly_lists_every_instruction_with_its_offset_and_queue() -> None:
    program = convolution_program()
    lines = [line for line in disassemble(program).splitlines() if not line.startswith(";")]
    offset = 0
    for index, (line, made) in enumerate(zip(lines, program.instructions, strict=True)):
        number, at, queue, text = line.split(maxsplit=3)
        assert (int(number), int(at, 16), queue) == (index, offset, str(made.queue or "-"))
        assert parse_instruction(text) == made
        offset += made.size_bytes


def test_disassembly_names_a_layer_where_it_begins() -> None:
    lines = disassemble(convolution_program()).splitlines()
    assert [line for line in lines if line.startswith(";")] == ["; layer 0 CONV_2D first"]
