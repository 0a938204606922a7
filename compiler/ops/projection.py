"""LSH_PROJECTION."""

import enum
from collections.abc import Sequence

import numpy as np

from compiler.errors import UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import OperationCode
from compiler.operation import (
    ConstantInput,
    ImportedInput,
    OmittedInput,
    OperationSpec,
    OperationView,
    TfliteOperator,
    not_on_npu,
    register,
)
from compiler.operation_notes import OperationNotes, scalar, tensor
from compiler.ops import tflite_options
from compiler.ops.operands import (
    FLOAT32,
    INT32,
    REAL,
    check_counts,
    check_shape,
    failed,
    int32_scalar,
    is_absent,
    is_level_27,
    tensor_input,
    tensor_output,
)

MAX_BITS = 32
"""Seeds of one hash function, each of which gives a bit of an int32."""


class ProjectionType(enum.IntEnum):
    """What an LSH_PROJECTION returns: one number for each hash function, or each of its bits alone.

    Type 1 is the sparse projection of level 27; level 29 added type 3, which offsets each number by its
    place x 2^bits.
    """

    SPARSE = 1
    DENSE = 2
    SPARSE_OFFSET = 3


def infer(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output is int32, [hash functions] or, if dense, [hash functions x seeds]."""
    check_counts(view, (4,))
    functions, bits = tensor_input(view, 0, "hash functions", (2,), (FLOAT32,)).dimensions
    if bits > MAX_BITS:
        raise failed(
            view, f"hash functions (input 0) has {bits} seeds per function, must have at most {MAX_BITS}"
        )
    items = tensor_input(view, 1, "input", None, (*REAL, INT32)).dimensions[0]
    kind = _projection_type(view)
    _check_weights(view, items, kind)
    length = functions * bits if kind is ProjectionType.DENSE else functions
    return (tensor_output(view, INT32, (length,)),)


def _projection_type(view: OperationView) -> ProjectionType:
    value = int32_scalar(view, 3, "projection type")
    kinds = list(ProjectionType)[: 2 if is_level_27(view) else 3]
    if value not in kinds:
        allowed = ", ".join(f"{kind.value} ({kind.name})" for kind in kinds)
        raise failed(view, f"projection type (input 3) is {value}, must be one of {allowed}")
    return ProjectionType(value)


def _check_weights(view: OperationView, items: int, kind: ProjectionType) -> None:
    """A dense projection has weights, a sparse one has none."""
    if kind is ProjectionType.DENSE and is_absent(view, 2):
        raise failed(view, "weight (input 2) is omitted; a dense projection must have one")
    if is_absent(view, 2):
        return
    tensor_input(view, 2, "weight", (1,), (FLOAT32,))
    check_shape(view, 2, "weight", (items,), "one for each item of the input")
    # A model input may still be left out at execution.
    if kind is not ProjectionType.DENSE and not view.is_model_input(2):
        raise failed(view, "weight (input 2) is given; a sparse projection must have none")


def from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's LSH_PROJECTION: its sparse type is level 29's, its dense one may leave the weights out."""
    kind = tflite_options.option(operator, "type")
    weight = tflite_options.optional_tensor(operator, 2)
    common = [tflite_options.tensor(operator, i, name) for i, name in enumerate(("hash functions", "input"))]
    if kind == "DENSE":
        items = tflite_options.dimension(operator, 1, "input", 0)
        ones = ConstantInput(OperandType(FLOAT32, (items,)), np.ones(items, np.float32))
        return [*common, weight or ones, tflite_options.int32(ProjectionType.DENSE)]
    if kind != "SPARSE":
        raise UnsupportedError(
            f"{tflite_options.label(operator)}: type {kind} is not in NNAPI (SPARSE, DENSE)"
        )
    if weight is not None:
        raise UnsupportedError(
            f"{tflite_options.label(operator)}: a sparse projection with weights is not in NNAPI"
        )
    omitted = OmittedInput(OperandType(FLOAT32, (0,)))
    return [*common, omitted, tflite_options.int32(ProjectionType.SPARSE_OFFSET)]


_NO_HASHES = "hashes in double precision, which no unit of the NPU computes"

register(
    OperationSpec(
        code=OperationCode.LSH_PROJECTION,
        summary="Signs of random projections: locality sensitive hashing",
        notes=OperationNotes(
            inputs=(
                tensor("hash functions", (FLOAT32,), (2,), "[functions, seeds]; at most 32 seeds"),
                tensor("input", (*REAL, INT32), None, "[items, ...]"),
                tensor(
                    "weight",
                    (FLOAT32,),
                    (1,),
                    "[items]; a dense projection has one, a sparse one not",
                    optional=True,
                ),
                scalar("type", "1 (SPARSE), 2 (DENSE), or, from level 29 on, 3 (SPARSE_OFFSET)"),
            ),
            outputs=(
                tensor(
                    "output",
                    (INT32,),
                    (1,),
                    "[functions]: a number of seeds bits; dense: [functions x seeds]",
                ),
            ),
            runs=f"host: {_NO_HASHES}",
        ),
        infer=infer,
        npu_refusal=not_on_npu(_NO_HASHES),
        lower=None,
        tflite="LSH_PROJECTION",
        from_tflite=from_tflite,
    )
)
