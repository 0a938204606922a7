"""Whether the parts of a program that a container describes fit each other.

A checksum shows that nobody damaged a file, not that its writer was right: numbers are checked here before
anybody allocates memory or takes an index by them. What instructions do is the verifier's business.
"""

import dataclasses
import math

import numpy as np

from isa.dtypes import DataType, Region
from isa.errors import ContainerError
from isa.instruction import UnitKind
from isa.program import LayerInfo, Program, Symbol
from isa.target import Target

MAX_REGION_BYTES = 1 << 40
"""DRAM offsets have 40 bits."""
MAX_TARGET_NUMBER = 1 << 32
"""SRAM addresses have 32 bits; nothing else of a target is larger."""
MAX_OPERAND = (1 << 22) - 1
MAX_COUNT = (1 << 63) - 1

ROLES = ("input", "output", "tensor")
UNITS = tuple(kind.name.lower() for kind in UnitKind)
ELEMENT_TYPES = tuple(sorted({code.numpy.name for code in DataType} | {"bool", "uint16", "uint32"}))
"""NumPy names of the element types that symbols may have."""


def check_contents(program: Program) -> None:
    """Raise ContainerError, naming the field, its value and what is allowed, unless all parts fit."""
    _check_target(program.target)
    _check_regions(program)
    _check_layers(program.layers)
    _check_layer_of(program)
    names: set[str] = set()
    for index, symbol in enumerate(program.symbols):
        _check_symbol(f"symbols[{index}]", symbol, program.region_bytes)
        if symbol.name in names:
            raise _wrong(f"symbols[{index}].name", symbol.name, "a name that no other symbol has")
        names.add(symbol.name)


def _wrong(what: str, value: object, allowed: str) -> ContainerError:
    return ContainerError(f"{what} = {value!r}: allowed is {allowed}")


def _check_range(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise _wrong(what, value, f"an integer from {low} to {high}")


def _check_target(target: Target) -> None:
    for field in dataclasses.fields(target):
        value = getattr(target, field.name)
        if isinstance(value, int):
            _check_range(f"target.{field.name}", value, 1, MAX_TARGET_NUMBER)
    if target.alignment_bytes & (target.alignment_bytes - 1):
        raise _wrong("target.alignment_bytes", target.alignment_bytes, "a power of two")
    if DataType.U8 not in target.data_types or len(set(target.data_types)) != len(target.data_types):
        names = [code.name for code in target.data_types]
        raise _wrong("target.data_types", names, "U8 and others, each once")


def _check_regions(program: Program) -> None:
    for region, size_bytes in program.region_bytes.items():
        _check_range(f"region_bytes[{region.name}]", size_bytes, 0, MAX_REGION_BYTES)
    contents = {Region.CODE: program.code_bytes, Region.CONSTANTS: len(program.constants)}
    for region, content_bytes in contents.items():
        size_bytes = program.region_bytes.get(region, 0)
        if size_bytes < content_bytes:
            what = f"region_bytes[{region.name}]"
            raise _wrong(what, size_bytes, f"the size of its content, {content_bytes}, or more")


def _check_layers(layers: tuple[LayerInfo, ...]) -> None:
    for index, layer in enumerate(layers):
        where = f"layers[{index}]"
        if layer.index != index:
            raise _wrong(f"{where}.index", layer.index, f"its position, {index}")
        for name in ("macs", "peak_cycles", "mapped_cycles", "compulsory_bytes"):
            _check_range(f"{where}.{name}", getattr(layer, name), 0, MAX_COUNT)
        if layer.unit not in UNITS:
            raise _wrong(f"{where}.unit", layer.unit, f"one of {', '.join(UNITS)}")
        if not layer.op:
            raise _wrong(f"{where}.op", layer.op, "the name of an operation")


def _check_layer_of(program: Program) -> None:
    instructions = len(program.instructions)
    if len(program.layer_of) != instructions:
        raise ContainerError(
            f"layer_of has {len(program.layer_of)} entries: allowed is one for each of {instructions}"
            " instructions"
        )
    for index, layer in enumerate(program.layer_of):
        if not 0 <= layer < len(program.layers):
            raise _wrong(f"layer_of[{index}]", layer, f"the index of one of {len(program.layers)} layers")


def _check_symbol(where: str, symbol: Symbol, region_bytes: dict[Region, int]) -> None:
    where = f"{where} {symbol.name!r}:"
    if not symbol.name:
        raise _wrong(f"{where} name", symbol.name, "a string that is not empty")
    if symbol.role not in ROLES:
        raise _wrong(f"{where} role", symbol.role, f"one of {', '.join(ROLES)}")
    _check_range(f"{where} operand", symbol.operand, 0, MAX_OPERAND)
    if symbol.dtype not in ELEMENT_TYPES:
        raise _wrong(f"{where} dtype", symbol.dtype, f"one of {', '.join(ELEMENT_TYPES)}")
    if not (math.isfinite(symbol.scale) and symbol.scale >= 0):
        raise _wrong(f"{where} scale", symbol.scale, "a finite number that is not negative")
    info = np.iinfo(np.int32)
    _check_range(f"{where} zero_point", symbol.zero_point, int(info.min), int(info.max))
    if symbol.region is Region.CODE:
        raise _wrong(f"{where} region", symbol.region.name, "a region with data")
    for extent in symbol.shape:
        _check_range(f"{where} shape {list(symbol.shape)}: extent", extent, 0, MAX_REGION_BYTES)
    size_bytes = math.prod(symbol.shape) * np.dtype(symbol.dtype).itemsize
    last = region_bytes.get(symbol.region, 0) - size_bytes
    if not 0 <= symbol.offset_bytes <= last:
        available = region_bytes.get(symbol.region, 0)
        raise ContainerError(
            f"{where} offset_bytes = {symbol.offset_bytes} with shape {list(symbol.shape)} of {symbol.dtype},"
            f" {size_bytes} bytes: allowed are {available} bytes of region {symbol.region.name}"
        )
