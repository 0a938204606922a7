"""LSH_PROJECTION: locality sensitive hashing of a list of items to bits."""

import math

import numpy as np

from compiler.nnapi import OperandCode, OperationCode, ResultCode
from compiler.reference.hashing import fingerprint_64
from compiler.reference.registry import Array, Call, reference

_SPARSE_27, _DENSE, _SPARSE = 1, 2, 3
"""Projection types; the last came with level 29."""
_MAX_BITS = 32
_ANY_TYPE = (OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_INT32, OperandCode.TENSOR_QUANT8_ASYMM)


@reference(OperationCode.LSH_PROJECTION)
def lsh_projection(call: Call) -> list[Array]:
    """One bit for each seed: whether the weighted sum of the items' hashes is positive.

    Seeds are float32 [hashes, bits]. Dense gives the bits, int32 [hashes · bits]; sparse packs those of a
    hash into one int32, the first bit highest, and with level 29's type 3 adds the hash's number · 2^bits.
    """
    call.expect_count(4)
    call.result(OperandCode.TENSOR_INT32)
    seeds = call.real(0)
    call.expect_rank(0, 2)
    kind = _projection_type(call)
    bits = _bits(call, seeds)
    if kind == _DENSE:
        return [bits.astype(np.int32).ravel()]
    hashes, width = seeds.shape
    packed = (bits.astype(np.uint64) << np.arange(width, dtype=np.uint64)[::-1]).sum(axis=1)
    if kind == _SPARSE:
        packed += np.arange(hashes, dtype=np.uint64) << np.uint64(width)
    return [packed.astype(np.uint32).view(np.int32)]


def _projection_type(call: Call) -> int:
    kind = call.integer(3)
    allowed = (_SPARSE_27, _DENSE) if call.is_level_27 else (_SPARSE_27, _DENSE, _SPARSE)
    if kind not in allowed:
        raise call.error(f"projection type {kind} is none of {list(allowed)}")
    if call.has(2) != (kind == _DENSE):
        rule = "must" if kind == _DENSE else "must not"
        raise call.error(f"projection type {kind} {rule} have weights (input 2)")
    width = call.real(0).shape[1]
    if width > _MAX_BITS:
        raise call.error(f"{width} seeds per hash; at most {_MAX_BITS} are allowed")
    return kind


def _bits(call: Call, seeds: Array) -> Array:
    """Truth values of the shape of `seeds`."""
    items = _items(call)
    count = items.shape[0]
    weights = call.real(2).astype(np.float64) if call.has(2) else np.ones(count)
    if weights.shape != (count,):
        raise call.error(f"weights (input 2) are {list(weights.shape)}; they must be [{count}], one per item")
    bits = np.zeros(seeds.shape, np.bool_)
    for place, seed in np.ndenumerate(seeds.astype("<f4")):
        prefix = np.broadcast_to(np.frombuffer(seed.tobytes(), np.uint8), (count, 4))
        hashes = fingerprint_64(np.concatenate([prefix, items], axis=1)).view(np.int64)
        # `cumsum` adds one by one as the definition does; `sum` adds pairs.
        scores = np.cumsum(weights * hashes.astype(np.float64))
        bits[place] = count > 0 and scores[-1] > 0
    return bits


def _items(call: Call) -> Array:
    """The bytes of input 1 as uint8 [items, bytes of an item]; items are counted by its first dimension."""
    if not call.has(1):
        raise call.error("input 1 has no value", ResultCode.BAD_DATA)
    values = call.any_tensor(1, *_ANY_TYPE)
    if values.ndim < 1:
        raise call.error("the items (input 1) have rank 0, at least 1 is expected")
    item_bytes = values.dtype.itemsize * math.prod(values.shape[1:])
    little_endian = values.astype(values.dtype.newbyteorder("<"))
    return np.frombuffer(little_endian.tobytes(), np.uint8).reshape(values.shape[0], item_bytes)
