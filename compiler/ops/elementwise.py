"""ADD."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperationCode
from compiler.operation import ImportedInput, OperationSpec, OperationView, TfliteOperator, register
from compiler.ops import tflite_options
from compiler.ops.lowering import elementwise_fields, flat_rows, image_shape, operation_number, whole_output
from compiler.ops.operands import (
    RANKS_TO_4,
    check_counts,
    failed,
    fused_activation,
    quant8_input,
    quant8_output,
)
from compiler.ops.quantization import (
    ADD_LEFT_SHIFT,
    activation_range,
    add_output_multiplier,
    add_rescaling,
    is_smaller_than_one,
)
from compiler.stage import Access, Box, LoweringContext, Shape4, Stage, StageInput, Tile, View
from isa.instruction import Instruction, UnitKind
from isa.instructions.vector import Add


@dataclasses.dataclass(frozen=True, slots=True)
class AddAttributes:
    """Broadcast output shape and fused activation."""

    shape: tuple[int, ...]
    activation: FuseCode


def parse(view: OperationView) -> AddAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted."""
    check_counts(view, (3,))
    first = quant8_input(view, 0, "first input", RANKS_TO_4).dimensions
    second = quant8_input(view, 1, "second input", RANKS_TO_4).dimensions
    return AddAttributes(broadcast_shape(view, first, second), fused_activation(view, 2))


def broadcast_shape(view: OperationView, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """Output shape of two inputs, aligned at the last dimension; a dimension of 1 repeats."""
    pairs = list(itertools.zip_longest(reversed(first), reversed(second), fillvalue=1))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise failed(
            view,
            f"inputs have shapes {list(first)} and {list(second)}; from the last dimension on, each pair"
            " must be equal or contain a 1",
        )
    return tuple(max(pair) for pair in reversed(pairs))


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the broadcast shape."""
    attributes = parse(view)
    output = quant8_output(view, attributes.shape)
    multiplier = add_output_multiplier(view.input(0).type, view.input(1).type, output)
    if not is_smaller_than_one(multiplier):
        raise failed(
            view,
            f"output scale {output.scale:.9g} is too small: twice the larger input scale / (2^20 x output"
            f" scale) = {multiplier:.9g}, must be less than 1",
        )
    return (output,)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's ADD."""
    return [
        tflite_options.tensor(operator, 0, "first input"),
        tflite_options.tensor(operator, 1, "second input"),
        tflite_options.fused_activation(operator),
    ]


def _broadcast_footprint(shape: Shape4) -> Callable[[Tile], Box]:
    n, h, w, c = (extent == 1 for extent in shape)

    def footprint(tile: Tile) -> Box:
        return Box(
            *((0, 1) if n else (tile.n, tile.n + 1)),
            *((0, 1) if h else (tile.h0, tile.h1)),
            *((0, 1) if w else (tile.w0, tile.w1)),
            *((0, 1) if c else (tile.c0, tile.c1)),
        )

    return footprint


def _pitches(name: str, access: Access, shape: Shape4) -> dict[str, int]:
    """Address and pitches of an input; 0 where it repeats."""
    _, h, w, c = (int(extent != 1) for extent in shape)
    return {
        f"{name}_address": access.address,
        f"{name}_pitch0": c,
        f"{name}_pitch1": w * access.pixel_pitch,
        f"{name}_pitch2": h * access.row_pitch,
    }


def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit; inputs that repeat are read with a pitch of 0."""
    attributes = parse(view)
    first, second, output_type = view.input(0).type, view.input(1).type, view.output().type
    repeats = first.dimensions != second.dimensions
    shape4 = image_shape if repeats else flat_rows
    domain = shape4(attributes.shape)
    shapes = shape4(first.dimensions), shape4(second.dimensions)
    rescaling = add_rescaling(first, second, output_type)
    clamp_min, clamp_max = activation_range(attributes.activation, output_type)
    fixed: dict[str, Any] = {
        "left_shift": ADD_LEFT_SHIFT,
        "input_zero": first.zero_point,
        "input_multiplier": rescaling.first.multiplier,
        "input_shift": rescaling.first.shift,
        "second_zero": second.zero_point,
        "second_multiplier": rescaling.second.multiplier,
        "second_shift": rescaling.second.shift,
        "output_zero": output_type.zero_point,
        "output_multiplier": rescaling.output.multiplier,
        "output_shift": rescaling.output.shift,
        "clamp_min": clamp_min,
        "clamp_max": clamp_max,
    }

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        loops = elementwise_fields(tile, inputs[0], output) | _pitches("input", inputs[0], shapes[0])
        return Add(unit_mask=unit_mask, **fixed, **loops, **_pitches("second", inputs[1], shapes[1]))

    return [
        Stage(
            operation=operation_number(view),
            kind=UnitKind.VECTOR,
            domain=domain,
            inputs=tuple(
                StageInput(tensor=tensor, shape=shape, footprint=_broadcast_footprint(shape))
                for tensor, shape in zip(view.operation.inputs[:2], shapes, strict=True)
            ),
            output=whole_output(view, domain),
            emit=emit,
            can_clamp=True,
        )
    ]


register(
    OperationSpec(
        code=OperationCode.ADD,
        summary="Sum of two tensors, with broadcasting",
        infer=infer,
        lower=lower,
        tflite="ADD",
        from_tflite=from_tflite,
    )
)
