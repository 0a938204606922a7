"""Data layouts of images: NHWC, or NCHW, which came with level 29."""

import enum

from compiler.operation import OperationView
from compiler.ops.operands import bool_scalar

Shape4 = tuple[int, int, int, int]


class Layout(enum.Enum):
    """Order of an image's dimensions: batches, height, width, channels."""

    NHWC = (0, 1, 2, 3)
    NCHW = (0, 3, 1, 2)

    def nhwc(self, dimensions: tuple[int, ...]) -> Shape4:
        """The dimensions of an image of this layout as (batches, height, width, channels)."""
        n, h, w, c = (dimensions[self.value.index(axis)] for axis in range(4))
        return (n, h, w, c)

    def arrange(self, nhwc: tuple[int, ...]) -> tuple[int, ...]:
        """The dimensions in this layout of an image of (batches, height, width, channels)."""
        return tuple(nhwc[axis] for axis in self.value)


def data_layout(view: OperationView, position: int | None) -> Layout:
    """The layout that an optional BOOL input gives; NHWC without one."""
    if position is None or position >= len(view.operation.inputs):
        return Layout.NHWC
    return Layout.NCHW if bool_scalar(view, position, "data layout") else Layout.NHWC


def layout_refusal(layout: Layout) -> str | None:
    """Why the NPU cannot run an operation on images of a layout; None if it can."""
    return None if layout is Layout.NHWC else "data layout is NCHW; the NPU takes NHWC only"
