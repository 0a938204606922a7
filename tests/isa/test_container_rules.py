"""Containers with a right checksum and wrong metadata: every field is changed once."""

import dataclasses
import math
from typing import Any

import pytest

from isa.container_rules import MAX_REGION_BYTES
from isa.dtypes import DataType, Region
from isa.encoding import decode_program, encode_program
from isa.errors import ContainerError
from isa.program import LayerInfo, Symbol
from isa.target import Target
from tests.support.programs import LAYER, OUTPUT_SYMBOL, TARGET, convolution_program

PROGRAM = convolution_program()
CODE_BYTES = PROGRAM.code_bytes


def refusal(**changes: Any) -> str:
    """Message for the program with other metadata, encoded anew so that the checksum is right."""
    data = encode_program(dataclasses.replace(PROGRAM, **changes))
    with pytest.raises(ContainerError) as caught:
        decode_program(data)
    return str(caught.value)


def with_symbol(**changes: Any) -> dict[str, Any]:
    return {"symbols": (dataclasses.replace(OUTPUT_SYMBOL, **changes),)}


def with_layer(**changes: Any) -> dict[str, Any]:
    return {"layers": (dataclasses.replace(LAYER, **changes),)}


def with_target(**changes: Any) -> dict[str, Any]:
    return {"target": dataclasses.replace(TARGET, **changes)}


def with_region(region: Region, size_bytes: int) -> dict[str, Any]:
    return {"region_bytes": {**PROGRAM.region_bytes, region: size_bytes}}


MUTATIONS = {
    "symbol name": (with_symbol(name=""), "symbols[0] '': name = '': allowed is a string that is not empty"),
    "symbol names": (
        {"symbols": (OUTPUT_SYMBOL, OUTPUT_SYMBOL)},
        "symbols[1].name = 'result': allowed is a name that no other symbol has",
    ),
    "symbol role": (with_symbol(role="weight"), "role = 'weight': allowed is one of input, output, tensor"),
    "symbol operand": (with_symbol(operand=-1), "operand = -1: allowed is an integer from 0 to 4194303"),
    "symbol operand, huge": (with_symbol(operand=1 << 40), "operand = 1099511627776: allowed is"),
    "symbol region": (with_symbol(region=Region.CODE), "region = 'CODE': allowed is a region with data"),
    "symbol offset": (
        with_symbol(offset_bytes=241),
        "symbols[0] 'result': offset_bytes = 241 with shape [1, 2, 2, 4] of uint8, 16 bytes: allowed are 256"
        " bytes of region OUTPUT",
    ),
    "symbol offset, negative": (with_symbol(offset_bytes=-1), "offset_bytes = -1 with shape"),
    "symbol shape": (with_symbol(shape=(1, 2, 2, 65)), "shape [1, 2, 2, 65] of uint8, 260 bytes"),
    "symbol shape, negative": (with_symbol(shape=(-1, 4)), "shape [-1, 4]: extent = -1: allowed is"),
    "symbol dtype": (with_symbol(dtype="object"), "dtype = 'object': allowed is one of bool, float16"),
    "symbol dtype, wider": (with_symbol(dtype="int32", offset_bytes=200), "of int32, 64 bytes: allowed"),
    "symbol scale": (with_symbol(scale=math.nan), "scale = nan: allowed is a finite number"),
    "symbol scale, negative": (with_symbol(scale=-0.5), "scale = -0.5: allowed is"),
    "symbol zero point": (with_symbol(zero_point=1 << 31), "zero_point = 2147483648: allowed is"),
    "layer index": (with_layer(index=1), "layers[0].index = 1: allowed is its position, 0"),
    "layer op": (with_layer(op=""), "layers[0].op = '': allowed is the name of an operation"),
    "layer macs": (with_layer(macs=-1), "layers[0].macs = -1: allowed is an integer from 0 to"),
    "layer macs, huge": (with_layer(macs=1 << 63), "layers[0].macs = 9223372036854775808: allowed is"),
    "layer peak": (with_layer(peak_cycles=-1), "layers[0].peak_cycles = -1: allowed is"),
    "layer mapped": (with_layer(mapped_cycles=-1), "layers[0].mapped_cycles = -1: allowed is"),
    "layer bytes": (with_layer(compulsory_bytes=-1), "layers[0].compulsory_bytes = -1: allowed is"),
    "layer unit": (with_layer(unit="host"), "layers[0].unit = 'host': allowed is one of dma, matrix, vector"),
    "layer missing": ({"layers": ()}, "layer_of[0] = 0: allowed is the index of one of 0 layers"),
    "layer_of": (
        {"layer_of": (*PROGRAM.layer_of[:-1], 1)},
        "layer_of[9] = 1: allowed is the index of one of 1 layers",
    ),
    "layer_of, negative": ({"layer_of": (-1, *PROGRAM.layer_of[1:])}, "layer_of[0] = -1: allowed is"),
    "layer_of, short": (
        {"layer_of": PROGRAM.layer_of[1:]},
        "layer_of has 9 entries: allowed is one for each of 10 instructions",
    ),
    "region negative": (with_region(Region.SCRATCH, -1), "region_bytes[SCRATCH] = -1: allowed is"),
    "region huge": (
        with_region(Region.SCRATCH, MAX_REGION_BYTES + 1),
        "region_bytes[SCRATCH] = 1099511627777: allowed is an integer from 0 to 1099511627776",
    ),
    "region of code": (
        with_region(Region.CODE, CODE_BYTES - 16),
        f"region_bytes[CODE] = {CODE_BYTES - 16}: allowed is the size of its content, {CODE_BYTES}, or more",
    ),
    "region of constants": (
        with_region(Region.CONSTANTS, 255),
        "region_bytes[CONSTANTS] = 255: allowed is the size of its content, 256, or more",
    ),
    "region missing": (
        {"region_bytes": {Region.CODE: CODE_BYTES, Region.CONSTANTS: 256}},
        "allowed are 0 bytes of region OUTPUT",
    ),
    "notes value": ({"notes": {"model": 3}}, "the contents are not valid: Expected `str`, got `int`"),
    "notes key": ({"notes": {3: "model"}}, "the contents are not valid: Expected `str`, got `int`"),
    "target units": (with_target(matrix_units=0), "target.matrix_units = 0: allowed is an integer from 1 to"),
    "target rows": (with_target(array_rows=-8), "target.array_rows = -8: allowed is"),
    "target columns": (with_target(array_cols=1 << 33), "target.array_cols = 8589934592: allowed is"),
    "target dataflow": (with_target(dataflow="rows"), "contents are not valid: Invalid enum value 'rows'"),
    "target accumulators": (with_target(accumulator_rows=0), "target.accumulator_rows = 0: allowed is"),
    "target vector": (with_target(vector_units=0), "target.vector_units = 0: allowed is"),
    "target channels": (with_target(dma_channels=0), "target.dma_channels = 0: allowed is"),
    "target sram": (with_target(sram_bytes=0), "target.sram_bytes = 0: allowed is"),
    "target alignment": (with_target(alignment_bytes=12), "target.alignment_bytes = 12: allowed is a power"),
    "target types": (with_target(data_types=()), "data_types = []: allowed is U8 and others, each once"),
    "target types, twice": (with_target(data_types=(DataType.U8,) * 2), "target.data_types = ['U8', 'U8']"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), MUTATIONS.values(), ids=MUTATIONS)
def test_wrong_metadata_is_refused_with_its_place_and_value(changes: dict[str, Any], message: str) -> None:
    assert message in refusal(**changes)


@pytest.mark.parametrize("kind", [Symbol, LayerInfo, Target])
def test_every_field_of_the_metadata_is_changed_above(kind: type[Any]) -> None:
    """Names are free texts; a layer's name may even be empty."""
    original = {Symbol: OUTPUT_SYMBOL, LayerInfo: LAYER, Target: TARGET}[kind]
    mutated = set()
    for changes, _ in MUTATIONS.values():
        for part in (changes.get("target"), *changes.get("symbols", ()), *changes.get("layers", ())):
            if isinstance(part, kind):
                mutated |= {
                    field.name
                    for field in dataclasses.fields(kind)
                    if getattr(part, field.name) != getattr(original, field.name)
                }
    free = {"name"} if kind is LayerInfo else set()
    assert mutated == {field.name for field in dataclasses.fields(kind)} - free
