from typing import Any

import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import OperationCode, ResultCode
from tests.compiler.reference.calls import FLOAT, INT32, Array, compute_all, integers, shaped
from tests.support.one_operation import quant8

BYTES = quant8(scale=0.5, zero_point=3)
HITS = quant8(scale=1.0)
KINDS = pytest.mark.parametrize("kind", [BYTES, FLOAT, INT32])
ROWS = np.arange(12).reshape(3, 2, 2)


def embed(lookups: Any, values: Any, kind: OperandType = BYTES, output: OperandType | None = None) -> Array:
    inputs = [integers(lookups), shaped(kind, values)]
    return compute_all(OperationCode.EMBEDDING_LOOKUP, inputs, [output or kind])[0]


def hashed(
    lookups: Any, keys: Any, values: Any, kind: OperandType = BYTES, hits: OperandType = HITS
) -> list[Any]:
    inputs = [integers(lookups), integers(keys), shaped(kind, values)]
    outputs = compute_all(OperationCode.HASHTABLE_LOOKUP, inputs, [kind, hits])
    assert outputs[0].dtype == kind.dtype
    assert outputs[1].dtype == np.uint8
    return [output.tolist() for output in outputs]


def refused(code: ResultCode, fragment: str, function: Any, *arguments: Any) -> None:
    with pytest.raises(GraphError, match=fragment) as caught:
        function(*arguments)
    assert caught.value.result_code is code


@KINDS
def test_an_embedding_gives_the_rows_in_the_order_of_the_lookups(kind: OperandType) -> None:
    assert embed([2, 0, 2], ROWS, kind).tolist() == ROWS[[2, 0, 2]].tolist()


@pytest.mark.parametrize("lookup", [-1, 3])
def test_a_lookup_outside_the_table_fails(lookup: int) -> None:
    refused(ResultCode.OP_FAILED, f"lookup {lookup} is outside the 3 rows", embed, [0, lookup], ROWS)


def test_an_embedding_needs_rows_and_a_list() -> None:
    refused(ResultCode.OP_FAILED, "rank 1, at least 2", embed, [0], [1, 2])
    refused(ResultCode.OP_FAILED, "rank 2, expected 1", embed, [[0]], ROWS)
    refused(ResultCode.OP_FAILED, "does not rescale", embed, [0], ROWS, BYTES, HITS)
    refused(ResultCode.BAD_DATA, "output 0 is TENSOR_FLOAT32", embed, [0], ROWS, BYTES, FLOAT)


@KINDS
def test_a_hit_gives_the_row_of_its_key_and_a_miss_zeros(kind: OperandType) -> None:
    # Zero bytes, not the zero point.
    output = hashed([40, 10, 25, -5, 41], [10, 20, 40], [[1, 2], [3, 4], [5, 6]], kind)
    assert output == [[[5, 6], [1, 2], [0, 0], [0, 0], [0, 0]], [1, 1, 0, 0, 0]]


def test_rows_of_a_hashtable_may_be_single_elements() -> None:
    assert hashed([20, 21], [10, 20], [7, 8]) == [[8, 0], [1, 0]]


def test_of_equal_keys_the_first_counts() -> None:
    assert hashed([10], [10, 10, 20], [[1], [2], [3]]) == [[[1]], [1]]


def test_an_empty_hashtable_has_no_hits() -> None:
    assert hashed([1, 2], [], np.zeros((0, 2))) == [[[0, 0], [0, 0]], [0, 0]]


def test_keys_that_do_not_ascend_fail() -> None:
    refused(ResultCode.OP_FAILED, "key 20 at 1 is followed by 15", hashed, [1], [10, 20, 15], [[1], [2], [3]])


def test_a_hashtable_has_one_row_per_key() -> None:
    refused(ResultCode.OP_FAILED, "one row for each of 2 keys", hashed, [1], [10, 20], [[1], [2], [3]])


def test_hits_are_bytes_of_scale_one() -> None:
    refused(ResultCode.OP_FAILED, "must be 1 and 0", hashed, [1], [1], [[1]], BYTES, BYTES)
    refused(ResultCode.BAD_DATA, "output 1 is TENSOR_INT32", hashed, [1], [1], [[1]], BYTES, INT32)
