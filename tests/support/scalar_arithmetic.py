"""Fixed-point rules in plain Python integers, one value at a time, slow and obvious."""

import math
from fractions import Fraction

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def wrap(x: int) -> int:
    """Two's complement int32."""
    return (x + 2**31) % 2**32 - 2**31


def saturate(x: int) -> int:
    return min(max(x, INT32_MIN), INT32_MAX)


def round_half_up(x: Fraction) -> int:
    return math.floor(x + Fraction(1, 2))


def round_half_away(x: Fraction) -> int:
    rounded = math.floor(abs(x) + Fraction(1, 2))
    return rounded if x >= 0 else -rounded


def srdhm(a: int, b: int) -> int:
    return saturate(round_half_up(Fraction(a * b, 2**31)))


def rounding_divide_by_pot(x: int, n: int) -> int:
    return round_half_away(Fraction(x, 2**n))


def mbqm(x: int, multiplier: int, shift: int) -> int:
    return rounding_divide_by_pot(srdhm(wrap(x << max(shift, 0)), multiplier), max(-shift, 0))


def quantize_multiplier(real: float) -> tuple[int, int]:
    if real == 0:
        return 0, 0
    value, exponent = Fraction(real), 0
    while value >= 1:
        value, exponent = value / 2, exponent + 1
    while value < Fraction(1, 2):
        value, exponent = value * 2, exponent - 1
    mantissa = round_half_away(value * 2**31)
    if mantissa == 2**31:
        mantissa, exponent = 2**30, exponent + 1
    return (0, 0) if exponent < -31 else (mantissa, exponent)


def exp_on_negative(a: int, integer_bits: int) -> int:
    if a == 0:
        return INT32_MAX
    fraction_bits = 31 - integer_bits
    quarter = 2 ** (fraction_bits - 2)
    r = a % quarter - quarter
    rem = r - a
    y = _exp_small(saturate(r * 2**integer_bits))
    constants = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
    for k, constant in zip((-2, -1, 0, 1, 2, 3, 4), constants, strict=True):
        if integer_bits > k and rem // 2 ** (fraction_bits + k) % 2 == 1:
            y = srdhm(y, constant)
    return y


def _exp_small(r: int) -> int:
    x = r + 2**28
    x2 = srdhm(x, x)
    x3 = srdhm(x2, x)
    x4 = srdhm(x2, x2)
    w = rounding_divide_by_pot(srdhm(rounding_divide_by_pot(x4, 2) + x3, 715827883) + x2, 1)
    return 1895147668 + srdhm(1895147668, x + w)


def one_over_one_plus(u: int) -> int:
    total = u + INT32_MAX
    h = int(Fraction(total + (1 if total >= 0 else -1), 2))  # int() truncates
    x = 1515870810 + srdhm(h, -1010580540)
    for _ in range(3):
        x += saturate(srdhm(x, 2**29 - srdhm(h, x)) * 4)
    return saturate(x * 2)


def logistic(t: int) -> int:
    if t == 0:
        return 2**30
    value = one_over_one_plus(exp_on_negative(-abs(t), 4))
    return value if t > 0 else INT32_MAX - value


def logistic_code(code: int, scale: float, zero_point: int) -> int:
    """One output code of LOGISTIC on uint8."""
    multiplier, left = quantize_multiplier(scale * 2.0**27)
    radius = math.floor(Fraction(15 * 2**27, 2**left))
    c = code - zero_point
    if c < -radius:
        return 0
    if c > radius:
        return 255
    return min(rounding_divide_by_pot(logistic(srdhm(c * 2**left, multiplier)), 23), 255)


def softmax_codes(codes: list[int], scale: float, beta: float) -> list[int]:
    """The output codes of SOFTMAX on one uint8 row."""
    factor = min(beta * scale * 2.0**26, 2.0**31 - 1)
    multiplier, left = quantize_multiplier(factor)
    lowest = -math.floor(Fraction(31 * 2**26, 2**left))
    largest = max(codes)
    exponentials = {}
    for code in set(codes):
        if code - largest >= lowest:
            exponentials[code] = exp_on_negative(srdhm((code - largest) * 2**left, multiplier), 5)
    total = sum(rounding_divide_by_pot(exponentials[c], 12) for c in codes if c in exponentials) % 2**32
    leading = 32 - total.bit_length()
    reciprocal = one_over_one_plus(wrap((total << leading) - 2**31))
    bits_over_unit = 12 - leading
    by_code = {
        code: min(rounding_divide_by_pot(srdhm(reciprocal, e), bits_over_unit + 31 - 8), 255)
        for code, e in exponentials.items()
    }
    return [by_code.get(code, 0) for code in codes]


def tanh(t: int) -> int:
    if t == 0:
        return 0
    e = exp_on_negative(-abs(t), 5)
    total = e + INT32_MAX
    h = int(Fraction(total + (1 if total >= 0 else -1), 2))  # int() truncates
    x = 1515870810 + srdhm(h, -1010580540)
    for _ in range(3):
        x += saturate(srdhm(x, 2**29 - srdhm(h, x)) * 4)
    value = saturate((x - 2**29) * 4)
    return value if t > 0 else -value


def tanh_code(code: int, scale: float, zero_point: int) -> int:
    """One output code of TANH on uint8."""
    multiplier, left = quantize_multiplier(scale * 2.0**27)
    radius = math.floor(Fraction(15 * 2**27, 2**left))
    c = code - zero_point
    if c <= -radius:
        return 0
    if c >= radius:
        return 255
    return min(rounding_divide_by_pot(tanh(srdhm(c * 2**left, multiplier)), 24) + 128, 255)


def inverse_square_root(total: int) -> tuple[int, int]:
    """Multiplier and right shift of 1 / sqrt(total)."""
    if total <= 1:
        return INT32_MAX, 0
    shift = 11
    while total >= 2**29:
        total, shift = total // 4, shift + 1
    while total < 2**27:
        total, shift = total * 4, shift - 1
    half = rounding_divide_by_pot(total // 2, 1)
    x = 2**28
    for _ in range(5):
        cube = saturate(srdhm(srdhm(x, x), x) * 2**6)
        x = saturate((srdhm(3 * 2**27, x) - srdhm(half, cube)) * 2**3)
    x = srdhm(x, 1518500250)
    return (x << -shift, 0) if shift < 0 else (x, shift)


def l2_codes(codes: list[int], zero_point: int) -> list[int]:
    """The output codes of L2_NORMALIZATION on one uint8 row."""
    steps = [code - zero_point for code in codes]
    multiplier, shift = inverse_square_root(wrap(sum(step * step for step in steps)))
    scaled = [rounding_divide_by_pot(srdhm(128 * step, multiplier), shift) for step in steps]
    return [min(max(value + 128, 0), 255) for value in scaled]
