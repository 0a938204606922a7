import struct
from typing import Any

import numpy as np
import pytest

from compiler.errors import GraphError
from compiler.nnapi import Numerics, OperationCode, ResultCode
from compiler.reference.hashing import fingerprint_64
from tests.compiler.reference.calls import INT32, Array, compute_all, floats, integers, shaped
from tests.support.one_operation import Omitted, float32, quant8

SPARSE_27, DENSE, SPARSE = 1, 2, 3
SEEDS = [[0.123, 0.456], [-0.321, -0.654], [1.234, 5.678], [-4.321, -8.765]]
ITEMS = [[12345, 67890], [-1, 2], [7, 7]]


def project(
    kind: int,
    seeds: Any = SEEDS,
    items: Any = None,
    weights: Any = None,
    numerics: Numerics = Numerics.NNAPI,
) -> Array:
    given = Omitted(float32(0)) if weights is None else floats(weights)
    inputs = [floats(seeds), integers(ITEMS) if items is None else items, given, kind]
    return compute_all(OperationCode.LSH_PROJECTION, inputs, [INT32], numerics)[0]


def expected_bit(seed: float, items: list[bytes], weights: list[float]) -> int:
    score = 0.0
    for item, weight in zip(items, weights, strict=True):
        key = np.frombuffer(struct.pack("<f", seed) + item, np.uint8).reshape(1, -1)
        score += weight * float(fingerprint_64(key).view(np.int64)[0])
    return int(score > 0)


def test_a_bit_is_the_sign_of_the_weighted_sum_of_hashes() -> None:
    weights = [0.5, -1.0, 2.0]
    items = [struct.pack("<2i", *item) for item in ITEMS]
    bits = [expected_bit(seed, items, weights) for row in SEEDS for seed in row]
    assert project(DENSE, weights=weights).tolist() == bits
    assert 0 < sum(bits) < len(bits)


def test_sparse_packs_the_first_bit_highest() -> None:
    bits = project(DENSE, weights=[1.0, 1.0, 1.0]).reshape(4, 2)
    assert project(SPARSE_27).tolist() == (2 * bits[:, 0] + bits[:, 1]).tolist()


def test_level_29_adds_the_number_of_the_hash_above_the_bits() -> None:
    assert (project(SPARSE) - project(SPARSE_27)).tolist() == [0, 4, 8, 12]


def test_thirty_two_bits_fill_an_integer() -> None:
    seeds = np.linspace(-1, 1, 32).reshape(1, 32)
    bits = project(DENSE, seeds, weights=[1.0, 1.0, 1.0])
    word = int("".join(str(bit) for bit in bits.tolist()), 2)
    assert project(SPARSE_27, seeds).view(np.uint32).tolist() == [word]


def test_items_are_hashed_as_bytes_whatever_their_type() -> None:
    as_bytes = np.array(ITEMS, "<i4").view(np.uint8).reshape(3, 8)
    assert project(SPARSE, items=shaped(quant8(), as_bytes)).tolist() == project(SPARSE).tolist()


@pytest.mark.parametrize(
    ("kind", "weights", "fragment"),
    [
        (0, None, "projection type 0"),
        (4, None, "projection type 4"),
        (DENSE, None, "must have weights"),
        (SPARSE, [1.0, 1.0, 1.0], "must not have weights"),
        (SPARSE_27, [1.0, 1.0, 1.0], "must not have weights"),
        (DENSE, [1.0], r"weights \(input 2\) are \[1\]; they must be \[3\]"),
    ],
)
def test_type_and_weights_must_fit(kind: int, weights: list[float] | None, fragment: str) -> None:
    with pytest.raises(GraphError, match=fragment) as caught:
        project(kind, weights=weights)
    assert caught.value.result_code is ResultCode.OP_FAILED


def test_more_than_thirty_two_bits_fail() -> None:
    with pytest.raises(GraphError, match="33 seeds per hash"):
        project(SPARSE, np.zeros((1, 33)))


def test_level_27_does_not_know_the_third_type() -> None:
    assert project(SPARSE_27, numerics=Numerics.NNAPI27).tolist() == project(SPARSE_27).tolist()
    with pytest.raises(GraphError, match=r"none of \[1, 2\]"):
        project(SPARSE, numerics=Numerics.NNAPI27)
