"""The examples of README.md: `python -m tests.support.readme` runs them and writes their present output.

A ```console block holds commands after "$ " with the output of each below it. A ```python block is a
program; a ```text block right after it is its output. A ```c block is `client.c` for the console blocks.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.repository import ROOT

README = ROOT / "README.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language, its text, and where the text lies in the file."""

    language: str
    text: str
    start: int
    end: int


class Example(NamedTuple):
    """A command line, and the output that the file shows."""

    command: list[str]
    output: str


def blocks(markdown: str) -> list[Block]:
    """All fenced blocks, in order."""
    return [Block(m[1], m[2], m.start(2), m.end(2)) for m in _FENCE.finditer(markdown)]


def console_examples(block: Block) -> Iterator[Example]:
    """The commands of a console block."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield Example(["bash", "-c", command], output)


def python_examples(markdown: str) -> Iterator[tuple[Example, Block | None]]:
    """The Python programs, each with the block that shows its output."""
    found = blocks(markdown)
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.language == "python":
            shown = following if following is not None and following.language == "text" else None
            yield Example([sys.executable, "-c", block.text], shown.text if shown else ""), shown


def run_example(example: Example, folder: Path) -> str:
    """Run a command in a folder and return what it printed; trailing blanks are dropped from each line."""
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}", COLUMNS="100")
    finished = subprocess.run(
        example.command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if finished.returncode != 0:
        raise AssertionError(f"{example.command}: status {finished.returncode}\n{finished.stderr}")
    return "".join(f"{line.rstrip()}\n" for line in finished.stdout.splitlines())


def write_programs(markdown: str, folder: Path) -> None:
    """Put the program of the C block where the console examples expect it."""
    for block in blocks(markdown):
        if block.language == "c":
            (folder / "client.c").write_text(block.text)


def refreshed(markdown: str, folder: Path) -> str:
    """The file with the present output of every example."""
    replacements: list[tuple[int, int, str]] = []
    write_programs(markdown, folder)
    for block in blocks(markdown):
        if block.language == "console":
            parts = [f"$ {e.command[-1]}\n{run_example(e, folder)}" for e in console_examples(block)]
            replacements.append((block.start, block.end, "".join(parts)))
    for example, shown in python_examples(markdown):
        if shown is not None:
            replacements.append((shown.start, shown.end, run_example(example, folder)))
    for start, end, text in sorted(replacements, reverse=True):
        markdown = markdown[:start] + text + markdown[end:]
    return markdown


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        README.write_text(refreshed(README.read_text(), Path(name)))
