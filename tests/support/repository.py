"""Where the project's files are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("isa", "compiler", "npu_sim", "runtime", "traces")


def package_files() -> list[Path]:
    """Every Python file of the five packages."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def files_of_tests() -> list[Path]:
    """Every Python file of the tests."""
    return sorted((ROOT / "tests").rglob("*.py"))
