import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.dtypes import Region
from isa.errors import DecodeError, FieldRangeError
from isa.instruction import REGISTRY, Instruction, Queue, UnitKind, decode, instruction
from isa.instructions.control import Halt, Signal, Wait
from isa.instructions.dma import Load
from tests.support.instructions import instructions, instructions_of

WAIT = Wait(unit_kind=UnitKind.MATRIX, unit_mask=2, semaphore=3, count=17)
CLASSES = sorted(REGISTRY.values(), key=lambda cls: cls.opcode)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_decode_inverts_encode(cls: type[Instruction]) -> None:
    @given(instructions_of(cls))
    def check(made: Instruction) -> None:
        decoded = decode(made.encode())
        assert decoded == made
        assert type(decoded) is cls

    check()


@given(instructions())
def test_encoded_length_is_the_declared_one(made: Instruction) -> None:
    assert len(made.encode()) == made.size_bytes


@given(instructions(), st.binary(max_size=40))
def test_decode_reads_at_an_offset(made: Instruction, before: bytes) -> None:
    assert decode(before + made.encode() + b"\xff", len(before)) == made


@given(st.binary(min_size=1, max_size=130))
def test_bytes_decode_to_what_encodes_to_them_or_are_refused(data: bytes) -> None:
    try:
        decoded = decode(data)
    except DecodeError:
        return
    assert decoded.encode() == data[: decoded.size_bytes]


def test_every_length_is_a_whole_number_of_words() -> None:
    assert [cls for cls in CLASSES if cls.size_bytes % 16] == []


def test_an_opcode_cannot_be_declared_twice() -> None:
    with pytest.raises(ValueError, match="opcode 3 of Second is Halt's"):

        @instruction(opcode=Halt.opcode, kind=None)
        class Second(Instruction):
            pass


def test_an_opcode_must_fit_its_bits() -> None:
    with pytest.raises(ValueError, match="opcode 256 of Large does not fit 8 bits"):

        @instruction(opcode=256, kind=None)
        class Large(Instruction):
            pass


def test_queue_is_the_unit_in_the_mask() -> None:
    assert WAIT.queue == Queue(UnitKind.MATRIX, 1)


def test_queue_prints_as_kind_and_number() -> None:
    assert str(WAIT.queue) == "matrix1"


def test_halt_has_no_queue() -> None:
    assert Halt().queue is None


def test_transfer_moves_the_product_of_its_counts() -> None:
    load = Load(
        unit_mask=1,
        region=Region.INPUT,
        dram_offset=0,
        sram_address=0,
        run_bytes=7,
        count1=3,
        count2=5,
        count3=2,
    )
    assert load.total_bytes == 210


def test_value_too_large_for_its_field_is_refused() -> None:
    with pytest.raises(FieldRangeError, match=r"Wait\.semaphore = 64: allowed are 0 … 63"):
        dataclasses.replace(WAIT, semaphore=64).encode()


def test_negative_value_of_an_unsigned_field_is_refused() -> None:
    with pytest.raises(FieldRangeError, match=r"Wait\.count = -1: allowed are 0 … 4294967295"):
        dataclasses.replace(WAIT, count=-1).encode()


def test_value_outside_its_enumeration_is_refused() -> None:
    with pytest.raises(FieldRangeError, match=r"Wait\.unit_kind = 3: allowed are DMA \(0\), MATRIX \(1\)"):
        dataclasses.replace(WAIT, unit_kind=3).encode()  # type: ignore[arg-type]


def test_unknown_opcode_is_refused() -> None:
    with pytest.raises(DecodeError, match="offset 0: unknown opcode 255"):
        decode(bytes([255] * 16))


def test_truncated_instruction_is_refused() -> None:
    with pytest.raises(DecodeError, match="Wait has 16 bytes, only 15 are left"):
        decode(WAIT.encode()[:-1])


def test_code_that_ends_is_refused() -> None:
    with pytest.raises(DecodeError, match="offset 16: the code ends here"):
        decode(WAIT.encode(), 16)


def test_bits_behind_the_last_field_are_refused() -> None:
    data = bytearray(WAIT.encode())
    data[-1] = 0x80
    with pytest.raises(DecodeError, match="Wait has bits set behind its last field"):
        decode(bytes(data))


def test_code_outside_an_enumeration_is_refused() -> None:
    data = bytearray(Signal(unit_kind=UnitKind.DMA, unit_mask=1, semaphore=0).encode())
    data[1] |= 0x0F
    with pytest.raises(DecodeError, match=r"Signal\.unit_kind = 15: allowed are DMA \(0\)"):
        decode(bytes(data))
