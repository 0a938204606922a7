"""What the lowerings of several operations share: four-dimensional shapes, footprints, window fields."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.nnapi import FuseCode
from compiler.operation import OperationView
from compiler.ops.quantization import activation_range, convolution_requantization
from compiler.ops.window import Window
from compiler.stage import (
    Access,
    Box,
    Shape4,
    Stage,
    StageConstant,
    StageInput,
    StageOutput,
    Tile,
    same_place,
)
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Lookup


def image_shape(dimensions: tuple[int, ...]) -> Shape4:
    """Dimensions of rank 1 to 4 as (n, h, w, c), missing ones in front as 1."""
    n, h, w, c = (1,) * (4 - len(dimensions)) + tuple(dimensions)
    return (n, h, w, c)


def operation_number(view: OperationView) -> int:
    """Place of the operation in its graph."""
    return view.graph.operations.index(view.operation)


def flat_rows(dimensions: tuple[int, ...]) -> Shape4:
    """Dimensions as (n, h, 1, w x c): elementwise work has no use for pixels."""
    n, h, w, c = image_shape(dimensions)
    return (n, h, 1, w * c)


def at_origin(origin: Shape4) -> Callable[[Tile], Box]:
    """Where the tiles of a stage go whose domain starts at `origin` in its output tensor."""
    n, h, w, c = origin

    def box(tile: Tile) -> Box:
        return Box(
            n + tile.n,
            n + tile.n + 1,
            h + tile.h0,
            h + tile.h1,
            w + tile.w0,
            w + tile.w1,
            c + tile.c0,
            c + tile.c1,
        )

    return box


def whole_output(view: OperationView, shape: Shape4, position: int = 0) -> StageOutput:
    """The operation's output at a position, seen as `shape`."""
    element_bytes = view.output(position).type.dtype.itemsize
    return StageOutput(tensor=view.operation.outputs[position], shape=shape, element_bytes=element_bytes)


def window_rows(window: Window, height: int, h0: int, h1: int) -> tuple[int, int]:
    """Input rows [first, last) that output rows [h0, h1) read."""
    axis = window.height
    first = h0 * axis.stride - axis.pad_head
    last = (h1 - 1) * axis.stride - axis.pad_head + axis.extent
    return max(0, first), min(height, last)


def window_columns(window: Window, width: int, w0: int, w1: int) -> tuple[int, int]:
    """Input columns [first, last) that output columns [w0, w1) read."""
    axis = window.width
    first = w0 * axis.stride - axis.pad_head
    last = (w1 - 1) * axis.stride - axis.pad_head + axis.extent
    return max(0, first), min(width, last)


def window_footprint(
    window: Window, shape: Shape4, channels: Callable[[Tile], tuple[int, int]]
) -> Callable[[Tile], Box]:
    """Footprint of a sliding window over an image; `channels` gives the channels a tile reads."""
    _, height, width, _ = shape

    def footprint(tile: Tile) -> Box:
        rows = window_rows(window, height, tile.h0, tile.h1)
        columns = window_columns(window, width, tile.w0, tile.w1)
        return Box(tile.n, tile.n + 1, *rows, *columns, *channels(tile))

    return footprint


def window_fields(window: Window, tile: Tile, box: Box, image: Access, output: Access) -> dict[str, Any]:
    """The fields of a windowed instruction that follow from a tile and the part of the image it reads."""
    height, width = window.height, window.width
    return {
        "input_address": image.address,
        "input_row_pitch": image.row_pitch,
        "input_pixel_pitch": image.pixel_pitch,
        "input_height": box.h1 - box.h0,
        "input_width": box.w1 - box.w0,
        "input_channels": box.c1 - box.c0,
        "kernel_height": height.size,
        "kernel_width": width.size,
        "stride_height": height.stride,
        "stride_width": width.stride,
        "dilation_height": height.dilation,
        "dilation_width": width.dilation,
        "pad_top": box.h0 - (tile.h0 * height.stride - height.pad_head),
        "pad_left": box.w0 - (tile.w0 * width.stride - width.pad_head),
        "output_address": output.address,
        "output_row_pitch": output.row_pitch,
        "output_pixel_pitch": output.pixel_pitch,
        "output_height": tile.height,
        "output_width": tile.width,
        "output_channels": tile.channels,
    }


class WeightOperands:
    """Weights and bias of a stage: constants packed with the tile's slice, or tensors like any other.

    `shape` is how the stage sees the weights, `footprint` which part of them a tile needs.
    """

    def __init__(
        self,
        view: OperationView,
        weights: StageConstant | None,
        shape: Shape4,
        footprint: Callable[[Tile], Box],
    ) -> None:
        bias = view.input(2).value
        channels = view.input(2).type.dimensions[0]
        self._weights_are_constant = weights is not None
        self._bias_is_constant = bias is not None
        self.constants: tuple[StageConstant, ...] = (weights,) if weights is not None else ()
        self.inputs: tuple[StageInput, ...] = ()
        if weights is None:
            self.inputs = (StageInput(tensor=view.operation.inputs[1], shape=shape, footprint=footprint),)
        if bias is not None:
            self.constants += (StageConstant(array=bias, channel_axis=0),)
        else:
            self.inputs += (
                StageInput(
                    tensor=view.operation.inputs[2],
                    shape=(1, 1, 1, channels),
                    footprint=lambda tile: Box(0, 1, 0, 1, 0, 1, tile.c0, tile.c1),
                    element_bytes=4,
                ),
            )

    def locate(
        self, inputs: tuple[Access, ...], constants: tuple[int, ...], packed: Access
    ) -> tuple[Access, int]:
        """Where a tile's weights lie (`packed` gives the pitches of a constant slice), and its bias."""
        weights = packed._replace(address=constants[0]) if self._weights_are_constant else inputs[1]
        bias = constants[-1] if self._bias_is_constant else inputs[-1].address
        return weights, bias


def constant_weights(
    view: OperationView, shape: tuple[int, ...], channel_axis: int, reduction_axis: int | None = None
) -> StageConstant | None:
    """The operation's weights (input 1) in a shape, or None if they are not constant."""
    value = view.input(1).value
    if value is None:
        return None
    return StageConstant(array=value.reshape(shape), channel_axis=channel_axis, reduction_axis=reduction_axis)


def table_stage(
    view: OperationView,
    source: int,
    domain: Shape4,
    table: npt.NDArray[np.uint8],
    output: StageOutput,
    clamp: tuple[int, int] | None = None,
) -> Stage:
    """A stage that replaces each byte of an input tensor, seen as `domain`, by its entry in a table of 256.

    `clamp` says that the table only clamps raw values: the stage before may do that instead.
    """

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return Lookup(
            unit_mask=unit_mask,
            table_address=constants[0],
            **elementwise_fields(tile, inputs[0], output),
        )

    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=domain,
        inputs=(StageInput(tensor=source, shape=domain, footprint=same_place),),
        output=output,
        constants=(StageConstant(array=table),),
        emit=emit,
        clamp=clamp,
    )


def elementwise_fields(tile: Tile, source: Access, output: Access) -> dict[str, Any]:
    """The loop and pitch fields of an elementwise instruction over a tile."""
    return {
        "count0": tile.channels,
        "count1": tile.width,
        "count2": tile.height,
        "input_address": source.address,
        "input_pitch1": source.pixel_pitch,
        "input_pitch2": source.row_pitch,
        "output_address": output.address,
        "output_pitch1": output.pixel_pitch,
        "output_pitch2": output.row_pitch,
    }


def weighted_fields(view: OperationView, activation: FuseCode) -> dict[str, Any]:
    """The fields of a weighted instruction that are the same for all tiles: zero points, requantisation."""
    input_type, filter_type, output_type = view.input(0).type, view.input(1).type, view.output().type
    multiplier, shift = convolution_requantization(input_type, filter_type, output_type, view.numerics)
    clamp_min, clamp_max = activation_range(activation, output_type)
    return {
        "input_zero": input_type.zero_point,
        "weight_zero": filter_type.zero_point,
        "has_bias": 1,
        "output_zero": output_type.zero_point,
        "multiplier": multiplier,
        "shift": shift,
        "clamp_min": clamp_min,
        "clamp_max": clamp_max,
    }


def matrix_product_macs(domain: Shape4, depth: int) -> int:
    """Multiply-accumulates of a domain whose elements each sum `depth` products."""
    return math.prod(domain) * depth
