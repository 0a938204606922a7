"""ADD and MUL."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperationCode
from compiler.operation import (
    ImportedInput,
    OperationSpec,
    OperationView,
    TfliteOperator,
    quant8_or_float,
    register,
)
from compiler.operation_notes import CycleNote, OperationNotes, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import FUSED_ACTIVATION, QUANT8_OR_FLOAT
from compiler.ops.float_lowering import Lower, float_clamp, lower_by_type
from compiler.ops.lowering import elementwise_fields, flat_rows, image_shape, operation_number, whole_output
from compiler.ops.operands import (
    QUANT8,
    RANKS_TO_4,
    REAL,
    check_counts,
    failed,
    fused_activation,
    tensor_input,
    tensor_output,
)
from compiler.ops.quantization import (
    ADD_LEFT_SHIFT,
    activation_range,
    add_output_multiplier,
    add_rescaling,
    is_smaller_than_one,
    product_multiplier,
)
from compiler.stage import Access, Box, LoweringContext, Shape4, Stage, StageInput, Tile, View
from isa.arithmetic import QuantizedMultiplier, quantize_multiplier_smaller_than_one
from isa.instruction import Instruction, UnitKind
from isa.instructions.float_vector import BinaryFunction, FloatBinary
from isa.instructions.vector import Add, Multiply


@dataclasses.dataclass(frozen=True, slots=True)
class BinaryAttributes:
    """Broadcast output shape and fused activation."""

    shape: tuple[int, ...]
    activation: FuseCode


def parse(view: OperationView) -> BinaryAttributes:
    """Read the attributes; GraphError or UnsupportedError if one is not permitted."""
    check_counts(view, (3,))
    first = tensor_input(view, 0, "first input", RANKS_TO_4)
    second = tensor_input(view, 1, "second input", RANKS_TO_4, (first.code,))
    shape = broadcast_shape(view, first.dimensions, second.dimensions)
    return BinaryAttributes(shape, fused_activation(view, 2))


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


def _infer(view: OperationView) -> OperandType:
    shape = parse(view).shape
    return tensor_output(view, view.input(0).type.code, shape)


def infer_add(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the broadcast shape."""
    output = _infer(view)
    if output.code is QUANT8:
        multiplier = add_output_multiplier(view.input(0).type, view.input(1).type, output)
        if not is_smaller_than_one(multiplier):
            raise failed(
                view,
                f"output scale {output.scale:.9g} is too small: twice the larger input scale / (2^20 x"
                f" output scale) = {multiplier:.9g}, must be less than 1",
            )
    return (output,)


def infer_mul(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the broadcast shape."""
    output = _infer(view)
    if output.code is QUANT8:
        first, second = view.input(0).type, view.input(1).type
        if not is_smaller_than_one(product_multiplier(first, second, output)):
            raise failed(
                view,
                f"output scale {output.scale:.9g} must be greater than the product of the input scales"
                f" {first.scale:.9g} x {second.scale:.9g}",
            )
    return (output,)


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's operator of two tensors."""
    return [
        tflite_options.tensor(operator, 0, "first input"),
        tflite_options.tensor(operator, 1, "second input"),
        tflite_options.fused_activation(operator),
    ]


def _stage(
    view: OperationView,
    attributes: BinaryAttributes,
    instruction: Callable[..., Instruction],
    fixed: dict[str, Any],
) -> Stage:
    """One stage on the vector unit; inputs that repeat are read with a pitch of 0.

    `instruction` makes a BinaryElementwise instruction from its fields, of which `fixed` are the same for
    all tiles. Where its integer result is clamped, a RELU behind it needs no work of its own.
    """
    types = view.input(0).type, view.input(1).type
    repeats = types[0].dimensions != types[1].dimensions
    shape4 = image_shape if repeats else flat_rows
    domain = shape4(attributes.shape)
    shapes = [shape4(type_.dimensions) for type_ in types]
    element_bytes = types[0].dtype.itemsize

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        loops = elementwise_fields(tile, inputs[0], output)
        for name, access, shape in zip(("input", "second"), inputs, shapes, strict=True):
            loops |= _pitches(name, access, shape, element_bytes)
        return instruction(unit_mask=unit_mask, **fixed, **loops)

    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=domain,
        inputs=tuple(
            StageInput(
                tensor=tensor,
                shape=shape,
                footprint=_broadcast_footprint(shape),
                element_bytes=element_bytes,
            )
            for tensor, shape in zip(view.operation.inputs[:2], shapes, strict=True)
        ),
        output=whole_output(view, domain),
        emit=emit,
        can_clamp=types[0].code is QUANT8,
    )


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


def _pitches(name: str, access: Access, shape: Shape4, element_bytes: int) -> dict[str, int]:
    """Address and pitches of an input; 0 where it repeats."""
    _, h, w, c = (int(extent != 1) for extent in shape)
    return {
        f"{name}_address": access.address,
        f"{name}_pitch0": c * element_bytes,
        f"{name}_pitch1": w * access.pixel_pitch,
        f"{name}_pitch2": h * access.row_pitch,
    }


def lower_add_quant8(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's integer lanes."""
    attributes = parse(view)
    rescaling = add_rescaling(view.input(0).type, view.input(1).type, view.output().type)
    fixed = {
        "left_shift": ADD_LEFT_SHIFT,
        "input_multiplier": rescaling.first.multiplier,
        "input_shift": rescaling.first.shift,
        "second_multiplier": rescaling.second.multiplier,
        "second_shift": rescaling.second.shift,
        **_quantization_fields(view, attributes, rescaling.output),
    }
    return [_stage(view, attributes, Add, fixed)]


def lower_mul_quant8(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit's integer lanes."""
    attributes = parse(view)
    factor = product_multiplier(view.input(0).type, view.input(1).type, view.output().type)
    fixed = _quantization_fields(view, attributes, quantize_multiplier_smaller_than_one(factor))
    return [_stage(view, attributes, Multiply, fixed)]


def _quantization_fields(
    view: OperationView, attributes: BinaryAttributes, result: QuantizedMultiplier
) -> dict[str, int]:
    """Zero points, the rescaling of the result, and the fused activation."""
    output_type = view.output().type
    clamp_min, clamp_max = activation_range(attributes.activation, output_type)
    return {
        "input_zero": view.input(0).type.zero_point,
        "second_zero": view.input(1).type.zero_point,
        "output_zero": output_type.zero_point,
        "output_multiplier": result.multiplier,
        "output_shift": result.shift,
        "clamp_min": clamp_min,
        "clamp_max": clamp_max,
    }


def _lower_float(function: BinaryFunction) -> Lower:
    """One stage on the vector unit's float lanes."""

    def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
        attributes = parse(view)
        fixed = {"function": function, **float_clamp(attributes.activation)}
        return [_stage(view, attributes, FloatBinary, fixed)]

    return lower


_BROADCAST = "aligned at the last dimension; a dimension of 1 repeats, others are equal"
_INPUT_NOTES = (
    tensor("first input", REAL, RANKS_TO_4, "any shape"),
    tensor("second input", REAL, RANKS_TO_4, f"of the first one's type; {_BROADCAST}"),
    FUSED_ACTIVATION,
)
_OUTPUT_NOTE = tensor("output", REAL, RANKS_TO_4, "the larger of each two dimensions")

register(
    OperationSpec(
        code=OperationCode.ADD,
        summary="Sum of two tensors, with broadcasting",
        notes=OperationNotes(
            inputs=_INPUT_NOTES,
            outputs=(_OUTPUT_NOTE,),
            limits=("quant8: twice the larger input scale / (2^20 x output scale) is less than 1.",),
            runs=QUANT8_OR_FLOAT,
            cycles=(CycleNote("quant8", "ceil(E / L) * 3"), CycleNote("float32", "ceil(E / F)")),
        ),
        infer=infer_add,
        npu_refusal=quant8_or_float,
        lower=lower_by_type(quant8=lower_add_quant8, float32=_lower_float(BinaryFunction.ADD)),
        tflite="ADD",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.MUL,
        summary="Product of two tensors, with broadcasting",
        notes=OperationNotes(
            inputs=_INPUT_NOTES,
            outputs=(_OUTPUT_NOTE,),
            limits=("quant8: the output scale is greater than the product of the input scales.",),
            runs=QUANT8_OR_FLOAT,
            cycles=(CycleNote("quant8", "ceil(E / L) * 2"), CycleNote("float32", "ceil(E / F)")),
        ),
        infer=infer_mul,
        npu_refusal=quant8_or_float,
        lower=lower_by_type(quant8=lower_mul_quant8, float32=_lower_float(BinaryFunction.MULTIPLY)),
        tflite="MUL",
        from_tflite=from_tflite,
    )
)
