"""What instructions with a sliding window share: operands in SRAM, the padded image, exact float types."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from isa.dtypes import DataType, Rounding
from isa.instructions.window import Weighted, Window, Windowed
from npu_sim.errors import MachineError
from npu_sim.functional.state import ByteArray, MachineState

FloatArray = npt.NDArray[np.floating]

FLOAT32_EXACT = 1 << 24
"""Integers below this, and sums of them that stay below it, are exact in single precision."""
_UINT8_MAX = 255
_BYTE = np.dtype(np.uint8)


def check_windowed(i: Windowed) -> None:
    """Raise MachineError for types, a clamp or a window that no unit executes."""
    if i.input_type is not DataType.U8 or i.output_type is not DataType.U8:
        raise MachineError(
            f"input type {i.input_type.name}, output type {i.output_type.name}: only U8 is executed"
        )
    if not 0 <= i.clamp_min <= i.clamp_max <= _UINT8_MAX:
        raise MachineError(f"clamp {i.clamp_min} … {i.clamp_max}: must be a range of 0 … {_UINT8_MAX}")
    check_extents(i)


def check_extents(i: Window) -> None:
    """Raise MachineError for a window or an output without extent."""
    if not (
        i.kernel_height
        and i.kernel_width
        and i.stride_height
        and i.stride_width
        and i.output_pixels
        and i.output_channels
    ):
        raise MachineError("kernel, stride, batch and output extents: each must be at least 1")


def check_weighted(i: Weighted) -> None:
    """Raise MachineError for weights or a requantisation that no unit executes."""
    check_windowed(i)
    if i.weight_type is not DataType.U8:
        raise MachineError(f"weight type {i.weight_type.name}: only U8 is executed")
    if i.rounding is not Rounding.DOUBLE:
        raise MachineError(f"rounding {i.rounding.name}: only DOUBLE is executed")
    if i.per_channel:
        raise MachineError("per_channel = 1: only one multiplier for all channels is executed")


def input_image(state: MachineState, i: Window, dtype: np.dtype[Any] = _BYTE) -> npt.NDArray[Any]:
    """Look at the valid pixels, [batch, height, width, channels], without a copy."""
    return state.sram_view(
        i.input_address,
        (i.batch, i.input_height, i.input_width, i.input_channels),
        (i.input_batch_pitch, i.input_row_pitch, i.input_pixel_pitch, dtype.itemsize),
        dtype,
    )


def output_image(state: MachineState, i: Window, dtype: np.dtype[Any] = _BYTE) -> npt.NDArray[Any]:
    """Look at the output tile, [batch, height, width, channels], without a copy."""
    return state.sram_view(
        i.output_address,
        (i.batch, i.output_height, i.output_width, i.output_channels),
        (i.output_batch_pitch, i.output_row_pitch, i.output_pixel_pitch, dtype.itemsize),
        dtype,
    )


def bias_vector(state: MachineState, i: Weighted) -> npt.NDArray[np.int32] | None:
    """Look at the biases, int32 [output channels], without a copy; None without a bias."""
    if not i.has_bias:
        return None
    return state.sram_view(i.bias_address, (i.output_channels,), (4,), np.dtype("<i4"))


def padded_image(
    image: npt.NDArray[Any], i: Window, zero: int, dtype: npt.DTypeLike, *, outside: float = 0
) -> npt.NDArray[Any]:
    """Lay out what the window slides over: image - zero, and `outside` where there is no image.

    Contiguous, of `dtype`, [batch, rows, columns, channels]; the first row and column are those of the
    first tap of the first output pixel, the last ones those of the last tap of the last.
    """
    height = (i.output_height - 1) * i.stride_height + (i.kernel_height - 1) * i.dilation_height + 1
    width = (i.output_width - 1) * i.stride_width + (i.kernel_width - 1) * i.dilation_width + 1
    rows = max(0, min(i.input_height, height - i.pad_top))
    columns = max(0, min(i.input_width, width - i.pad_left))
    shape = (i.batch, height, width, i.input_channels)
    covered = rows == height and columns == width
    padded = np.empty(shape, dtype) if covered else np.full(shape, outside, dtype)
    valid = padded[:, i.pad_top : i.pad_top + rows, i.pad_left : i.pad_left + columns]
    np.copyto(valid, image[:, :rows, :columns])
    if zero:
        valid -= zero
    return padded


def column_phases(image: npt.NDArray[Any], stride: int) -> list[npt.NDArray[Any]]:
    """Split the columns of an image [batch, rows, columns, channels] by their number modulo the stride.

    The columns that a tap reads at all output columns are then adjacent in one of the parts.
    """
    if stride == 1:
        return [image]
    return [np.ascontiguousarray(image[:, :, phase::stride]) for phase in range(min(stride, image.shape[2]))]


def reduce_windows(padded: npt.NDArray[Any], i: Window, reduce: np.ufunc) -> npt.NDArray[Any]:
    """Reduce the windows of a padded image, first along their rows, then along their columns.

    The result has the image's dtype and is [batch, output rows, output columns, channels].
    """
    row_span = i.output_height * i.stride_height
    by_rows = padded[:, : row_span : i.stride_height].copy()
    for tap in range(1, i.kernel_height):
        first = tap * i.dilation_height
        reduce(by_rows, padded[:, first : first + row_span : i.stride_height], out=by_rows)
    phases = column_phases(by_rows, i.stride_width)
    result = phases[0][:, :, : i.output_width].copy()
    for tap in range(1, i.kernel_width):
        column, phase = divmod(tap * i.dilation_width, i.stride_width)
        reduce(result, phases[phase][:, :, column : column + i.output_width], out=result)
    return result


def valid_taps(i: Window) -> npt.NDArray[np.int32]:
    """Count taps inside the image: int32 [output rows, output columns, 1]; MachineError for a count of 0."""

    def inside(
        outputs: int, stride: int, taps: int, dilation: int, pad: int, size: int
    ) -> npt.NDArray[np.int32]:
        position = np.arange(outputs)[:, None] * stride + np.arange(taps) * dilation - pad
        valid: npt.NDArray[np.int32] = ((position >= 0) & (position < size)).sum(axis=1, dtype=np.int32)
        return valid

    rows = inside(
        i.output_height, i.stride_height, i.kernel_height, i.dilation_height, i.pad_top, i.input_height
    )
    columns = inside(
        i.output_width, i.stride_width, i.kernel_width, i.dilation_width, i.pad_left, i.input_width
    )
    if not (rows.all() and columns.all()):
        raise MachineError("a pooling window lies wholly in the padding: an average needs a valid tap")
    return np.multiply.outer(rows, columns)[:, :, None]


class CentredWeights(NamedTuple):
    """w - weight_zero as floats, and the range of the sums they make."""

    values: FloatArray
    """float32 or float64: the narrowest type in which every partial sum is exact."""
    sums_fit_int32: bool


def centre_weights(weights: ByteArray, i: Weighted, axis: int) -> CentredWeights:
    """Subtract the zero point and choose the float type in which sums along `axis` are exact.

    A sum of products is bounded by max |x - input_zero| times the sum of |w - weight_zero|. Products are
    integers, so below 2**24 every partial sum is exact in float32, in any order; float64 holds all others.
    """
    values: FloatArray = weights.astype(np.float32)
    if i.weight_zero:
        values -= i.weight_zero
    largest_input = max(abs(i.input_zero), abs(_UINT8_MAX - i.input_zero))
    largest_weight = max(abs(i.weight_zero), abs(_UINT8_MAX - i.weight_zero))
    bound = weights.shape[axis] * largest_input * largest_weight
    if bound < FLOAT32_EXACT:
        return CentredWeights(values, True)
    if largest_input * float(np.abs(values).sum(axis=axis).max()) < FLOAT32_EXACT:
        return CentredWeights(values, True)
    return CentredWeights(values.astype(np.float64), bound < 1 << 31)


def to_int32(sums: FloatArray, weights: CentredWeights) -> npt.NDArray[np.int32]:
    """Exact float sums as int32, modulo 2**32."""
    if weights.sums_fit_int32:
        return sums.astype(np.int32)
    return sums.astype(np.int64).astype(np.int32)


class Rows(NamedTuple):
    """Output rows of some images: half-open ranges of images and of rows."""

    image0: int
    image1: int
    row0: int
    row1: int

    @property
    def key(self) -> tuple[slice, slice]:
        """Index of the rows in an array [batch, rows, …]."""
        return slice(self.image0, self.image1), slice(self.row0, self.row1)


def row_groups(i: Windowed, elements_per_row: int, limit: int) -> Iterator[Rows]:
    """Cut the output into groups of rows with at most `limit` working elements (at least a row each)."""
    rows = max(1, limit // max(1, elements_per_row))
    if rows >= i.output_height:
        images = rows // i.output_height
        for image in range(0, i.batch, images):
            yield Rows(image, min(image + images, i.batch), 0, i.output_height)
        return
    for image in range(i.batch):
        for row in range(0, i.output_height, rows):
            yield Rows(image, image + 1, row, min(row + rows, i.output_height))
