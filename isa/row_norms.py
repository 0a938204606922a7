"""Fixed-point L2 normalisation of rows: `quant8-semantics.md`, section 9.

Arguments and results are int64 arrays that hold int32 values, as in `isa.arithmetic`.
"""

import numpy as np
import numpy.typing as npt

from isa.arithmetic import (
    INT32_MAX,
    Int64Array,
    rounding_divide_by_pot,
    saturating_left_shift,
    srdhm,
)

NEWTON_STEPS = 5
_HALF_SQRT_2 = 1518500250
"""Square root of 1/2 in Q0.31."""
_ONE_AND_A_HALF = 3 << 27
"""3/2 in Q3.28."""
_OUTPUT_STEPS = 128
"""Steps of the output's scale in 1, and its zero point."""


def inverse_square_root(total: Int64Array) -> tuple[Int64Array, Int64Array]:
    """1 / sqrt(total) of int32 sums >= 0 as (multiplier, shift): SRDHM with it, then divide by 2**shift.

    The sum is brought to [2**27, 2**29) by factors of 4 (shift counts them, from 11 up or down) and read as
    Q3.28 of a half; then five Newton steps from 1. Sums of 0 and 1 give 2**31 - 1 and shift 0.
    """
    value = np.maximum(total, 2)
    bits = np.frexp(value.astype(np.float64))[1].astype(np.int64)
    divisions = np.maximum(0, (bits - 28) // 2)
    multiplications = np.maximum(0, (29 - bits) // 2)
    normalised = (value >> (2 * divisions)) << (2 * multiplications)
    half = rounding_divide_by_pot(normalised >> 1, 1)
    x = np.full(value.shape, 1 << 28, np.int64)
    for _ in range(NEWTON_STEPS):
        cube = saturating_left_shift(srdhm(srdhm(x, x), x), 6)
        x = saturating_left_shift(srdhm(_ONE_AND_A_HALF, x) - srdhm(half, cube), 3)
    shift = 11 + divisions - multiplications
    multiplier = srdhm(x, _HALF_SQRT_2) << np.maximum(0, -shift)
    tiny = total <= 1
    return np.where(tiny, INT32_MAX, multiplier), np.where(tiny, 0, np.maximum(0, shift))


def l2_normalize(codes: npt.NDArray[np.uint8], zero_point: int) -> npt.NDArray[np.uint8]:
    """Divide each row of uint8 [rows, depth] by its norm; the result has scale 1/128 and zero point 128.

    The sum of squares wraps to int32: 33,026 elements at distance 255 from the zero point overflow it.
    """
    difference = codes.astype(np.int64) - zero_point
    total = (difference**2).sum(axis=1, keepdims=True).astype(np.int32).astype(np.int64)
    multiplier, shift = inverse_square_root(total)
    scaled = rounding_divide_by_pot(srdhm(_OUTPUT_STEPS * difference, multiplier), shift)
    return np.clip(scaled + _OUTPUT_STEPS, 0, 255).astype(np.uint8)
