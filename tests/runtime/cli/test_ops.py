from pathlib import Path

import compiler
from tests.support.command_line import failure_of, stdout_of


def test_all_operations_are_the_document() -> None:
    stored = (Path(compiler.__file__).parent / "OPERATIONS.md").read_text(encoding="utf-8")
    assert stdout_of("ops") == stored


def test_one_operation_is_its_section() -> None:
    printed = stdout_of("ops", "conv_2d")
    assert printed.startswith("## CONV_2D\n")
    assert printed.count("## ") == 1
    assert f"\n{printed}" in stdout_of("ops")


def test_an_unknown_operation_is_refused_with_those_there_are() -> None:
    message = failure_of("ops", "SIN")
    assert message.startswith("SIN: unknown operation; must be one of ADD, AVERAGE_POOL_2D")
    assert message.endswith("SVDF, TANH")
