"""Many threads in one C program, in random order, legal and not, watched by tools that find memory errors."""

import shutil
from pathlib import Path

import pytest

from tests.support.native_client import NEEDS_COMPILER, compiled, run_client

pytestmark = NEEDS_COMPILER
SOURCE = Path(__file__).with_name("stress.c")
SUPPRESSIONS = Path(__file__).with_name("valgrind.supp")
SANITIZER = "detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
"""Python and NumPy leak; the sanitizer's stock of freed memory would count as growth."""
VALGRIND = [
    "valgrind",
    "--error-exitcode=9",
    "--leak-check=no",
    "--undef-value-errors=no",
    "-q",
    f"--suppressions={SUPPRESSIONS}",
]
"""Undefined values are not looked for: Python's own allocator and NumPy's vector code have harmless ones."""


def test_threads_get_right_values_and_memory_does_not_grow(tmp_path: Path) -> None:
    run_client([compiled(SOURCE, tmp_path), "8", "60", "1"])


def test_a_client_under_address_sanitizer_finds_no_error(tmp_path: Path) -> None:
    program = compiled(SOURCE, tmp_path, "-fsanitize=address", "-g")
    run_client([program, "8", "60", "2"], {"ASAN_OPTIONS": SANITIZER})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_steps(tmp_path: Path, seed: int) -> None:
    run_client([compiled(SOURCE, tmp_path), "8", "4000", str(seed)])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_a_client_under_valgrind_makes_no_wrong_access(tmp_path: Path) -> None:
    program = compiled(SOURCE, tmp_path, "-g")
    run_client([*VALGRIND, program, "8", "60", "3"], {"PYTHONMALLOC": "malloc"})
