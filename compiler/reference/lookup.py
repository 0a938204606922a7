"""Operations that pick rows of a table: EMBEDDING_LOOKUP and HASHTABLE_LOOKUP."""

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from compiler.reference.registry import Array, Call, reference

_ANY_TYPE = (OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_INT32, OperandCode.TENSOR_QUANT8_ASYMM)


@reference(OperationCode.EMBEDDING_LOOKUP)
def embedding_lookup(call: Call) -> list[Array]:
    """The rows of `values` (rank ≥ 2) that `lookups` number."""
    call.expect_count(2)
    lookups, values = call.tensor(0, OperandCode.TENSOR_INT32), call.any_tensor(1, *_ANY_TYPE)
    call.expect_rank(0, 1)
    if values.ndim < 2:
        raise call.error(f"values (input 1) have rank {values.ndim}, at least 2 is expected")
    call.expect_kept_type(1)
    rows = values.shape[0]
    outside = lookups[(lookups < 0) | (lookups >= rows)]
    if outside.size:
        raise call.error(f"lookup {outside[0]} is outside the {rows} rows of values: 0…{rows - 1}")
    return [values[lookups]]


@reference(OperationCode.HASHTABLE_LOOKUP, outputs=2)
def hashtable_lookup(call: Call) -> list[Array]:
    """The rows of `values` whose key equals a lookup, zero bytes where none does; and which were hit.

    Keys ascend. Keys that do not are refused, though NNAPI leaves open what happens then; of equal keys the
    first counts, which NNAPI leaves open too.
    """
    call.expect_count(3)
    lookups, keys = (call.tensor(position, OperandCode.TENSOR_INT32) for position in (0, 1))
    values = call.any_tensor(2, *_ANY_TYPE)
    call.expect_rank(0, 1)
    call.expect_rank(1, 1)
    if values.ndim < 1 or values.shape[0] != keys.size:
        raise call.error(
            f"values are {list(values.shape)}; they must have one row for each of {keys.size} keys"
        )
    call.expect_kept_type(2)
    _check_hits(call)
    descents = np.flatnonzero(keys[1:] < keys[:-1])
    if descents.size:
        place = int(descents[0])
        raise call.error(
            f"key {keys[place]} at {place} is followed by {keys[place + 1]}; keys must be in ascending order"
        )
    output = np.zeros((lookups.size, *values.shape[1:]), values.dtype)
    places = np.searchsorted(keys, lookups)
    hits = np.zeros(lookups.size, np.bool_)
    inside = places < keys.size
    hits[inside] = keys[places[inside]] == lookups[inside]
    output[hits] = values[places[hits]]
    return [output, hits.astype(np.uint8)]


def _check_hits(call: Call) -> None:
    """Refuse a second output that cannot hold truth values."""
    kind = call.quant8_result(1)
    if (kind.scale, kind.zero_point) != (1.0, 0):
        raise call.error(f"hits have scale {kind.scale} and zero point {kind.zero_point}, must be 1 and 0")
