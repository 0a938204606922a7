import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.repository import ROOT, files_of_tests, package_files

MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Name and number of lines, from its `def` to its end, of every function of a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def test_files_stay_short() -> None:
    lines = {
        str(path.relative_to(ROOT)): path.read_text().count("\n")
        for path in [*package_files(), *files_of_tests()]
    }
    assert {name: count for name, count in lines.items() if count > MAX_FILE_LINES} == {}


def test_functions_stay_short() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{name}": count
        for path in [*package_files(), *files_of_tests()]
        for name, count in functions(path)
        if count > MAX_FUNCTION_LINES
    }
    assert long == {}
