import pytest

from runtime.cli.formatting import binary_bytes, percent, quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (0.00123, "1.230 ms"),
        (12.3456e-6, "12.35 µs"),
        (999.96e-3, "1.000 s"),
        (999.4e-3, "999.4 ms"),
        (-0.5, "-500.0 ms"),
        (1e30, f"{10**15} Ps"),
    ],
)
def test_quantity_has_four_digits_and_a_prefix(value: float, text: str) -> None:
    assert quantity(value, "s") == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (66048, "64.5 KiB"), (2**21, "2 MiB")],
)
def test_bytes_take_the_largest_binary_unit(size_bytes: int, text: str) -> None:
    assert binary_bytes(size_bytes) == text


def test_percent_has_one_decimal() -> None:
    assert percent(0.12345) == "12.3 %"
