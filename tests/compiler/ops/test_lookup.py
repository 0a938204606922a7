from collections.abc import Callable, Sequence

import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperationCode, ResultCode
from tests.support.one_operation import Given, float32, int32, operation, quant8
from tests.support.operations import all_inferred, inferred, refused

OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
HITS = quant8(scale=1.0, zero_point=0)
TABLE, UNSHAPED = float32(4, 2), float32()


def numbers(values: Sequence[int]) -> tuple[OperandType, Sequence[int]]:
    return int32(len(values)), values


def embedding(lookups: Given, values: OperandType = TABLE, output: OperandType = UNSHAPED) -> Graph:
    return operation(OperationCode.EMBEDDING_LOOKUP, [lookups, values], [output])


def hashtable(
    lookups: Given,
    keys: Given,
    values: OperandType = TABLE,
    outputs: Sequence[OperandType] = (UNSHAPED, HITS),
) -> Graph:
    return operation(OperationCode.HASHTABLE_LOOKUP, [lookups, keys, values], outputs)


@pytest.mark.parametrize("kind", [float32, int32, quant8])
@pytest.mark.parametrize("numerics", list(Numerics))
def test_each_lookup_gives_a_row_of_any_type(kind: Callable[..., OperandType], numerics: Numerics) -> None:
    graph = embedding(int32(3), kind(7, 2, 4, 1, 1), kind())
    assert inferred(graph, numerics) == kind(3, 2, 4, 1, 1)


@pytest.mark.parametrize("index", [4, -1])
def test_a_constant_lookup_beyond_the_rows_fails(index: int) -> None:
    graph = embedding(numbers([0, index, 3]))
    refused(graph, f"lookups (input 0) holds {index} at position 1, must be 0 to 3", OP_FAILED)


def test_the_last_row_may_be_looked_up() -> None:
    assert inferred(embedding(numbers([3, 0]))) == float32(2, 2)


@pytest.mark.parametrize(
    ("graph", "fragment", "code"),
    [
        (embedding(float32(3)), "lookups (input 0) is TENSOR_FLOAT32, must be TENSOR_INT32", BAD_DATA),
        (embedding(int32(1, 3)), "lookups (input 0) has rank 2 [1, 3], must have rank 1", OP_FAILED),
        (embedding(int32(3), float32(4)), "values (input 1) has rank 1 [4], must have rank 2", OP_FAILED),
        (embedding(int32(3), output=quant8()), "output is TENSOR_QUANT8_ASYMM", BAD_DATA),
        (embedding(int32(3), quant8(4, 2), quant8(scale=2.0)), "does not rescale", OP_FAILED),
    ],
)
def test_operands_that_no_embedding_can_have(graph: Graph, fragment: str, code: ResultCode) -> None:
    refused(graph, fragment, code)


@pytest.mark.parametrize("kind", [float32, int32, quant8])
def test_a_hashtable_gives_rows_and_hits(kind: Callable[..., OperandType]) -> None:
    graph = hashtable(int32(3), int32(4), kind(4, 2), (kind(), HITS))
    assert all_inferred(graph) == [(3, 2), (3,)]


def test_equal_keys_may_follow_each_other() -> None:
    assert all_inferred(hashtable(int32(3), numbers([-5, 0, 0, 9]))) == [(3, 2), (3,)]


def test_constant_keys_that_descend_fail() -> None:
    graph = hashtable(int32(3), numbers([-(2**31), 5, 2**31 - 1, 4]))
    refused(graph, "keys (input 1) holds 4 at position 3 after 2147483647, must ascend", OP_FAILED)


@pytest.mark.parametrize(
    ("graph", "fragment", "code"),
    [
        (hashtable(int32(3), int32(5)), "values (input 2) has 4 rows, must have one for each of", OP_FAILED),
        (hashtable(int32(3), float32(4)), "keys (input 1) is TENSOR_FLOAT32", BAD_DATA),
        (hashtable(int32(3), int32(2, 2)), "keys (input 1) has rank 2", OP_FAILED),
        (hashtable(int32(3), int32(4), outputs=[UNSHAPED]), "has 1 outputs, must have 2", BAD_DATA),
        (
            hashtable(int32(3), int32(4), outputs=[UNSHAPED, UNSHAPED]),
            "hits (output 1) is TENSOR_FLOAT32, must be TENSOR_QUANT8_ASYMM",
            BAD_DATA,
        ),
        (
            hashtable(int32(3), int32(4), outputs=[UNSHAPED, quant8(scale=0.5)]),
            "hits (output 1) has scale 0.5 and zero point 0, must have scale 1 and zero point 0",
            OP_FAILED,
        ),
        (
            hashtable(int32(3), int32(4), quant8(4, 2), [quant8(scale=2.0), HITS]),
            "does not rescale",
            OP_FAILED,
        ),
    ],
)
def test_operands_that_no_hashtable_can_have(graph: Graph, fragment: str, code: ResultCode) -> None:
    refused(graph, fragment, code)


def test_declared_hits_must_have_a_place_for_each_lookup() -> None:
    graph = hashtable(int32(3), int32(4), outputs=[UNSHAPED, quant8(4)])
    refused(graph, "output 1 is declared as [4], the operation makes [3]", OP_FAILED)


def test_a_constant_lookup_without_a_key_is_a_miss_and_no_failure() -> None:
    assert all_inferred(hashtable(numbers([9, -9]), numbers([0, 1, 2, 3]))) == [(2, 2), (2,)]
