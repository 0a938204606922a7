"""What the lowerings of float32 operations share."""

from collections.abc import Callable, Sequence
from typing import Any

from compiler.nnapi import FuseCode
from compiler.operation import OperationView
from compiler.ops.lowering import elementwise_fields, flat_rows, operation_number, whole_output
from compiler.ops.operands import QUANT8
from compiler.stage import Access, LoweringContext, Stage, StageInput, Tile, View, same_place
from isa.float_bits import float32_bits
from isa.instruction import Instruction, UnitKind

Lower = Callable[[OperationView, LoweringContext], Sequence[Stage | View]]

_CLAMPS = {
    FuseCode.NONE: (float("-inf"), float("inf")),
    FuseCode.RELU: (0.0, float("inf")),
    FuseCode.RELU1: (-1.0, 1.0),
    FuseCode.RELU6: (0.0, 6.0),
}


def lower_by_type(*, quant8: Lower, float32: Lower) -> Lower:
    """Choose the lowering by the type of the first input."""

    def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
        chosen = quant8 if view.input(0).type.code is QUANT8 else float32
        return chosen(view, context)

    return lower


def float_clamp(activation: FuseCode) -> dict[str, int]:
    """The clamp fields of a float instruction for a fused activation."""
    smallest, largest = _CLAMPS[activation]
    return {"clamp_min": float32_bits(smallest), "clamp_max": float32_bits(largest)}


def element_stage(
    view: OperationView, instruction: Callable[..., Instruction], fixed: dict[str, Any]
) -> Stage:
    """One stage on the vector unit that makes each output element from the input element at its place.

    `instruction` makes an Elementwise instruction from its fields, of which `fixed` are the same for all
    tiles; the pitches of its innermost dimension are the defaults.
    """
    domain = flat_rows(view.output().type.dimensions)

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return instruction(unit_mask=unit_mask, **fixed, **elementwise_fields(tile, inputs[0], output))

    source = StageInput(
        tensor=view.operation.inputs[0],
        shape=domain,
        footprint=same_place,
        element_bytes=view.input(0).type.dtype.itemsize,
    )
    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=domain,
        inputs=(source,),
        output=whole_output(view, domain),
        emit=emit,
    )
