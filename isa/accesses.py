"""Which bytes of which memory every instruction reads and writes: the one place that says so.

The verifier orders these accesses, the simulator counts their bytes. An instruction without an entry
here touches no memory.
"""

import functools
import math
import operator
from typing import NamedTuple

import numpy as np

from isa.dtypes import DataType, Region
from isa.instruction import Instruction
from isa.instructions.dma import Load, Store, Transfer
from isa.instructions.float_vector import Dequantize, FloatBinary, FloatPool, FloatRows, FloatUnary
from isa.instructions.gather import Gather, HashGather, HashHits, RowPick
from isa.instructions.matrix import Convolve
from isa.instructions.resize import ResizeBilinear
from isa.instructions.vector import (
    DepthwiseConvolve,
    Elementwise,
    Lookup,
    Pool,
    QuantizedBinary,
    RowWise,
)
from isa.instructions.window import Weighted, Window

BIAS_BYTES = 4
"""An int32 per output channel."""
CHANNEL_PARAMETER_BYTES = 8
"""An int32 multiplier and an int32 shift per output channel."""
FLOAT_BYTES = DataType.FP32.size_bytes
LOOKUP_TABLE_BYTES = 256
KEY_BYTES = 4
"""Row numbers, lookups and keys are int32."""


class Dimension(NamedTuple):
    """`repeats` times the same, `stride_bytes` apart."""

    repeats: int
    stride_bytes: int


_STRIDE = operator.attrgetter("stride_bytes")


class Access(NamedTuple):
    """One operand of an instruction: runs of contiguous bytes, repeated along up to four dimensions.

    `region` is a DRAM region, or None for SRAM. `dimensions` go from the innermost to the outermost; a
    stride of 0 names the same bytes again.
    """

    operand: str
    region: Region | None
    write: bool
    address: int
    run_bytes: int
    dimensions: tuple[Dimension, ...] = ()

    @property
    def total_bytes(self) -> int:
        """Bytes that move; bytes named several times count each time."""
        return self.run_bytes * math.prod(d.repeats for d in self.dimensions)

    @property
    def end(self) -> int:
        """Address behind the last byte."""
        return self.address + self.run_bytes + sum((d.repeats - 1) * d.stride_bytes for d in self.dimensions)

    @property
    def memory(self) -> str:
        """Name of the memory."""
        return "SRAM" if self.region is None else self.region.name

    def names_a_byte_twice(self) -> bool:
        """Whether two repetitions share a byte."""
        extent_bytes = self.run_bytes
        nested = True
        for repeats, stride_bytes in sorted(self.dimensions, key=_STRIDE):
            nested = nested and (repeats == 1 or stride_bytes >= extent_bytes)
            extent_bytes += (repeats - 1) * stride_bytes
        if nested or self.total_bytes > extent_bytes:
            return not nested
        offsets = np.arange(self.run_bytes)
        for repeats, stride_bytes in self.dimensions:
            offsets = np.add.outer(np.arange(repeats) * stride_bytes, offsets).reshape(-1)
        return np.unique(offsets).size < offsets.size

    def footprint(self) -> "Access":
        """Return the same set of bytes in the fewest dimensions.

        Strides of the result ascend; each is larger than the run. An empty set has a run of 0 bytes.
        """
        run_bytes = self.run_bytes
        dimensions: list[Dimension] = []
        for repeats, stride_bytes in sorted(self.dimensions, key=_STRIDE):
            if repeats == 0:
                return Access(self.operand, self.region, self.write, self.address, 0)
            if repeats == 1 or stride_bytes == 0:
                continue
            if not dimensions:
                if stride_bytes <= run_bytes:
                    run_bytes += (repeats - 1) * stride_bytes
                    continue
            elif stride_bytes == dimensions[-1].repeats * dimensions[-1].stride_bytes:
                inner = dimensions.pop()
                dimensions.append(Dimension(inner.repeats * repeats, inner.stride_bytes))
                continue
            dimensions.append(Dimension(repeats, stride_bytes))
        return Access(self.operand, self.region, self.write, self.address, run_bytes, tuple(dimensions))


@functools.singledispatch
def accesses(instruction: Instruction) -> tuple[Access, ...]:
    """List what an instruction reads and writes, the reads first.

    Reads count as done before the first write of the same instruction.
    """
    return ()


@accesses.register
def _load(instruction: Load) -> tuple[Access, ...]:
    return (
        _dram_side(instruction, "source", write=False),
        _sram_side(instruction, "destination", write=True),
    )


@accesses.register
def _store(instruction: Store) -> tuple[Access, ...]:
    return (
        _sram_side(instruction, "source", write=False),
        _dram_side(instruction, "destination", write=True),
    )


def _dram_side(t: Transfer, operand: str, *, write: bool) -> Access:
    dimensions = (
        Dimension(t.count1, t.dram_stride1),
        Dimension(t.count2, t.dram_stride2),
        Dimension(t.count3, t.dram_stride3),
    )
    return Access(operand, t.region, write, t.dram_offset, t.run_bytes, dimensions)


def _sram_side(t: Transfer, operand: str, *, write: bool) -> Access:
    dimensions = (
        Dimension(t.count1, t.sram_stride1),
        Dimension(t.count2, t.sram_stride2),
        Dimension(t.count3, t.sram_stride3),
    )
    return Access(operand, None, write, t.sram_address, t.run_bytes, dimensions)


@accesses.register
def _convolve(instruction: Convolve) -> tuple[Access, ...]:
    """`start` brings the bias, `finish` the requantisation table and the output."""
    i = instruction
    weights = Access(
        "weights",
        None,
        False,
        i.weight_address,
        i.input_channels * i.weight_type.size_bytes,
        (
            Dimension(i.taps, i.weight_tap_pitch),
            Dimension(i.output_channels, i.weight_channel_pitch),
        ),
    )
    found = [_image(i, i.input_type.size_bytes), weights]
    if i.start:
        found += _bias(i)
    if i.finish:
        found += (*_channel_table(i), _result(i, i.output_type.size_bytes))
    return tuple(found)


@accesses.register
def _depthwise(instruction: DepthwiseConvolve) -> tuple[Access, ...]:
    i = instruction
    weights = Access(
        "weights",
        None,
        False,
        i.weight_address,
        i.output_channels * i.weight_type.size_bytes,
        (Dimension(i.taps, i.weight_tap_pitch),),
    )
    image, result = _image(i, i.input_type.size_bytes), _result(i, i.output_type.size_bytes)
    return (image, weights, *_bias(i), *_channel_table(i), result)


@accesses.register
def _pool(instruction: Pool) -> tuple[Access, ...]:
    i = instruction
    return (_image(i, i.input_type.size_bytes), _result(i, i.output_type.size_bytes))


@accesses.register
def _float_pool(instruction: FloatPool) -> tuple[Access, ...]:
    return (_image(instruction, FLOAT_BYTES), _result(instruction, FLOAT_BYTES))


def _image(i: Window, element_bytes: int) -> Access:
    """All valid pixels, also those that no tap touches; padding is not read."""
    dimensions = (
        Dimension(i.input_width, i.input_pixel_pitch),
        Dimension(i.input_height, i.input_row_pitch),
        Dimension(i.batch, i.input_batch_pitch),
    )
    run_bytes = i.input_channels * element_bytes
    return Access("input", None, False, i.input_address, run_bytes, dimensions)


def _result(i: Window, element_bytes: int) -> Access:
    dimensions = (
        Dimension(i.output_width, i.output_pixel_pitch),
        Dimension(i.output_height, i.output_row_pitch),
        Dimension(i.batch, i.output_batch_pitch),
    )
    run_bytes = i.output_channels * element_bytes
    return Access("output", None, True, i.output_address, run_bytes, dimensions)


def _bias(i: Weighted) -> tuple[Access, ...]:
    if not i.has_bias:
        return ()
    return (Access("bias", None, False, i.bias_address, BIAS_BYTES * i.output_channels),)


def _channel_table(i: Weighted) -> tuple[Access, ...]:
    if not i.per_channel:
        return ()
    return (Access("table", None, False, i.table_address, CHANNEL_PARAMETER_BYTES * i.output_channels),)


@accesses.register
def _elementwise(instruction: Elementwise) -> tuple[Access, ...]:
    return (_elements(instruction, "input", write=False), _elements(instruction, "output", write=True))


@accesses.register
def _lookup(instruction: Lookup) -> tuple[Access, ...]:
    table = Access("table", None, False, instruction.table_address, LOOKUP_TABLE_BYTES)
    return (
        _elements(instruction, "input", write=False),
        table,
        _elements(instruction, "output", write=True),
    )


@accesses.register
def _quantized_binary(instruction: QuantizedBinary) -> tuple[Access, ...]:
    return (
        _elements(instruction, "input", write=False),
        _elements(instruction, "second", write=False),
        _elements(instruction, "output", write=True),
    )


@accesses.register
def _float_unary(instruction: FloatUnary) -> tuple[Access, ...]:
    return (
        _elements(instruction, "input", write=False, element_bytes=FLOAT_BYTES),
        _elements(instruction, "output", write=True, element_bytes=FLOAT_BYTES),
    )


@accesses.register
def _float_binary(instruction: FloatBinary) -> tuple[Access, ...]:
    return (
        _elements(instruction, "input", write=False, element_bytes=FLOAT_BYTES),
        _elements(instruction, "second", write=False, element_bytes=FLOAT_BYTES),
        _elements(instruction, "output", write=True, element_bytes=FLOAT_BYTES),
    )


@accesses.register
def _dequantize(instruction: Dequantize) -> tuple[Access, ...]:
    return (
        _elements(instruction, "input", write=False),
        _elements(instruction, "output", write=True, element_bytes=FLOAT_BYTES),
    )


def _elements(i: Elementwise, operand: str, *, write: bool, element_bytes: int = 1) -> Access:
    """Use the fields `operand`_address and `operand`_pitch0 to 3."""
    dimensions = tuple(
        Dimension(getattr(i, f"count{d}"), getattr(i, f"{operand}_pitch{d}")) for d in range(4)
    )
    return Access(operand, None, write, getattr(i, f"{operand}_address"), element_bytes, dimensions)


@accesses.register
def _byte_rows(instruction: RowWise) -> tuple[Access, ...]:
    return _rows(instruction, 1)


@accesses.register
def _float_rows(instruction: FloatRows) -> tuple[Access, ...]:
    return _rows(instruction, FLOAT_BYTES)


def _rows(i: RowWise, element_bytes: int) -> tuple[Access, ...]:
    run_bytes = i.depth * element_bytes
    return (
        Access("input", None, False, i.input_address, run_bytes, (Dimension(i.rows, i.input_row_pitch),)),
        Access("output", None, True, i.output_address, run_bytes, (Dimension(i.rows, i.output_row_pitch),)),
    )


@accesses.register
def _resize(instruction: ResizeBilinear) -> tuple[Access, ...]:
    i = instruction
    image = (Dimension(i.input_width, i.input_pixel_pitch), Dimension(i.input_height, i.input_row_pitch))
    result = (Dimension(i.output_width, i.output_pixel_pitch), Dimension(i.output_height, i.output_row_pitch))
    return (
        Access("input", None, False, i.input_address, i.channels, image),
        Access("output", None, True, i.output_address, i.channels, result),
    )


@accesses.register
def _gather(instruction: Gather) -> tuple[Access, ...]:
    i = instruction
    return (_integers("lookups", i.lookup_address, i.lookups), _table_rows(i), _picked_rows(i))


@accesses.register
def _hash_gather(instruction: HashGather) -> tuple[Access, ...]:
    i = instruction
    return (
        _integers("lookups", i.lookup_address, i.lookups),
        _integers("keys", i.key_address, i.keys),
        _table_rows(i),
        _picked_rows(i),
    )


@accesses.register
def _hash_hits(instruction: HashHits) -> tuple[Access, ...]:
    i = instruction
    return (
        _integers("lookups", i.lookup_address, i.lookups),
        _integers("keys", i.key_address, i.keys),
        Access("output", None, True, i.output_address, i.lookups),
    )


def _integers(operand: str, address: int, count: int) -> Access:
    return Access(operand, None, False, address, count * KEY_BYTES)


def _table_rows(i: RowPick) -> Access:
    """All rows: any of them may be picked."""
    rows = Dimension(i.value_rows, i.value_row_pitch)
    return Access("values", None, False, i.value_address, i.row_bytes, (rows,))


def _picked_rows(i: RowPick) -> Access:
    rows = Dimension(i.lookups, i.output_row_pitch)
    return Access("output", None, True, i.output_address, i.row_bytes, (rows,))
