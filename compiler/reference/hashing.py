"""FarmHash's Fingerprint64: a hash that never changes, of many keys of one length at once.

Source: google/farmhash, farmhash.cc (farmhashna::Hash64). Arithmetic is modulo 2⁶⁴ on uint64 arrays with one
element per key.
"""

import numpy as np
import numpy.typing as npt

from compiler.reference.registry import Array

Words = npt.NDArray[np.uint64]

_K0 = np.uint64(0xC3A5C85C97CB3127)
_K1 = np.uint64(0xB492B66FBE98F273)
_K2 = np.uint64(0x9AE16A3B2F90404F)
_BLOCK_BYTES = 64


def fingerprint_64(keys: Array) -> Words:
    """Hash every row of `keys`, uint8 [keys, bytes] with at least 4 bytes."""
    with np.errstate(over="ignore"):
        length = keys.shape[1]
        if length <= 16:
            return _up_to_16(keys)
        if length <= 32:
            return _up_to_32(keys)
        return _up_to_64(keys) if length <= _BLOCK_BYTES else _blocks(keys)


def _word(keys: Array, start: int) -> Words:
    """Eight bytes from `start` on, little endian; a negative `start` counts from the end."""
    first = start % keys.shape[1]
    return np.ascontiguousarray(keys[:, first : first + 8]).view("<u8")[:, 0].astype(np.uint64)


def _half_word(keys: Array, start: int) -> Words:
    """Four bytes, as `_word`."""
    first = start % keys.shape[1]
    return np.ascontiguousarray(keys[:, first : first + 4]).view("<u4")[:, 0].astype(np.uint64)


def _rotate(value: Words, bits: int) -> Words:
    """Rotate right."""
    return (value >> np.uint64(bits)) | (value << np.uint64(64 - bits))


def _shift_mix(value: Words) -> Words:
    return value ^ (value >> np.uint64(47))


def _mix(low: Words, high: Words, factor: Words | np.uint64) -> Words:
    """Two words into one."""
    first = _shift_mix((low ^ high) * factor)
    return _shift_mix((high ^ first) * factor) * factor


def _factor(length: int) -> np.uint64:
    return _K2 + np.uint64(2 * length)


def _up_to_16(keys: Array) -> Words:
    length = keys.shape[1]
    if length >= 8:
        factor = _factor(length)
        low, high = _word(keys, 0) + _K2, _word(keys, -8)
        return _mix(_rotate(high, 37) * factor + low, (_rotate(low, 25) + high) * factor, factor)
    low = np.uint64(length) + (_half_word(keys, 0) << np.uint64(3))
    return _mix(low, _half_word(keys, -4), _factor(length))


def _up_to_32(keys: Array) -> Words:
    factor = _factor(keys.shape[1])
    a, b = _word(keys, 0) * _K1, _word(keys, 8)
    c, d = _word(keys, -8) * factor, _word(keys, -16) * _K2
    return _mix(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, factor)


def _up_to_64(keys: Array) -> Words:
    factor = _factor(keys.shape[1])
    a, b = _word(keys, 0) * _K2, _word(keys, 8)
    c, d = _word(keys, -8) * factor, _word(keys, -16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _mix(y, a + _rotate(b + _K2, 18) + c, factor)
    e, f = _word(keys, 16) * factor, _word(keys, 24)
    g, h = (y + _word(keys, -32)) * factor, (z + _word(keys, -24)) * factor
    return _mix(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, factor)


def _half_block(keys: Array, start: int, a: Words, b: Words) -> tuple[Words, Words]:
    """32 bytes from `start` on into two words, from the state `a`, `b`."""
    words = [_word(keys, start + 8 * index) for index in range(4)]
    a = a + words[0]
    b = _rotate(b + a + words[3], 21)
    total = a + words[1] + words[2]
    return total + words[3], b + _rotate(total, 44) + a


def _blocks(keys: Array) -> Words:
    """Keys of more than 64 bytes: whole blocks, then the last 64 bytes with another factor."""
    count, length = keys.shape
    zero = np.zeros(count, np.uint64)
    x, y = zero + np.uint64(81), zero + np.uint64(81) * _K1 + np.uint64(113)
    z = _shift_mix(y * _K2 + np.uint64(113)) * _K2
    v, w = (zero, zero), (zero, zero)
    x = x * _K2 + _word(keys, 0)
    for start in range(0, (length - 1) // _BLOCK_BYTES * _BLOCK_BYTES, _BLOCK_BYTES):
        x = _rotate(x + y + v[0] + _word(keys, start + 8), 37) * _K1
        y = _rotate(y + v[1] + _word(keys, start + 48), 42) * _K1
        x, y = x ^ w[1], y + v[0] + _word(keys, start + 40)
        z = _rotate(z + w[0], 33) * _K1
        v = _half_block(keys, start, v[1] * _K1, x + w[0])
        w = _half_block(keys, start + 32, z + w[1], y + _word(keys, start + 16))
        x, z = z, x
    start, nine = length - _BLOCK_BYTES, np.uint64(9)
    factor = _K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    w = (w[0] + np.uint64((length - 1) % _BLOCK_BYTES), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x = _rotate(x + y + v[0] + _word(keys, start + 8), 37) * factor
    y = _rotate(y + v[1] + _word(keys, start + 48), 42) * factor
    x, y = x ^ w[1] * nine, y + v[0] * nine + _word(keys, start + 40)
    z = _rotate(z + w[0], 33) * factor
    v = _half_block(keys, start, v[1] * factor, x + w[0])
    w = _half_block(keys, start + 32, z + w[1], y + _word(keys, start + 16))
    x, z = z, x
    return _mix(_mix(v[0], w[0], factor) + _shift_mix(y) * _K0 + z, _mix(v[1], w[1], factor) + x, factor)
