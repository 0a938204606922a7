import ctypes

import numpy as np
import pytest

from compiler.graph import OperandType
from compiler.nnapi import OperandCode
from runtime.errors import BadDataError
from runtime.nnapi import foreign_memory
from runtime.nnapi.foreign_memory import OperandTypeStruct, address_of


def test_everything_that_means_a_pointer_has_an_address() -> None:
    number = ctypes.c_uint32(7)
    address = ctypes.addressof(number)
    for value in (
        address,
        number,
        ctypes.byref(number),
        ctypes.pointer(number),
        ctypes.c_void_p(address),
        ctypes.cast(ctypes.pointer(number), ctypes.c_void_p),
    ):
        assert address_of(value) == address


def test_null_is_0() -> None:
    for value in (None, 0, ctypes.c_void_p(), ctypes.POINTER(ctypes.c_int)(), ctypes.c_char_p()):
        assert address_of(value) == 0


def test_strings_and_arrays_stand_for_their_first_element() -> None:
    text = b"name"
    assert ctypes.string_at(address_of(text)) == text
    assert ctypes.string_at(address_of(ctypes.c_char_p(text))) == text
    array = (ctypes.c_uint32 * 3)(1, 2, 3)
    assert foreign_memory.uint32_list(address_of(array), 3) == [1, 2, 3]


@pytest.mark.parametrize("value", ["text", 1.5, np.zeros(3), object()])
def test_anything_else_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError):
        address_of(value)


def test_a_view_is_in_place() -> None:
    buffer = ctypes.create_string_buffer(4)
    seen = foreign_memory.view(ctypes.addressof(buffer), 4, writable=True)
    seen[1] = 7
    assert buffer.raw == b"\0\7\0\0"
    assert foreign_memory.view(ctypes.addressof(buffer), 4).readonly


def test_a_length_that_no_memory_has_is_bad_data() -> None:
    with pytest.raises(BadDataError, match="length is 9223372036854775808 bytes"):
        foreign_memory.view(16, 2**63)


def test_an_operand_type_is_read_from_its_structure() -> None:
    dimensions = (ctypes.c_uint32 * 2)(2, 0)
    struct = OperandTypeStruct(5, 2, ctypes.addressof(dimensions), 0.5, 3)
    assert foreign_memory.operand_type(ctypes.addressof(struct)) == OperandType(
        OperandCode.TENSOR_QUANT8_ASYMM, (2, 0), 0.5, 3
    )
    assert foreign_memory.operand_type(0) is None


def test_structures_have_the_layout_of_c() -> None:
    assert ctypes.sizeof(OperandTypeStruct) == 24
    assert OperandTypeStruct.dimensions.offset == 8
    assert OperandTypeStruct.zeroPoint.offset == 20
    assert ctypes.sizeof(foreign_memory.ChannelQuantizationStruct) == 16


@pytest.mark.parametrize("code", [-1, 16, 9999, 10002])
def test_an_unknown_operand_code_is_bad_data(code: int) -> None:
    with pytest.raises(BadDataError, match=f"operand code is {code}"):
        foreign_memory.operand_code(code)


def test_lasting_strings_stay_where_they_are() -> None:
    first = foreign_memory.lasting_string("npu")
    assert first == foreign_memory.lasting_string("npu")
    assert ctypes.string_at(first) == b"npu"
