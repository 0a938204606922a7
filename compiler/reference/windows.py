"""Windows that slide over rows and columns: their operands, output sizes and taps.

Convolutions and pools share the order of their operands: after the tensors come either four paddings
(left, right, top, bottom) or one padding code, then the strides (width, height), then what is particular
to the operation, then the fused activation; level 29 appends the data layout and, for convolutions, the
dilations (width, height).
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from compiler.nnapi import FuseCode, OperandCode, PaddingCode
from compiler.reference.registry import Array, Call


@dataclasses.dataclass(frozen=True, slots=True)
class WindowArguments:
    """The scalar operands of an operation with windows. Pairs are (height, width).

    `padding` is a code, or ((top, bottom), (left, right)) elements. `particular` are the operation's own
    integers. `channels_first`: input and output are NCHW.
    """

    padding: PaddingCode | tuple[tuple[int, int], tuple[int, int]]
    strides: tuple[int, int]
    particular: tuple[int, ...]
    fuse: FuseCode
    channels_first: bool
    dilations: tuple[int, int]


def read_window_arguments(call: Call, first: int, particular: int, can_dilate: bool) -> WindowArguments:
    """Read the scalars of `call` from `first` on; `particular` integers stand before the activation.

    Raises GraphError for a number of inputs or a value that the level does not allow.
    """
    appended = (0,) if call.is_level_27 else (0, 1, 3) if can_dilate else (0, 1)
    implicit, explicit = first + 4 + particular, first + 7 + particular
    call.expect_count(*sorted({base + extra for base in (implicit, explicit) for extra in appended}))
    # Level 29's data layout comes where the implicit form ends, and tells the forms apart by its type.
    is_implicit = call.count < explicit or call.type(implicit).code is OperandCode.BOOL
    padding: PaddingCode | tuple[tuple[int, int], tuple[int, int]]
    if is_implicit:
        call.expect_count(*(implicit + extra for extra in appended))
        padding, after, layout = _padding_code(call, first), first + 1, implicit
    else:
        left, right, top, bottom = (call.integer(first + i) for i in range(4))
        padding, after, layout = ((top, bottom), (left, right)), first + 4, explicit
    return WindowArguments(
        padding=padding,
        strides=(call.integer(after + 1), call.integer(after)),
        particular=tuple(call.integer(after + 2 + i) for i in range(particular)),
        fuse=call.fuse(after + 2 + particular),
        channels_first=call.flag(layout),
        dilations=(call.integer_or(layout + 2, 1), call.integer_or(layout + 1, 1)),
    )


def _padding_code(call: Call, position: int) -> PaddingCode:
    value = call.integer(position)
    try:
        return PaddingCode(value)
    except ValueError:
        raise call.error(f"padding scheme {value} is neither 1 (SAME) nor 2 (VALID)") from None


@dataclasses.dataclass(frozen=True, slots=True)
class Axis:
    """Windows along rows or columns: output o's tap t reads input o·stride + t·dilation − head."""

    size: int
    kernel: int
    stride: int
    dilation: int
    head: int
    count: int

    def reads(self, tap: int) -> slice:
        """Elements that `tap` of every window reads, in an axis padded by `padding`."""
        start = tap * self.dilation
        return slice(start, start + (self.count - 1) * self.stride + 1, self.stride)

    @property
    def padding(self) -> tuple[int, int]:
        """Elements to add before and after the axis so that every tap of every window exists."""
        reach = (self.count - 1) * self.stride + (self.kernel - 1) * self.dilation + 1
        return self.head, max(0, reach - self.head - self.size)


def resolve_axes(
    call: Call, arguments: WindowArguments, sizes: tuple[int, int], kernels: tuple[int, int]
) -> tuple[Axis, Axis]:
    """Rows and columns of the windows over an input of `sizes` (height, width)."""
    return (
        _resolve_axis(call, arguments, "height", 0, sizes[0], kernels[0]),
        _resolve_axis(call, arguments, "width", 1, sizes[1], kernels[1]),
    )


def _resolve_axis(
    call: Call, arguments: WindowArguments, what: str, index: int, size: int, kernel: int
) -> Axis:
    stride, dilation = arguments.strides[index], arguments.dilations[index]
    for name, value in (("size", size), ("filter", kernel), ("stride", stride), ("dilation", dilation)):
        if value < 1:
            raise call.error(f"{name} {value} in {what}; it must be at least 1")
    effective = (kernel - 1) * dilation + 1
    if isinstance(arguments.padding, PaddingCode):
        head, tail = _implicit_padding(arguments.padding, size, effective, stride)
    else:
        head, tail = arguments.padding[index]
        if min(head, tail) < 0:
            raise call.error(f"padding {head} and {tail} in {what}; it must not be negative")
        if max(head, tail) >= effective and not call.is_level_27:
            raise call.error(
                f"padding {head} and {tail} in {what} must be smaller than the filter's reach {effective}"
            )
    count = (size - effective + stride + head + tail) // stride
    if count < 1:
        raise call.error(
            f"a filter of reach {effective} does not fit into {what} {size} with padding {head} and {tail}"
        )
    return Axis(size, kernel, stride, dilation, head, count)


def _implicit_padding(scheme: PaddingCode, size: int, effective: int, stride: int) -> tuple[int, int]:
    if scheme is PaddingCode.VALID:
        return 0, 0
    count = -(-size // stride)
    total = max(0, (count - 1) * stride + effective - size)
    return total // 2, total - total // 2


def taps(padded: Array, rows: Axis, columns: Axis) -> Iterator[tuple[int, int, Array]]:
    """(row tap, column tap, what it reads: [batch, out height, out width, channels]) of an NHWC array."""
    for row in range(rows.kernel):
        for column in range(columns.kernel):
            yield row, column, padded[:, rows.reads(row), columns.reads(column)]


def pad(values: Array, rows: Axis, columns: Axis, filler: float = 0.0) -> Array:
    """NHWC `values` with `filler` wherever a window reaches over the border."""
    return np.pad(values, ((0, 0), rows.padding, columns.padding, (0, 0)), constant_values=filler)


def to_channels_last(values: Array, channels_first: bool) -> Array:
    """`values` as NHWC."""
    return values.transpose(0, 2, 3, 1) if channels_first else values


def from_channels_last(values: Array, channels_first: bool) -> Array:
    """NHWC `values` in the layout the operation asks for."""
    return np.ascontiguousarray(values.transpose(0, 3, 1, 2) if channels_first else values)
