"""RESHAPE and CONCATENATION."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from compiler.copying import move_stage
from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from compiler.operation import (
    ConstantInput,
    ImportedInput,
    OperationSpec,
    OperationView,
    TfliteOperator,
    any_type,
    register,
)
from compiler.operation_notes import CycleNote, OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import SAME_QUANTISATION
from compiler.ops.lowering import at_origin, image_shape, operation_number, table_stage, whole_output
from compiler.ops.operands import (
    INT32,
    RANKS_TO_4,
    REAL,
    check_counts,
    check_output_keeps_quantization,
    failed,
    int32_scalar,
    is_level_27,
    same_quantization,
    tensor_input,
    tensor_output,
    unsupported,
)
from compiler.stage import LoweringContext, Stage, View

MAX_RANK = 4


def reshaped(view: OperationView) -> tuple[int, ...]:
    """Output shape of a RESHAPE, its -1 (if any) resolved.

    A shape operand that is not constant is taken from the output's declared dimensions.
    """
    elements = math.prod(view.input(0).type.dimensions)
    shape = _requested_shape(view)
    known = math.prod(n for n in shape if n != -1)
    if any(n < 1 and n != -1 for n in shape) or shape.count(-1) > 1 or not 1 <= len(shape) <= MAX_RANK:
        raise failed(
            view,
            f"shape (input 1) is {list(shape)}, must have 1 to {MAX_RANK} dimensions of at least 1,"
            " one of which may be -1",
        )
    if elements != known and (-1 not in shape or elements % known):
        raise failed(
            view,
            f"shape (input 1) is {list(shape)}, must have the {elements} elements of the input"
            f" {list(view.input(0).type.dimensions)}",
        )
    return tuple(elements // known if n == -1 else n for n in shape)


def _requested_shape(view: OperationView) -> tuple[int, ...]:
    value = view.input(1).value
    if value is not None:
        return tuple(int(n) for n in value)
    declared = view.output().type.dimensions
    if not declared or 0 in declared:
        raise unsupported(
            view,
            f"shape (input 1) is not constant and the output's dimensions {list(declared)} are not"
            " specified; one of them must be",
        )
    return declared


def infer_reshape(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has the requested shape and the input's quantisation."""
    check_counts(view, (2,))
    input_type = tensor_input(view, 0, "input", RANKS_TO_4, (*REAL, INT32))
    tensor_input(view, 1, "shape", (1,), (INT32,))
    output = tensor_output(view, input_type.code, reshaped(view))
    check_output_keeps_quantization(view, input_type)
    return (output,)


def reshape_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's RESHAPE; the new shape is its second input, else its option."""
    source = tflite_options.tensor(operator, 0, "input")
    shape = tflite_options.optional_tensor(operator, 1)
    if shape is not None:
        return [source, shape]
    value = np.asarray(tflite_options.option(operator, "new_shape"), np.int32)
    return [source, ConstantInput(OperandType(OperandCode.TENSOR_INT32, value.shape), value)]


def concatenation_axis(view: OperationView) -> int:
    """The axis of a CONCATENATION, counted from 0."""
    position = len(view.operation.inputs) - 1
    axis = int32_scalar(view, position, "axis")
    rank = len(view.input(0).type.dimensions)
    if not 0 <= axis < rank:
        raise failed(view, f"axis (input {position}) is {axis}, must be 0 to {rank - 1}")
    return axis


def infer_concatenation(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output's axis is the sum of the inputs' axes, other dimensions agree."""
    count = len(view.operation.inputs) - 1
    if count < 1:
        raise view.error(f"has {count + 1} inputs, must have at least 2 (tensors and the axis)")
    check_counts(view, (count + 1,))
    code = tensor_input(view, 0, "tensor", RANKS_TO_4).code
    types = [tensor_input(view, position, "tensor", RANKS_TO_4, (code,)) for position in range(count)]
    axis = concatenation_axis(view)
    first = types[0].dimensions
    for position, type_ in enumerate(types):
        _check_joinable(view, position, type_.dimensions, axis)
        _check_level_27(view, position, type_)
    total = sum(type_.dimensions[axis] for type_ in types)
    return (tensor_output(view, code, (*first[:axis], total, *first[axis + 1 :])),)


def _check_joinable(view: OperationView, position: int, shape: tuple[int, ...], axis: int) -> None:
    first = view.input(0).type.dimensions
    others = shape[:axis] + shape[axis + 1 :]
    if len(shape) != len(first) or others != first[:axis] + first[axis + 1 :]:
        raise failed(
            view,
            f"tensor (input {position}) has shape {list(shape)}, must equal the first {list(first)} in every"
            f" dimension but {axis}",
        )


def _check_level_27(view: OperationView, position: int, type_: OperandType) -> None:
    output = view.output().type
    if not is_level_27(view) or same_quantization(type_, output):
        return
    raise failed(
        view,
        f"tensor (input {position}) has scale {type_.scale:.9g} and zero point {type_.zero_point}, must have"
        f" the output's (scale {output.scale:.9g}, zero point {output.zero_point}) at NNAPI level 27"
        " (numerics nnapi27)",
    )


def concatenation_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's CONCATENATION; a negative axis counts from the end, a fused activation is refused."""
    activation = tflite_options.option(operator, "fused_activation_function")
    if activation != "NONE":
        raise GraphError(
            f"{tflite_options.label(operator)}: fused activation {activation} in the file, must be NONE"
        )
    count = len(operator.inputs)
    tensors = [tflite_options.tensor(operator, position, "tensor") for position in range(count)]
    axis = int(tflite_options.option(operator, "axis"))
    rank = len(tensors[0].type.dimensions) if tensors else 0
    return [*tensors, tflite_options.int32(axis + rank if axis < 0 else axis)]


def lower_reshape(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """No work: the output is a view of the input."""
    return [View(view.operation.inputs[0], view.operation.outputs[0])]


def rescale_table(source: OperandType, output: OperandType) -> npt.NDArray[np.uint8]:
    """CONCATENATION's rescaling of every code, uint8 [256]; single precision, multiply then add.

    Rounds half away from zero, as quant8 semantics (section 8) of level 29 prescribe.
    """
    factor = np.float32(source.scale) * (np.float32(1) / np.float32(output.scale))
    offset = np.float32(-source.zero_point) * factor
    real = np.arange(256, dtype=np.float32) * factor + offset
    steps = np.trunc(real + np.copysign(np.float32(0.5), real)).astype(np.float64)
    table: npt.NDArray[np.uint8] = np.clip(steps + output.zero_point, 0, 255).astype(np.uint8)
    return table


def lower_concatenation(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A stage for each input that writes its part of the output: a copy, or a table where it is rescaled."""
    output_type = view.output().type
    shape = image_shape(output_type.dimensions)
    axis = concatenation_axis(view) + 4 - len(output_type.dimensions)
    stages, start = [], 0
    for source in view.operation.inputs[:-1]:
        type_ = view.graph.operands[source].type
        domain = image_shape(type_.dimensions)
        n, h, w, c = (start if i == axis else 0 for i in range(4))
        whole = whole_output(view, shape)
        output = dataclasses.replace(whole, box=at_origin((n, h, w, c)))
        if same_quantization(type_, output_type):
            stages.append(move_stage(operation_number(view), source, domain, output))
        else:
            stages.append(table_stage(view, source, domain, rescale_table(type_, output_type), output))
        start += domain[axis]
    return stages


register(
    OperationSpec(
        code=OperationCode.RESHAPE,
        summary="The same elements in another shape",
        notes=OperationNotes(
            inputs=(
                tensor("input", (*REAL, INT32), RANKS_TO_4, "any shape"),
                tensor("shape", (INT32,), (1,), "1 to 4 dimensions, one of which may be -1: what is left"),
            ),
            outputs=(tensor("output", (*REAL, INT32), RANKS_TO_4, "that shape; as many elements"),),
            limits=(
                SAME_QUANTISATION,
                "A shape that is not constant is taken from the output's declared dimensions.",
            ),
            runs="NPU: every type on every machine",
            cycles=(
                CycleNote(
                    "where both tensors must exist, such as input and output of the model; else none",
                    "ceil(B / L)",
                ),
            ),
        ),
        infer=infer_reshape,
        npu_refusal=any_type,
        lower=lower_reshape,
        tflite="RESHAPE",
        from_tflite=reshape_from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.CONCATENATION,
        summary="Tensors joined along one axis, rescaled to the output's quantisation",
        notes=OperationNotes(
            inputs=(
                tensor("tensors", REAL, RANKS_TO_4, "of one type; equal but for the axis", counts=()),
                scalar("axis", "0 to rank - 1"),
            ),
            outputs=(tensor("output", REAL, RANKS_TO_4, "its axis is the sum of the tensors' axes"),),
            limits=("quant8, level 27: scale and zero point are the same for all tensors.",),
            runs="NPU, vector unit: every type on every machine",
            cycles=(
                CycleNote("each tensor of the output's quantisation", "ceil(B / L)"),
                CycleNote("each tensor that is rescaled, from a table of 256 entries", "ceil(E / L)"),
            ),
        ),
        infer=infer_concatenation,
        npu_refusal=any_type,
        lower=lower_concatenation,
        tflite="CONCATENATION",
        from_tflite=concatenation_from_tflite,
    )
)
