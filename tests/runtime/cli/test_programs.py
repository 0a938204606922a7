import json
from pathlib import Path

import pytest

from tests.support.command_line import failure_of, npu_sim, stdout_of


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "digits.npu"
    stdout_of("compile", "-o", path)
    return path


def test_program_file_gives_the_report_of_its_model(program: Path) -> None:
    report = json.loads(stdout_of("run", program, "--json", "-"))
    assert report == json.loads(stdout_of("run", "--json", "-"))


def test_same_model_compiles_to_the_same_bytes(program: Path, tmp_path: Path) -> None:
    stdout_of("compile", "-o", tmp_path / "again.npu")
    assert (tmp_path / "again.npu").read_bytes() == program.read_bytes()


def test_disassembly_shows_each_layer_and_the_end(program: Path) -> None:
    text = stdout_of("disasm", program)
    for layer in ("CONV_2D conv", "DEPTHWISE_CONV_2D depthwise", "FULLY_CONNECTED dense", "Halt"):
        assert layer in text


def test_summary_names_the_machine(tmp_path: Path) -> None:
    printed = stdout_of("compile", "-o", tmp_path / "tiny.npu", "--machine", "tiny")
    assert "tiny.npu: 6 layers" in printed
    assert printed.endswith("for tiny\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--machine", "tiny"], "the program was compiled for another machine than tiny"),
        (["--preference", "low_power"], "compiled for --preference fast_single_answer, not low_power"),
        (["--numerics", "nnapi27"], "are decided when a program is compiled"),
        (["--keep-tensors"], "are decided when a program is compiled"),
    ],
)
def test_what_was_decided_by_compiling_cannot_be_changed(
    program: Path, arguments: list[str], message: str
) -> None:
    assert message in failure_of("run", program, *arguments)


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/dev/full", 1, "cannot write /dev/full: No space left on device"),
        ("", 2, "the path is empty"),
        ("-", 2, "only --json writes to standard output"),
    ],
)
def test_program_cannot_be_written_there(path: str, status: int, message: str) -> None:
    result = npu_sim("compile", "-o", path)
    assert result.exit_code == status
    assert message in result.stderr


def test_program_does_not_replace_its_model(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(b"precious")
    result = npu_sim("compile", path, "-o", path)
    assert (result.exit_code, path.read_bytes()) == (2, b"precious")
    assert "MODEL and --output name the same file" in result.stderr


@pytest.mark.parametrize("command", ["run", "disasm"])
@pytest.mark.parametrize(
    ("damage", "message"), [("cut", "truncated"), ("flip", "checksum"), ("empty", "truncated")]
)
def test_damaged_program_gives_one_message(
    program: Path, tmp_path: Path, command: str, damage: str, message: str
) -> None:
    content = bytearray(program.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    damaged = tmp_path / "damaged.npu"
    damaged.write_bytes({"cut": bytes(content[:1000]), "flip": bytes(content), "empty": b""}[damage])
    assert message in failure_of(command, damaged)


def test_model_that_cannot_be_read_leaves_no_program(tmp_path: Path) -> None:
    (tmp_path / "bad.tflite").write_bytes(b"nothing")
    assert "bad.tflite" in failure_of("compile", tmp_path / "bad.tflite", "-o", tmp_path / "bad.npu")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.tflite"]


def test_program_is_no_model(program: Path, tmp_path: Path) -> None:
    assert "is a compiled program" in failure_of("compile", program, "-o", tmp_path / "x.npu")


def test_unwritable_program_gives_one_message() -> None:
    assert "cannot write /no/folder/x.npu" in failure_of("compile", "-o", "/no/folder/x.npu")


def test_compile_needs_to_know_where_to_write() -> None:
    assert npu_sim("compile").exit_code == 2
