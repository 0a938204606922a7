"""The machine state: what is where before and after a run."""

import dataclasses

import numpy as np
import pytest

from isa.dtypes import Region
from isa.instructions.control import Halt
from isa.program import Symbol
from npu_sim.errors import InputError, MachineError
from npu_sim.functional.state import MachineState
from tests.support.functional_states import small_program, small_target


def symbol(name: str, role: str, region: Region, offset: int, shape: tuple[int, ...], dtype: str) -> Symbol:
    return Symbol(
        name=name,
        role=role,
        operand=0,
        region=region,
        offset_bytes=offset,
        shape=shape,
        dtype=dtype,
        scale=1.0,
        zero_point=0,
    )


IMAGE = symbol("image", "input", Region.INPUT, 3, (2, 3), "uint8")
COUNTS = symbol("counts", "output", Region.OUTPUT, 1, (2,), "int32")


def state_with_symbols() -> MachineState:
    regions = {Region.INPUT: 16, Region.OUTPUT: 16}
    return MachineState(small_program(small_target(), symbols=(IMAGE, COUNTS), region_bytes=regions))


def test_constants_are_in_their_region() -> None:
    program = small_program(small_target(), constants=b"\x01\x02", region_bytes={Region.CONSTANTS: 4})
    assert MachineState(program).regions[Region.CONSTANTS].tolist() == [1, 2, 0, 0]


def test_code_is_in_its_region() -> None:
    program = small_program(small_target(), region_bytes={Region.CODE: 16})
    program = dataclasses.replace(program, instructions=(Halt(),))
    assert bytes(MachineState(program).regions[Region.CODE]) == Halt().encode()


def test_constants_that_do_not_fit_are_an_error() -> None:
    program = small_program(small_target(), constants=b"abc", region_bytes={Region.CONSTANTS: 2})
    with pytest.raises(MachineError, match="CONSTANTS has 2 bytes, its content has 3"):
        MachineState(program)


def test_a_bound_input_lies_at_its_symbol() -> None:
    state = state_with_symbols()
    state.bind_inputs({"image": np.arange(1, 7, dtype=np.uint8).reshape(2, 3)})
    assert state.regions[Region.INPUT].tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0]


def test_reading_a_symbol_gives_its_shape_and_type() -> None:
    state = state_with_symbols()
    state.regions[Region.OUTPUT][1:9] = np.array([-5, 70_000], "<i4").view(np.uint8)
    assert state.read(COUNTS).tolist() == [-5, 70_000]


def test_what_was_read_does_not_change_with_memory() -> None:
    state = state_with_symbols()
    tensor = state.read(COUNTS)
    state.regions[Region.OUTPUT][:] = 1
    assert tensor.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "'image' is missing"),
        ({"image": np.zeros((2, 3), np.uint8), "other": np.zeros(1)}, "'other': the program's inputs are"),
        ({"image": np.zeros((3, 2), np.uint8)}, r"uint8\[3, 2\], the program takes uint8\[2, 3\]"),
        ({"image": np.zeros((2, 3), np.int8)}, r"int8\[2, 3\], the program takes uint8"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(inputs: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        state_with_symbols().bind_inputs(inputs)


def test_a_symbol_outside_its_region_is_an_error() -> None:
    outside = dataclasses.replace(COUNTS, offset_bytes=9)
    with pytest.raises(MachineError, match=r"OUTPUT \(tensor 'counts'\) at address 9.*16 bytes"):
        state_with_symbols().read(outside)
