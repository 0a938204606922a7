"""The stage of a convolution or matrix product on the matrix unit."""

from compiler.nnapi import FuseCode
from compiler.operation import OperationView
from compiler.ops.lowering import (
    WeightOperands,
    constant_weights,
    matrix_product_macs,
    operation_number,
    weighted_fields,
    whole_output,
    window_fields,
    window_footprint,
)
from compiler.ops.window import Window
from compiler.stage import Access, Box, Shape4, Stage, StageInput, Tile
from isa.instruction import Instruction, UnitKind
from isa.instructions.matrix import Convolve


def convolution_stage(
    view: OperationView,
    window: Window,
    image: Shape4,
    filters: Shape4,
    domain: Shape4,
    activation: FuseCode,
) -> Stage:
    """Convolve input 0, seen as `image`, with input 1, seen as `filters` (channel, row, column, depth)."""
    fixed = weighted_fields(view, activation)
    footprint = window_footprint(window, image, lambda tile: (tile.k0, tile.k1))
    _, rows, columns, depth = filters
    operands = WeightOperands(
        view,
        constant_weights(view, filters, channel_axis=0, reduction_axis=3),
        filters,
        lambda tile: Box(tile.c0, tile.c1, 0, rows, 0, columns, tile.k0, tile.k1),
    )

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        part = tile.k1 - tile.k0
        packed = Access(0, rows * columns * part, columns * part, part)
        weights, bias = operands.locate(inputs, constants, packed)
        return Convolve(
            unit_mask=unit_mask,
            weight_address=weights.address,
            weight_channel_pitch=weights.batch_pitch,
            weight_tap_pitch=weights.pixel_pitch,
            bias_address=bias,
            start=int(tile.k0 == 0),
            finish=int(tile.k1 == depth),
            **fixed,
            **window_fields(window, tile, footprint(tile), inputs[0], output),
        )

    return Stage(
        operation=operation_number(view),
        kind=UnitKind.MATRIX,
        domain=domain,
        reduction=depth,
        inputs=(
            StageInput(tensor=view.operation.inputs[0], shape=image, footprint=footprint),
            *operands.inputs,
        ),
        output=whole_output(view, domain),
        constants=operands.constants,
        emit=emit,
        shape_key=(window, image, filters, len(operands.inputs)),
        can_clamp=True,
        macs=matrix_product_macs(domain, rows * columns * depth),
    )
