"""Lowering of operations that compute each row along the last dimension from that row alone."""

import math
from collections.abc import Callable
from typing import Any

from compiler.operation import OperationView
from compiler.ops.lowering import operation_number, whole_output
from compiler.stage import Access, Stage, StageInput, Tile, same_place
from isa.instruction import Instruction, UnitKind


def row_stage(view: OperationView, instruction: Callable[..., Instruction], fixed: dict[str, Any]) -> Stage:
    """One stage on the vector unit: an image of one row with a pixel per row of the tensor, never cut.

    `instruction` makes a RowWise instruction from its fields, of which `fixed` are the same for all tiles.
    """
    input_type = view.input(0).type
    *outer, depth = input_type.dimensions
    domain = (1, 1, math.prod(outer), depth)

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return instruction(
            unit_mask=unit_mask,
            rows=tile.width,
            depth=tile.channels,
            input_address=inputs[0].address,
            input_row_pitch=inputs[0].pixel_pitch,
            output_address=output.address,
            output_row_pitch=output.pixel_pitch,
            **fixed,
        )

    source = StageInput(
        tensor=view.operation.inputs[0],
        shape=domain,
        footprint=same_place,
        element_bytes=input_type.dtype.itemsize,
    )
    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=domain,
        channel_step=0,
        inputs=(source,),
        output=whole_output(view, domain),
        emit=emit,
    )
