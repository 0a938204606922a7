"""C's memory as Python sees it: addresses, structures, arrays and strings."""

import ctypes
import operator
from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex

from compiler.graph import OperandType
from compiler.nnapi import OperandCode
from runtime.errors import BadDataError

MAX_BYTES = 2**63 - 1
"""Python counts bytes in signed 64-bit numbers."""

_PyBUF_READ, _PyBUF_WRITE = 0x100, 0x200
_view = ctypes.pythonapi.PyMemoryView_FromMemory
_view.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)
_view.restype = ctypes.py_object

_strings: dict[str, Any] = {}


class OperandTypeStruct(ctypes.Structure):
    """ANeuralNetworksOperandType."""

    _fields_ = (
        ("type", ctypes.c_int32),
        ("dimensionCount", ctypes.c_uint32),
        ("dimensions", ctypes.c_void_p),
        ("scale", ctypes.c_float),
        ("zeroPoint", ctypes.c_int32),
    )


class ChannelQuantizationStruct(ctypes.Structure):
    """ANeuralNetworksSymmPerChannelQuantParams."""

    _fields_ = (
        ("channelDim", ctypes.c_uint32),
        ("scaleCount", ctypes.c_uint32),
        ("scales", ctypes.c_void_p),
    )


def address_of(value: object) -> int:
    """The address that a pointer argument means; NULL is 0.

    Addresses may be given as integers, None, ctypes objects (which stand for their own address unless they
    are pointers), results of `ctypes.byref`, or bytes, which must live for the call. Raises TypeError.
    """
    if value is None:
        return 0
    if isinstance(value, SupportsIndex):
        return operator.index(value) & (2**64 - 1)
    if isinstance(value, ctypes.c_void_p):
        return value.value or 0
    kind = type(value)
    # Pointers have `contents`, which NULL must not be asked for, and results of byref have `_obj`.
    if isinstance(value, bytes | ctypes.c_char_p) or hasattr(kind, "contents") or hasattr(kind, "_obj"):
        return ctypes.cast(value, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
    return ctypes.addressof(value)  # type: ignore[arg-type]


def view(address: int, length_bytes: int, *, writable: bool = False) -> memoryview:
    """A range of C's memory, in place; BadDataError for a length that no memory has."""
    if length_bytes > MAX_BYTES:
        raise BadDataError(f"length is {length_bytes} bytes, must be at most {MAX_BYTES}")
    return _view(address, length_bytes, _PyBUF_WRITE if writable else _PyBUF_READ)  # type: ignore[no-any-return]


def uint32_list(address: int, count: int) -> list[int]:
    """Elements of an array of uint32_t."""
    return view(address, 4 * count).cast("I").tolist()


def float_list(address: int, count: int) -> Sequence[float]:
    """Elements of an array of float."""
    return view(address, 4 * count).cast("f").tolist()


def addresses(address: int, count: int) -> Iterator[int]:
    """Elements of an array of pointers, each read when it is asked for: an early one may end the call."""
    for position in range(count):
        yield ctypes.c_uint64.from_address(address + 8 * position).value


def string(address: int) -> bytes:
    """A string that ends with a zero byte, without that."""
    return ctypes.string_at(address)


def operand_type(address: int) -> OperandType | None:
    """An operand type from its structure; None for NULL. BadDataError if it contradicts itself."""
    if address == 0:
        return None
    struct = OperandTypeStruct.from_address(address)
    if (struct.dimensionCount == 0) != (struct.dimensions is None):
        raise BadDataError(
            f"the type has {struct.dimensionCount} dimensions, but its pointer to them is"
            f" {'NULL' if struct.dimensions is None else 'not NULL'}"
        )
    dimensions = uint32_list(struct.dimensions or 0, struct.dimensionCount)
    return OperandType(operand_code(struct.type), tuple(dimensions), struct.scale, struct.zeroPoint)


def operand_code(value: int) -> OperandCode:
    """An operand code from its number; BadDataError if there is none."""
    try:
        return OperandCode(value)
    except ValueError:
        raise BadDataError(f"operand code is {value}, no such type exists") from None


def write(address: int, c_type: type[Any], value: object) -> None:
    """Set a variable of C's."""
    c_type.from_address(address).value = value


def write_all(address: int, c_type: type[Any], values: Sequence[object]) -> None:
    """Set the elements of an array of C's."""
    for position, value in enumerate(values):
        write(address + position * ctypes.sizeof(c_type), c_type, value)


def lasting_string(text: str) -> int:
    """Address of a string that lives as long as the process; the same one for the same text."""
    if text not in _strings:
        _strings[text] = ctypes.create_string_buffer(text.encode())
    return ctypes.addressof(_strings[text])
