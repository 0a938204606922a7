from pathlib import Path

import compiler
from compiler.nnapi import OperationCode
from compiler.operation import REGISTRY
from compiler.operation_table import operation_section, operation_table


def test_the_file_is_current() -> None:
    stored = (Path(compiler.__file__).parent / "OPERATIONS.md").read_text(encoding="utf-8")
    assert stored == operation_table(), "run `python -m compiler > compiler/OPERATIONS.md`"


def test_every_operation_has_a_section() -> None:
    titles = [line[3:] for line in operation_table().splitlines() if line.startswith("## ")]
    assert titles == ["Cycles", *(code.name for code in sorted(REGISTRY))]


def test_operands_come_with_counts_types_and_ranks() -> None:
    section = operation_section(OperationCode.CONCATENATION)
    assert "| tensors | 1 or more | TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM | 1 to 4 |" in section
    assert "| axis | 1 | INT32 | scalar |" in section


def test_optional_operands_are_marked() -> None:
    assert "| bias | 1, optional | TENSOR_FLOAT32 | 1 |" in operation_section(OperationCode.SVDF)


def test_an_operation_that_never_runs_on_the_npu_says_so_with_the_reason() -> None:
    section = operation_section(OperationCode.RNN)
    assert "- Runs on: host: multiplies float32 matrices;" in section
    assert "- Cycles: the host's cost model." in section


def test_products_do_not_become_emphasis() -> None:
    in_text = [
        line
        for line in operation_table().splitlines()
        if "*" in line.replace(r"\*", "") and "`" not in line and not line.startswith("    ")
    ]
    assert in_text == []
