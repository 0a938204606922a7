import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.float_bits import INFINITY_BITS, MINUS_INFINITY_BITS, ONE_BITS, float32_bits, float32_value


@given(st.floats(width=32, allow_nan=False))
def test_bits_hold_every_single_precision_number(value: float) -> None:
    assert float32_value(float32_bits(value)) == value


def test_the_named_patterns_are_one_and_the_infinities() -> None:
    assert float32_value(ONE_BITS) == 1.0
    assert (float32_value(INFINITY_BITS), float32_value(MINUS_INFINITY_BITS)) == (math.inf, -math.inf)


def test_a_number_beyond_single_precision_is_refused() -> None:
    with pytest.raises(OverflowError):
        float32_bits(1e39)
