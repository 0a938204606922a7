import re
from pathlib import Path

import pytest

from tests.support.readme import (
    README,
    Example,
    blocks,
    console_examples,
    python_examples,
    run_example,
    write_programs,
)
from tests.support.repository import ROOT

TEXT = README.read_text()
CONSOLE = [list(console_examples(block)) for block in blocks(TEXT) if block.language == "console"]
PYTHON = [example for example, _ in python_examples(TEXT)]


@pytest.mark.parametrize("session", CONSOLE, ids=[session[0].command[-1] for session in CONSOLE])
def test_commands_print_what_the_readme_shows(session: list[Example], tmp_path: Path) -> None:
    write_programs(TEXT, tmp_path)
    for example in session:
        assert run_example(example, tmp_path) == example.output, "refresh: python -m tests.support.readme"


@pytest.mark.parametrize("example", PYTHON, ids=range(len(PYTHON)))
def test_program_prints_what_the_readme_shows(example: Example, tmp_path: Path) -> None:
    assert run_example(example, tmp_path) == example.output, "refresh: python -m tests.support.readme"


def test_make_targets_exist() -> None:
    documents = TEXT + (ROOT / "CONTRIBUTING.md").read_text() + (ROOT / ".ci" / "run").read_text()
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", documents, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"run", "test"} <= named <= targets


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_named_paths_exist(document: str) -> None:
    text = (ROOT / document).read_text()
    packages = "isa|compiler|npu_sim|runtime|traces|tests|notebooks|\\.ci"
    named = set(re.findall(rf"`((?:{packages})/[\w/.-]*)`", text))
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
