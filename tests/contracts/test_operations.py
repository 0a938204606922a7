"""What an operation is stands in its two files; the guide for contributors shows real ones."""

import re
from pathlib import Path

import pytest

import compiler.ops  # noqa: F401  (fills the registry)
from compiler.nnapi import OperationCode
from compiler.operation import REGISTRY
from tests.support.repository import ROOT, package_files

HOMES = (ROOT / "compiler" / "ops", ROOT / "compiler" / "reference")
OTHERS = {
    "compiler/nnapi.py": "the codes themselves",
    "runtime/signatures.py": "what NNAPI lets a model say, devices aside",
    "runtime/digits/model.py": "a network",
    "runtime/cli/layer_models.py": "a network",
    "runtime/conformance/variants.py": "a network",
}
"""Files elsewhere that may name operations, and what they do with them."""

EXAMPLE = re.compile(r"^`([\w/.]+)`[^\n]*:\n\n```python\n(.*?)```$", re.MULTILINE | re.DOTALL)


def names_an_operation(path: Path) -> bool:
    names = re.findall(r"\bOperationCode\.([A-Z][A-Z0-9_]*)", path.read_text(encoding="utf-8"))
    return any(OperationCode[name] in REGISTRY for name in names)


def test_only_an_operations_own_files_and_networks_name_it() -> None:
    elsewhere = {
        path.relative_to(ROOT).as_posix()
        for path in package_files()
        if path.parent not in HOMES and names_an_operation(path)
    }
    assert elsewhere - OTHERS.keys() == set()


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
@pytest.mark.parametrize("code", list(REGISTRY), ids=lambda code: code.name)
def test_an_operation_has_one_file_in_each_home(code: OperationCode, home: Path) -> None:
    declaration = re.compile(rf"(code=|@reference\()OperationCode\.{code.name}\b")
    files = home.glob("*.py")
    assert sum(bool(declaration.search(file.read_text(encoding="utf-8"))) for file in files) == 1


def test_the_guides_examples_are_what_the_files_say() -> None:
    examples = EXAMPLE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert [path.split("/")[0] for path, _ in examples] == ["compiler", "compiler", "tests", "tests"]
    for path, excerpt in examples:
        assert excerpt in (ROOT / path).read_text(encoding="utf-8"), path
