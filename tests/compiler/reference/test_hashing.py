import numpy as np
import pytest

from compiler.reference.hashing import fingerprint_64

FINGERPRINTS = {
    4: 0x82BFFD898958E540,
    7: 0xA2E0BFF20DB0A6A1,
    8: 0xAD5A13E1E8E93B98,
    12: 0x9FD5DF33AEFC3D7D,
    16: 0x0EFD25A0A34156D4,
    17: 0xBBB6A6F8F20D1F1C,
    32: 0x1A9D8199972CDF49,
    33: 0xE8756EC1CB75524E,
    64: 0xF58504BB53DECC4B,
    65: 0xC6A3282C3E793DBE,
    127: 0xEA8BE9FA05393DB5,
    128: 0x1C484C95F0EA5DD3,
    129: 0xCE8BA3741121083E,
    200: 0x074C7FCC26D66FB3,
}
"""Hashes of the bytes 0, 1, 2, … by the published implementation, by length."""


@pytest.mark.parametrize("length", FINGERPRINTS)
def test_hashes_are_those_of_the_published_implementation(length: int) -> None:
    keys = np.arange(length, dtype=np.uint8).reshape(1, length)
    assert fingerprint_64(keys).tolist() == [FINGERPRINTS[length]]


@pytest.mark.parametrize("length", FINGERPRINTS)
def test_many_keys_are_hashed_as_each_alone(length: int) -> None:
    keys = np.random.default_rng(0).integers(0, 256, (5, length), np.uint8)
    together = fingerprint_64(keys)
    assert together.tolist() == [int(fingerprint_64(keys[i : i + 1])[0]) for i in range(5)]
