"""Sliding windows: the padding, stride and dilation operands of convolutions and pools.

Formulas of padding and output size: NNAPI's header, with implicit padding computed from the input size.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from compiler.nnapi import Numerics, OperandCode, PaddingCode
from compiler.operation import OperationView
from compiler.ops.operands import check_counts, failed, int32_scalar, positive_scalar

MAX_FIELD = (1 << 16) - 1
"""Largest size, stride, dilation and padding that an instruction's fields hold."""


@dataclasses.dataclass(frozen=True, slots=True)
class WindowAxis:
    """One axis of a sliding window: taps, steps in pixels, and padded pixels before and after."""

    size: int
    stride: int
    dilation: int
    pad_head: int
    pad_tail: int

    @property
    def extent(self) -> int:
        """Pixels from the first tap to the last, both included."""
        return (self.size - 1) * self.dilation + 1

    def output_size(self, input_size: int) -> int:
        """Windows that fit into `input_size` pixels and the padding; below 1 if none fits."""
        return (input_size - self.extent + self.pad_head + self.pad_tail) // self.stride + 1


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """A sliding window over an image."""

    height: WindowAxis
    width: WindowAxis

    @property
    def is_pointwise(self) -> bool:
        """True if each output pixel is computed from the input pixel at its place alone."""
        axes = (self.height, self.width)
        return all((a.size, a.stride, a.pad_head, a.pad_tail) == (1, 1, 0, 0) for a in axes)

    def output_size(self, height: int, width: int) -> tuple[int, int]:
        """Output rows and columns for an image of `height` x `width` pixels."""
        return self.height.output_size(height), self.width.output_size(width)


class WindowOperands(NamedTuple):
    """Input positions of the operands that describe a window; pairs are (height, width)."""

    padding: tuple[int, ...]
    """One position (padding scheme) or four (left, right, top, bottom)."""
    strides: tuple[int, int]
    rest: int
    """The first position after the strides."""
    layout: int | None
    dilations: tuple[int, int] | None


def locate_window(view: OperationView, first: int, own: int, *, dilatable: bool) -> WindowOperands:
    """Find the operands of a window among an operation's inputs, and check their number.

    `first` is the position of the first padding operand, `own` the number of operands from after the
    strides through the fused activation. Level 29 adds an optional layout flag and, for `dilatable`
    operations, two dilations behind it.
    """
    extras = (0, 1, 3) if dilatable else (0, 1)
    implicit, explicit = first + 3 + own, first + 6 + own
    check_counts(view, {base + extra for base in (implicit, explicit) for extra in extras})
    count = len(view.operation.inputs)
    is_implicit = count == implicit or (
        count > implicit and view.input(implicit).type.code is OperandCode.BOOL
    )
    paddings = 1 if is_implicit else 4
    end = implicit if is_implicit else explicit
    if count - end not in extras:
        raise view.error(f"has {count} inputs, but input {implicit} is not a BOOL data layout")
    if count > end and view.numerics is Numerics.NNAPI27:
        raise view.error(
            f"has {count} inputs, must have {end} at NNAPI level 27 (numerics nnapi27): data layout and"
            " dilation came with level 29"
        )
    strides = first + paddings
    return WindowOperands(
        padding=tuple(range(first, strides)),
        strides=(strides + 1, strides),
        rest=strides + 2,
        layout=end if count > end else None,
        dilations=(end + 2, end + 1) if count > end + 1 else None,
    )


def parse_window(
    view: OperationView, operands: WindowOperands, input_size: Sequence[int], filter_size: Sequence[int]
) -> Window:
    """Read and check a window; sizes are (height, width). GraphError for values NNAPI rejects."""
    names = ("height", "width")
    strides = [
        positive_scalar(view, position, f"stride {name}")
        for position, name in zip(operands.strides, names, strict=True)
    ]
    dilations = [
        positive_scalar(view, position, f"dilation {name}")
        for position, name in zip(operands.dilations or (), names, strict=False)
    ] or [1, 1]
    unpadded = [
        WindowAxis(size, stride, dilation, 0, 0)
        for size, stride, dilation in zip(filter_size, strides, dilations, strict=True)
    ]
    if len(operands.padding) == 1:
        scheme = _padding_scheme(view, operands.padding[0])
        axes = [pad_implicitly(axis, scheme, size) for axis, size in zip(unpadded, input_size, strict=True)]
    else:
        axes = _pad_explicitly(view, operands.padding, unpadded)
    return Window(axes[0], axes[1])


def window_refusal(window: Window) -> str | None:
    """Why no instruction can hold a window; None if one can."""
    for name, axis in (("height", window.height), ("width", window.width)):
        for field in dataclasses.fields(axis):
            value = getattr(axis, field.name)
            if value > MAX_FIELD:
                what = field.name.replace("_", " ")
                return f"window {name} has {what} {value}; the NPU takes at most {MAX_FIELD}"
    return None


def _padding_scheme(view: OperationView, position: int) -> PaddingCode:
    value = int32_scalar(view, position, "padding scheme")
    if value not in tuple(PaddingCode):
        raise failed(view, f"padding scheme (input {position}) is {value}, must be 1 (SAME) or 2 (VALID)")
    return PaddingCode(value)


def pad_implicitly(axis: WindowAxis, scheme: PaddingCode, input_size: int) -> WindowAxis:
    """The axis with the padding of a scheme; of an odd SAME total, the larger half goes to the tail."""
    if scheme is PaddingCode.VALID:
        return axis
    output_size = -(-input_size // axis.stride)
    total = max(0, (output_size - 1) * axis.stride + axis.extent - input_size)
    return dataclasses.replace(axis, pad_head=total // 2, pad_tail=total - total // 2)


def _pad_explicitly(
    view: OperationView, positions: Sequence[int], axes: Sequence[WindowAxis]
) -> list[WindowAxis]:
    height, width = axes
    pads = []
    sides = (("left", width), ("right", width), ("top", height), ("bottom", height))
    for position, (side, axis) in zip(positions, sides, strict=True):
        pad = int32_scalar(view, position, f"padding {side}")
        if not 0 <= pad < axis.extent:
            raise failed(
                view,
                f"padding {side} (input {position}) is {pad}, must be at least 0 and less than the"
                f" filter's extent {axis.extent}",
            )
        pads.append(pad)
    left, right, top, bottom = pads
    return [
        dataclasses.replace(height, pad_head=top, pad_tail=bottom),
        dataclasses.replace(width, pad_head=left, pad_tail=right),
    ]
