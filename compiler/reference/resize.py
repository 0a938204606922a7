"""RESIZE_BILINEAR, in single precision as TensorFlow Lite's reference kernel computes it."""

import dataclasses
import functools

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from compiler.reference.registry import Array, Call, reference
from compiler.reference.windows import from_channels_last, to_channels_last


@dataclasses.dataclass(frozen=True, slots=True)
class _Axis:
    """For each row or column of the output: the two of the input it lies between.

    `distance` is how far from the first it lies, in steps of the input (float32).
    """

    before: Array
    after: Array
    distance: Array


@reference(OperationCode.RESIZE_BILINEAR)
def resize_bilinear(call: Call) -> list[Array]:
    """Interpolates between the four nearest pixels; output row o lies at o · in/out. Bytes came at level 29.

    Operand 1 is the width and operand 2 the height, whatever level 27's header says: sizes (INT32), or from
    level 29 on factors (FLOAT32). Raw bytes are interpolated and rounded to nearest, halves up.
    """
    call.expect_count(*((3,) if call.is_level_27 else (3, 4)))
    call.expect_rank(0, 4)
    is_float, channels_first = call.is_float(), call.flag(3)
    if not is_float:
        call.expect_level_29("RESIZE_BILINEAR of TENSOR_QUANT8_ASYMM")
    call.expect_kept_type()
    values = call.real(0) if is_float else call.quant8(0)
    inputs = to_channels_last(values, channels_first).astype(np.float32)
    rows = _axis(call, "height", inputs.shape[1], 2)
    columns = _axis(call, "width", inputs.shape[2], 1)
    output = _interpolated(inputs, rows, columns)
    if not is_float:
        output = (output + np.float32(0.5)).astype(np.uint8)
    return [from_channels_last(output, channels_first)]


def _axis(call: Call, what: str, size: int, position: int) -> _Axis:
    count = _output_size(call, size, position)
    if size < 1 or count < 1:
        raise call.error(f"{what} {size} cannot become {count}; both must be at least 1")
    place = np.arange(count, dtype=np.float32) * (np.float32(size) / np.float32(count))
    before = np.minimum(np.floor(place).astype(np.int64), size - 1)
    return _Axis(before, np.minimum(before + 1, size - 1), place - before.astype(np.float32))


def _output_size(call: Call, size: int, position: int) -> int:
    """The size at `position`, or the product with the factor there; input 1 tells which both are."""
    if call.is_level_27 or call.type(1).code is not OperandCode.FLOAT32:
        return call.integer(position)
    factor = call.number(position)
    if not 0 < factor < float("inf"):
        raise call.error(f"factor {factor} (input {position}) must be positive and finite")
    return int(np.float32(size) * np.float32(factor))


def _interpolated(inputs: Array, rows: _Axis, columns: _Axis) -> Array:
    """Sum of the four neighbours by their weights, added in the kernel's order; NHWC float32."""
    down = rows.distance[:, np.newaxis, np.newaxis]
    right = columns.distance[:, np.newaxis]
    up, left = np.float32(1) - down, np.float32(1) - right
    above, below = inputs[:, rows.before], inputs[:, rows.after]
    weighted: tuple[Array, ...] = (
        above[:, :, columns.before] * up * left,
        below[:, :, columns.before] * down * left,
        above[:, :, columns.after] * up * right,
        below[:, :, columns.after] * down * right,
    )
    return functools.reduce(np.add, weighted)
