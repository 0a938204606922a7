import dataclasses
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.dtypes import DataType, Region
from isa.encoding import MAGIC, decode_program, encode_program, load_program
from isa.errors import ContainerError
from isa.instruction import Instruction
from isa.program import Program
from isa.target import Dataflow
from tests.support.instructions import instructions
from tests.support.programs import TARGET, convolution_program, convolve, make_program

PROGRAM = convolution_program()
DATA = encode_program(PROGRAM)


def test_decode_inverts_encode() -> None:
    assert decode_program(DATA) == PROGRAM


@given(st.lists(instructions(), max_size=4), st.binary(max_size=20))
def test_any_instructions_and_constants_survive(made: list[Instruction], constants: bytes) -> None:
    program = make_program(made, constants=constants)
    assert decode_program(encode_program(program)) == program


def test_the_target_survives() -> None:
    target = dataclasses.replace(
        TARGET, dataflow=Dataflow.OUTPUT_STATIONARY, data_types=(DataType.U8, DataType.S8), sram_bytes=1 << 31
    )
    program = dataclasses.replace(PROGRAM, target=target)
    assert decode_program(encode_program(program)).target == target


def test_order_of_the_regions_does_not_change_the_bytes() -> None:
    reordered = dict(reversed(PROGRAM.region_bytes.items()))
    assert encode_program(dataclasses.replace(PROGRAM, region_bytes=reordered)) == DATA


def test_order_of_the_notes_survives() -> None:
    notes = {"preference": "low_power", "numerics": "nnapi", "alpha": "1"}
    decoded = decode_program(encode_program(dataclasses.replace(PROGRAM, notes=notes)))
    assert list(decoded.notes.items()) == list(notes.items())


def test_region_keys_stay_regions() -> None:
    assert all(isinstance(region, Region) for region in decode_program(DATA).region_bytes)


def test_every_single_bit_flip_is_refused() -> None:
    accepted = []
    for bit in range(len(DATA) * 8):
        damaged = bytearray(DATA)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            decode_program(bytes(damaged))
        except ContainerError:
            continue
        accepted.append(bit)
    assert accepted == []


def test_every_truncation_is_refused_as_truncated() -> None:
    for length in range(len(DATA)):
        with pytest.raises(ContainerError, match=f"truncated: {length} bytes"):
            decode_program(DATA[:length])


def test_a_byte_too_many_is_refused() -> None:
    with pytest.raises(ContainerError, match=f"the program ends after {len(DATA)}"):
        decode_program(DATA + b"\0")


def test_other_files_are_refused() -> None:
    with pytest.raises(ContainerError, match="not a program"):
        decode_program(b"\x7fELF" + bytes(200))


def test_another_version_is_refused() -> None:
    data = bytearray(DATA)
    data[len(MAGIC)] = 9
    with pytest.raises(ContainerError, match="version 9: this tool reads version 1"):
        decode_program(bytes(data))


def test_a_flipped_content_bit_is_named_corruption() -> None:
    damaged = bytearray(DATA)
    damaged[-1] ^= 1
    with pytest.raises(ContainerError, match="checksum does not match"):
        decode_program(bytes(damaged))


def test_contents_that_are_no_program_are_refused_even_with_a_right_checksum() -> None:
    wrong = dataclasses.replace(PROGRAM, layer_of=("first",))  # type: ignore[arg-type]
    with pytest.raises(ContainerError, match=r"contents are not valid: Expected `int`, got `str`"):
        decode_program(encode_program(wrong))


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ContainerError):
        decode_program(data)


def test_load_reads_what_encode_made(tmp_path: Path) -> None:
    (tmp_path / "a.npu").write_bytes(DATA)
    assert load_program(tmp_path / "a.npu") == PROGRAM


def test_load_names_the_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ContainerError, match=r"missing\.npu: cannot be read: No such file or directory"):
        load_program(tmp_path / "missing.npu")


def test_load_names_the_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "short.npu").write_bytes(DATA[:50])
    with pytest.raises(ContainerError, match=r"short\.npu: truncated"):
        load_program(tmp_path / "short.npu")


def test_decoding_is_fast() -> None:
    """3,000 of the longest instructions in under 0.2 s; the best of three, machines being shared."""
    data = encode_program(make_program([convolve()] * 3000))
    assert min(_decoding_seconds(data) for _ in range(3)) < 0.2


def _decoding_seconds(data: bytes) -> float:
    begin = time.perf_counter()
    program: Program = decode_program(data)
    assert len(program.instructions) == 3000
    return time.perf_counter() - begin
