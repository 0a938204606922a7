"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D."""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from compiler.operation import (
    ImportedInput,
    OperationSpec,
    OperationView,
    TfliteOperator,
    quant8_or_float,
    register,
)
from compiler.operation_notes import CycleNote, OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import (
    DATA_LAYOUT,
    FUSED_ACTIVATION,
    NHWC_WINDOWS,
    PADDING,
    SAME_QUANTISATION,
    STRIDES,
)
from compiler.ops.float_lowering import Lower, float_clamp, lower_by_type
from compiler.ops.layout import Layout, data_layout, layout_refusal
from compiler.ops.lowering import (
    image_shape,
    operation_number,
    whole_output,
    window_fields,
    window_footprint,
)
from compiler.ops.operands import (
    FLOAT32,
    QUANT8,
    REAL,
    check_output_keeps_quantization,
    fused_activation,
    positive_scalar,
    tensor_input,
    tensor_output,
)
from compiler.ops.quantization import activation_range
from compiler.ops.window import Window, locate_window, parse_window, window_refusal
from compiler.stage import Access, LoweringContext, Stage, StageInput, Tile, View
from isa.instruction import Instruction, UnitKind
from isa.instructions.float_vector import FloatPool, FloatPoolMode
from isa.instructions.vector import Pool, PoolMode
from isa.target import Target


@dataclasses.dataclass(frozen=True, slots=True)
class PoolingAttributes:
    """Data layout, window and fused activation of a pool."""

    layout: Layout
    window: Window
    activation: FuseCode


def parse(view: OperationView, codes: Collection[OperandCode] = REAL) -> PoolingAttributes:
    """Read the attributes of a pool of tensors of `codes`; GraphError if one is not permitted."""
    operands = locate_window(view, first=1, own=3, dilatable=False)
    image = tensor_input(view, 0, "input", (4,), codes)
    filter_width = positive_scalar(view, operands.rest, "filter width")
    filter_height = positive_scalar(view, operands.rest + 1, "filter height")
    layout = data_layout(view, operands.layout)
    size = layout.nhwc(image.dimensions)[1:3]
    window = parse_window(view, operands, size, (filter_height, filter_width))
    return PoolingAttributes(layout, window, fused_activation(view, operands.rest + 2))


def _infer(view: OperationView, attributes: PoolingAttributes) -> tuple[OperandType, ...]:
    input_type, layout = view.input(0).type, attributes.layout
    batches, height, width, depth = layout.nhwc(input_type.dimensions)
    shape = (batches, *attributes.window.output_size(height, width), depth)
    output = tensor_output(view, input_type.code, layout.arrange(shape))
    check_output_keeps_quantization(view, input_type)
    return (output,)


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, rows, columns, depth], quantised as the input."""
    return _infer(view, parse(view))


def infer_l2(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is [batches, rows, columns, depth], float32 only."""
    return _infer(view, parse(view, (FLOAT32,)))


def npu_refusal(view: OperationView, target: Target) -> str | None:
    """The vector unit pools images in NHWC, with windows that an instruction can hold."""
    attributes = parse(view)
    unfit = layout_refusal(attributes.layout) or window_refusal(attributes.window)
    return quant8_or_float(view, target) or unfit


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map a TFLite pool: implicit padding."""
    return [
        tflite_options.tensor(operator, 0, "input"),
        *tflite_options.padding_and_strides(operator),
        tflite_options.int32(tflite_options.option(operator, "filter_width")),
        tflite_options.int32(tflite_options.option(operator, "filter_height")),
        tflite_options.fused_activation(operator),
    ]


def _stage(
    view: OperationView, window: Window, instruction: Callable[..., Instruction], fixed: dict[str, Any]
) -> Stage:
    """The stage of a pool; `fixed` are the fields that do not depend on the tile."""
    image = image_shape(view.input(0).type.dimensions)
    domain = image_shape(view.output().type.dimensions)
    element_bytes = view.input(0).type.dtype.itemsize
    footprint = window_footprint(window, image, lambda tile: (tile.c0, tile.c1))

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        geometry = window_fields(window, tile, footprint(tile), inputs[0], output)
        return instruction(unit_mask=unit_mask, **fixed, **geometry)

    tensor = view.operation.inputs[0]
    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=domain,
        inputs=(StageInput(tensor=tensor, shape=image, footprint=footprint, element_bytes=element_bytes),),
        output=whole_output(view, domain),
        emit=emit,
        can_clamp=view.input(0).type.code is QUANT8,
    )


def _lower_quant8(mode: PoolMode) -> Lower:
    """One stage on the vector unit's integer lanes."""

    def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
        attributes = parse(view)
        clamp_min, clamp_max = activation_range(attributes.activation, view.output().type)
        fixed = {"mode": mode, "clamp_min": clamp_min, "clamp_max": clamp_max}
        return [_stage(view, attributes.window, Pool, fixed)]

    return lower


def _lower_float(mode: FloatPoolMode) -> Lower:
    """One stage on the vector unit's float lanes."""

    def lower(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
        attributes = parse(view)
        fixed = {"mode": mode, **float_clamp(attributes.activation)}
        return [_stage(view, attributes.window, FloatPool, fixed)]

    return lower


def _notes(types: tuple[OperandCode, ...], limits: tuple[str, ...], *cycles: CycleNote) -> OperationNotes:
    """Notes on a pool."""
    floats_only = QUANT8 not in types
    where = "float32 where the machine has float lanes" if floats_only else "float32 where it has float lanes"
    return OperationNotes(
        inputs=(
            tensor("input", types, (4,), "[batches, height, width, depth]"),
            PADDING,
            STRIDES,
            scalar("filter size", "width, height; at least 1", counts=(2,)),
            FUSED_ACTIVATION,
            DATA_LAYOUT,
        ),
        outputs=(tensor("output", types, (4,), "[batches, output rows, output columns, depth]"),),
        limits=limits,
        runs=f"NPU, vector unit: {'' if floats_only else 'quant8, '}{where}; {NHWC_WINDOWS}; else host",
        cycles=cycles,
    )


register(
    OperationSpec(
        code=OperationCode.AVERAGE_POOL_2D,
        summary="Mean of each window's valid pixels",
        notes=_notes(
            REAL,
            (SAME_QUANTISATION,),
            CycleNote("quant8", "ceil(E / L) * (taps + 1)"),
            CycleNote("float32", "ceil(E / F) * (taps + 5)"),
        ),
        infer=infer,
        npu_refusal=npu_refusal,
        lower=lower_by_type(
            quant8=_lower_quant8(PoolMode.AVERAGE), float32=_lower_float(FloatPoolMode.AVERAGE)
        ),
        tflite="AVERAGE_POOL_2D",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.MAX_POOL_2D,
        summary="Largest of each window's valid pixels",
        notes=_notes(
            REAL,
            (SAME_QUANTISATION,),
            CycleNote("quant8", "ceil(E / L) * taps"),
            CycleNote("float32", "ceil(E / F) * taps"),
        ),
        infer=infer,
        npu_refusal=npu_refusal,
        lower=lower_by_type(quant8=_lower_quant8(PoolMode.MAX), float32=_lower_float(FloatPoolMode.MAX)),
        tflite="MAX_POOL_2D",
        from_tflite=from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.L2_POOL_2D,
        summary="Square root of the mean square of each window's valid pixels",
        notes=_notes((FLOAT32,), (), CycleNote("float32", "ceil(E / F) * (2 * taps + 16)")),
        infer=infer_l2,
        npu_refusal=npu_refusal,
        lower=_lower_float(FloatPoolMode.L2),
        tflite="L2_POOL_2D",
        from_tflite=from_tflite,
    )
)
