"""EMBEDDING_LOOKUP and HASHTABLE_LOOKUP."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from compiler.graph import OperandType
from compiler.nnapi import OperationCode
from compiler.operation import (
    ImportedInput,
    OperationSpec,
    OperationView,
    TfliteOperator,
    any_type,
    register,
)
from compiler.operation_notes import CycleNote, OperationNotes, tensor
from compiler.ops import tflite_options
from compiler.ops.common_notes import SAME_QUANTISATION
from compiler.ops.lowering import operation_number, whole_output
from compiler.ops.operands import (
    INT32,
    QUANT8,
    REAL,
    check_counts,
    check_output_keeps_quantization,
    check_output_quantization,
    failed,
    tensor_input,
    tensor_output,
)
from compiler.stage import (
    Access,
    Box,
    LoweringContext,
    Stage,
    StageInput,
    Tile,
    View,
)
from isa.instruction import Instruction, UnitKind
from isa.instructions.gather import Gather, HashGather, HashHits

ANY_TENSOR = (*REAL, INT32)


def infer_embedding(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the output has a row of the values for each lookup."""
    check_counts(view, (2,))
    (lookups,) = tensor_input(view, 0, "lookups", (1,), (INT32,)).dimensions
    values = tensor_input(view, 1, "values", None, ANY_TENSOR)
    rows, *row = values.dimensions
    if not row:
        raise failed(view, f"values (input 1) has rank 1 [{rows}], must have rank 2 or more")
    output = tensor_output(view, values.code, (lookups, *row))
    check_output_keeps_quantization(view, values)
    _check_indices(view, rows)
    return (output,)


def _check_indices(view: OperationView, rows: int) -> None:
    """Refuse a constant lookup beyond the values; others are checked when they are known."""
    value = view.input(0).value
    if value is None:
        return
    indices = value.astype(np.int64)
    outside = np.flatnonzero((indices < 0) | (indices >= rows))
    if outside.size:
        position = int(outside[0])
        raise failed(
            view,
            f"lookups (input 0) holds {indices[position]} at position {position}, must be 0 to {rows - 1}",
        )


def infer_hashtable(view: OperationView) -> tuple[OperandType, ...]:
    """Check everything; the outputs are a row for each lookup, and whether it was found."""
    check_counts(view, (3,), outputs=2)
    (lookups,) = tensor_input(view, 0, "lookups", (1,), (INT32,)).dimensions
    (keys,) = tensor_input(view, 1, "keys", (1,), (INT32,)).dimensions
    values = tensor_input(view, 2, "values", None, ANY_TENSOR)
    rows, *row = values.dimensions
    if rows != keys:
        raise failed(view, f"values (input 2) has {rows} rows, must have one for each of the {keys} keys")
    output = tensor_output(view, values.code, (lookups, *row))
    check_output_keeps_quantization(view, values)
    hits = tensor_output(view, QUANT8, (lookups,), position=1, name="hits (output 1)")
    check_output_quantization(view, 1.0, 0, position=1, name="hits (output 1)")
    _check_sorted(view)
    return output, hits


def _check_sorted(view: OperationView) -> None:
    """Refuse constant keys that descend; equal ones may follow each other."""
    value = view.input(1).value
    if value is None:
        return
    keys = value.astype(np.int64)
    falls = np.flatnonzero(np.diff(keys) < 0)
    if falls.size:
        position = int(falls[0]) + 1
        raise failed(
            view,
            f"keys (input 1) holds {keys[position]} at position {position} after {keys[position - 1]}, must"
            " ascend",
        )


def _integers(view: OperationView, position: int, part: Callable[[Tile], tuple[int, int]]) -> StageInput:
    """An int32 vector at an input position, of which a tile needs the elements [first, last) of `part`."""
    (count,) = view.input(position).type.dimensions
    return StageInput(
        tensor=view.operation.inputs[position],
        shape=(1, 1, 1, count),
        footprint=lambda tile: Box(0, 1, 0, 1, 0, 1, *part(tile)),
        element_bytes=4,
    )


def _all_of(view: OperationView, position: int) -> Callable[[Tile], tuple[int, int]]:
    (count,) = view.input(position).type.dimensions
    return lambda tile: (0, count)


def _pick_stage(
    view: OperationView,
    keys: tuple[StageInput, ...],
    values: int,
    make: Callable[[dict[str, int], tuple[Access, ...]], Instruction],
) -> Stage:
    """A stage with a pixel for each lookup (input 0) and a channel for each element of a row.

    A tile needs its slice of all rows of the values, so a table may be larger than SRAM. `make` makes the
    instruction from the fields that all have, and from the places of `keys`.
    """
    tensor = view.operation.inputs[values]
    rows, *row = view.input(values).type.dimensions
    (lookups,) = view.input(0).type.dimensions
    item_bytes = view.input(values).type.dtype.itemsize
    domain = (1, 1, lookups, math.prod(row))
    table = StageInput(
        tensor=tensor,
        shape=(1, 1, rows, domain[3]),
        footprint=lambda tile: Box(0, 1, 0, 1, 0, rows, tile.c0, tile.c1),
        element_bytes=item_bytes,
    )

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        fields = {
            "unit_mask": unit_mask,
            "lookups": tile.width,
            "lookup_address": inputs[0].address,
            "value_address": inputs[1].address,
            "value_rows": rows,
            "value_row_pitch": inputs[1].pixel_pitch,
            "row_bytes": tile.channels * item_bytes,
            "output_address": output.address,
            "output_row_pitch": output.pixel_pitch,
        }
        return make(fields, inputs[2:])

    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=domain,
        inputs=(_integers(view, 0, lambda tile: (tile.w0, tile.w1)), table, *keys),
        output=whole_output(view, domain),
        emit=emit,
    )


def lower_embedding(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """One stage on the vector unit."""
    return [_pick_stage(view, (), 1, lambda fields, keys: Gather(**fields))]


def lower_hashtable(view: OperationView, context: LoweringContext) -> Sequence[Stage | View]:
    """A stage for the rows and one for the hits, each with its own search."""
    keys = _integers(view, 1, _all_of(view, 1))
    rows = _pick_stage(
        view, (keys,), 2, lambda fields, keys: HashGather(key_address=keys[0].address, **fields)
    )
    return [rows, _hits_stage(view, keys)]


def _hits_stage(view: OperationView, keys: StageInput) -> Stage:
    """A stage with a channel for each lookup."""
    (lookups,) = view.input(0).type.dimensions
    domain = (1, 1, 1, lookups)

    def emit(
        tile: Tile,
        unit_mask: int,
        inputs: tuple[Access, ...],
        output: Access,
        constants: tuple[int, ...],
    ) -> Instruction:
        return HashHits(
            unit_mask=unit_mask,
            lookups=tile.channels,
            lookup_address=inputs[0].address,
            keys=keys.shape[3],
            key_address=inputs[1].address,
            output_address=output.address,
        )

    return Stage(
        operation=operation_number(view),
        kind=UnitKind.VECTOR,
        domain=domain,
        inputs=(_integers(view, 0, lambda tile: (tile.c0, tile.c1)), keys),
        output=whole_output(view, domain, position=1),
        emit=emit,
    )


def embedding_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's EMBEDDING_LOOKUP."""
    return [tflite_options.tensor(operator, i, name) for i, name in enumerate(("lookups", "values"))]


def hashtable_from_tflite(operator: TfliteOperator) -> Sequence[ImportedInput]:
    """Map TFLite's HASHTABLE_LOOKUP."""
    names = ("lookups", "keys", "values")
    return [tflite_options.tensor(operator, position, name) for position, name in enumerate(names)]


register(
    OperationSpec(
        code=OperationCode.EMBEDDING_LOOKUP,
        summary="Rows of a table, picked by their indices",
        notes=OperationNotes(
            inputs=(
                tensor("lookups", (INT32,), (1,), "row numbers, 0 to rows - 1"),
                tensor("values", ANY_TENSOR, None, "[rows, ...], of rank 2 or more"),
            ),
            outputs=(tensor("output", ANY_TENSOR, None, "[lookups, ...]: a row for each lookup"),),
            limits=(SAME_QUANTISATION,),
            runs="NPU, vector unit: every type on every machine",
            cycles=(CycleNote("any type", "ceil(B / L) + 2 * lookups"),),
        ),
        infer=infer_embedding,
        npu_refusal=any_type,
        lower=lower_embedding,
        tflite="EMBEDDING_LOOKUP",
        from_tflite=embedding_from_tflite,
    )
)
register(
    OperationSpec(
        code=OperationCode.HASHTABLE_LOOKUP,
        summary="Rows of a table, picked by ascending keys; zero bytes where there is no such key",
        notes=OperationNotes(
            inputs=(
                tensor("lookups", (INT32,), (1,), "keys to look for"),
                tensor("keys", (INT32,), (1,), "[rows], ascending"),
                tensor("values", ANY_TENSOR, None, "[rows, ...]"),
            ),
            outputs=(
                tensor(
                    "output", ANY_TENSOR, None, "[lookups, ...]: a row for each lookup, 0 bytes for misses"
                ),
                tensor("hits", (QUANT8,), (1,), "[lookups]: 1 for a hit, 0 for a miss"),
            ),
            limits=(SAME_QUANTISATION, "hits have scale 1 and zero point 0."),
            runs="NPU, vector unit: every type on every machine",
            cycles=(
                CycleNote("rows of any type", "ceil(B / L) + (2 + 2 * probes) * lookups"),
                CycleNote("hits", "ceil((keys + lookups) / L) + (1 + 2 * probes) * lookups"),
            ),
        ),
        infer=infer_hashtable,
        npu_refusal=any_type,
        lower=lower_hashtable,
        tflite="HASHTABLE_LOOKUP",
        from_tflite=hashtable_from_tflite,
    )
)
