from pathlib import Path

import isa
from isa.instruction import REGISTRY
from isa.instruction_table import instruction_table


def test_the_file_is_current() -> None:
    stored = (Path(isa.__file__).parent / "INSTRUCTIONS.md").read_text(encoding="utf-8")
    assert stored == instruction_table(), "run `python -m isa > isa/INSTRUCTIONS.md`"


def test_every_instruction_has_a_section() -> None:
    lines = instruction_table().splitlines()
    assert sorted(line[4:] for line in lines if line.startswith("### ")) == sorted(
        cls.__name__ for cls in REGISTRY.values()
    )
