"""The vector unit's instructions in single precision.

NumPy's float32 sums, products, quotients and roots are IEEE 754's. Other functions are computed in double
precision and rounded once, so that results do not depend on the host's single-precision library.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from isa.dtypes import DataType
from isa.float_bits import float32_value
from isa.instructions.float_vector import (
    BinaryFunction,
    Dequantize,
    FloatBinary,
    FloatPool,
    FloatPoolMode,
    FloatRows,
    FloatUnary,
    RowFunction,
    UnaryFunction,
)
from npu_sim.errors import MachineError
from npu_sim.functional.registry import executes
from npu_sim.functional.state import MachineState
from npu_sim.functional.window import (
    check_extents,
    input_image,
    output_image,
    padded_image,
    reduce_windows,
    valid_taps,
)

Floats = npt.NDArray[np.float32]

_FLOAT = DataType.FP32.numpy
_LOWEST = float(np.finfo(np.float32).min)
_GROUP_ELEMENTS = 1 << 16
"""Row elements in work at a time: their double-precision temporaries stay in a second-level cache."""


def _rounded(function: Callable[[npt.NDArray[np.float64]], Any], values: Floats) -> Floats:
    """A function of doubles, rounded once."""
    rounded: Floats = np.asarray(function(values.astype(np.float64))).astype(np.float32)
    return rounded


def _root(values: Floats) -> Floats:
    root: Floats = np.sqrt(values)
    return root


def _quotient(values: Floats, divisor: Floats) -> Floats:
    quotient: Floats = np.divide(values, divisor)
    return quotient


def _logistic(values: Floats) -> Floats:
    return _rounded(lambda x: 1 / (1 + np.exp(-x)), values)


_BINARY: dict[BinaryFunction, Callable[[Floats, Floats], Floats]] = {
    BinaryFunction.ADD: np.add,
    BinaryFunction.MULTIPLY: np.multiply,
}
_UNARY: dict[UnaryFunction, Callable[[Floats], Floats]] = {
    UnaryFunction.CLAMP: np.copy,
    UnaryFunction.FLOOR: np.floor,
    UnaryFunction.LOGISTIC: _logistic,
    UnaryFunction.TANH: lambda x: _rounded(np.tanh, x),
}


def _elements(state: MachineState, i: Any, operand: str, dtype: np.dtype[Any] = _FLOAT) -> npt.NDArray[Any]:
    """Look at an operand of an elementwise instruction, without a copy."""
    shape = (i.count3, i.count2, i.count1, i.count0)
    pitches = [getattr(i, f"{operand}_pitch{dimension}") for dimension in (3, 2, 1, 0)]
    return state.sram_view(getattr(i, f"{operand}_address"), shape, pitches, dtype)


def _clamped(i: FloatBinary | FloatUnary | FloatPool, values: Floats) -> Floats:
    """Limit values to the instruction's clamp; NaN stays NaN. MachineError unless it is a range."""
    smallest, largest = float32_value(i.clamp_min), float32_value(i.clamp_max)
    if not smallest <= largest:
        raise MachineError(f"clamp {smallest:g} … {largest:g}: must be a range")
    limited: Floats = np.clip(values, np.float32(smallest), np.float32(largest))
    return limited


@executes(FloatBinary)
def float_binary(state: MachineState, i: FloatBinary, unit_index: int) -> None:
    """Combine two operands; overlapping ones behave as if all were read first."""
    first, second = _elements(state, i, "input"), _elements(state, i, "second")
    output = _elements(state, i, "output")
    with np.errstate(all="ignore"):
        output[...] = _clamped(i, _BINARY[i.function](first, second))


@executes(FloatUnary)
def float_unary(state: MachineState, i: FloatUnary, unit_index: int) -> None:
    """Apply a function to each element."""
    values, output = _elements(state, i, "input"), _elements(state, i, "output")
    with np.errstate(all="ignore"):
        output[...] = _clamped(i, _UNARY[i.function](values))


@executes(Dequantize)
def dequantize(state: MachineState, i: Dequantize, unit_index: int) -> None:
    """Scale the differences to the zero point; these are exact in single precision."""
    codes, scale = _elements(state, i, "input", DataType.U8.numpy), float32_value(i.scale)
    output = _elements(state, i, "output")
    with np.errstate(all="ignore"):
        output[...] = (codes.astype(np.float32) - np.float32(i.input_zero)) * np.float32(scale)


@executes(FloatPool)
def float_pool(state: MachineState, i: FloatPool, unit_index: int) -> None:
    """Padding holds 0 for sums, and the lowest finite number for maxima."""
    check_extents(i)
    if i.output_channels != i.input_channels:
        raise MachineError(f"{i.output_channels} output channels: must be input channels {i.input_channels}")
    image, output = input_image(state, i, _FLOAT), output_image(state, i, _FLOAT)
    with np.errstate(all="ignore"):
        output[...] = _clamped(i, _reduced(i, image))


def _reduced(i: FloatPool, image: Floats) -> Floats:
    if i.mode is FloatPoolMode.MAX:
        return reduce_windows(padded_image(image, i, 0, np.float32, outside=_LOWEST), i, np.maximum)
    taps = valid_taps(i).astype(np.float32)
    padded = padded_image(image, i, 0, np.float32)
    if i.mode is FloatPoolMode.AVERAGE:
        return _quotient(reduce_windows(padded, i, np.add), taps)
    return _root(_quotient(reduce_windows(padded * padded, i, np.add), taps))


@executes(FloatRows)
def float_rows(state: MachineState, i: FloatRows, unit_index: int) -> None:
    """Compute the rows, some at a time; overlapping operands behave as if all were read first."""
    shape = (i.rows, i.depth)
    values = state.sram_view(i.input_address, shape, (i.input_row_pitch, _FLOAT.itemsize), _FLOAT).copy()
    output = state.sram_view(i.output_address, shape, (i.output_row_pitch, _FLOAT.itemsize), _FLOAT)
    function = _ROWS[i.function]
    group = max(1, _GROUP_ELEMENTS // max(1, i.depth))
    with np.errstate(all="ignore"):
        for row in range(0, i.rows, group):
            output[row : row + group] = function(i, values[row : row + group])


def _softmax(i: FloatRows, rows: Floats) -> Floats:
    differences = (rows - rows.max(axis=1, keepdims=True)) * np.float32(float32_value(i.beta))
    exponentials = _rounded(np.exp, differences)
    return exponentials * (np.float32(1) / _tree_sum(exponentials))


def _l2_normalize(i: FloatRows, rows: Floats) -> Floats:
    sums = _tree_sum(rows * rows)
    sums[sums == 0] = 1
    return rows * (np.float32(1) / _root(sums))


def _local_response(i: FloatRows, rows: Floats) -> Floats:
    alpha, bias, beta = (float32_value(bits) for bits in (i.alpha, i.bias, i.beta))
    sums = _window_sums(rows * rows, i.radius)
    base = np.float32(bias) + np.float32(alpha) * sums
    return rows * _rounded(lambda x: x**-beta, base)


_ROWS: dict[RowFunction, Callable[[FloatRows, Floats], Floats]] = {
    RowFunction.SOFTMAX: _softmax,
    RowFunction.L2_NORMALIZE: _l2_normalize,
    RowFunction.LOCAL_RESPONSE: _local_response,
}


def _tree_sum(rows: Floats) -> Floats:
    """Sum each row as a binary tree: [rows, 1]. Of n terms the last n // 2 are added to the first ones."""
    terms = rows.copy()
    width = terms.shape[1]
    while width > 1:
        half = width // 2
        terms[:, :half] += terms[:, width - half : width]
        width -= half
    return terms[:, :1]


def _window_sums(values: Floats, radius: int) -> Floats:
    """For each element of a row, the sum over the existing elements at most `radius` away, lowest first."""
    depth = values.shape[1]
    reach = min(radius, depth - 1)
    padded = np.pad(values, ((0, 0), (reach, reach)))
    sums = padded[:, :depth].copy()
    for offset in range(1, 2 * reach + 1):
        sums += padded[:, offset : offset + depth]
    return sums
