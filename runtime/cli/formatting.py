"""Numbers as people read them."""

_PREFIXES = {
    -18: "a",
    -15: "f",
    -12: "p",
    -9: "n",
    -6: "µ",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
}


def quantity(value: float, unit: str) -> str:
    """A value with an SI prefix and four significant digits, such as "1.230 ms" for 0.00123 and "s"."""
    if value == 0:
        return f"0 {unit}"
    exponent = 3 * ((int(f"{abs(value):.3e}".partition("e")[2])) // 3)
    exponent = max(min(exponent, max(_PREFIXES)), min(_PREFIXES))
    scaled = value / 10.0**exponent
    digits = max(0, 3 - len(str(int(abs(scaled)))) + 1)
    return f"{scaled:.{digits}f} {_PREFIXES[exponent]}{unit}"


def binary_bytes(size_bytes: int) -> str:
    """A memory size in the largest binary unit that keeps at least one whole: "2 MiB", "64.5 KiB", "12 B"."""
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.4g} {unit}"


def percent(share: float) -> str:
    """A share of one with one decimal: "12.5 %"."""
    return f"{100 * share:.1f} %"
