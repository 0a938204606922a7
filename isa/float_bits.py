"""Single-precision immediates: instruction fields hold the 32 bits of an IEEE 754 binary32 number."""

import struct

MINUS_INFINITY_BITS = 0xFF80_0000
INFINITY_BITS = 0x7F80_0000
ONE_BITS = 0x3F80_0000


def float32_bits(value: float) -> int:
    """The bits of `value`, which must be a float32 number; OverflowError beyond the range of float32."""
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits


def float32_value(bits: int) -> float:
    """The number with these 32 bits."""
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value
