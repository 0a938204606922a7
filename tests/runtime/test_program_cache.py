import dataclasses
import multiprocessing
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler.graph import Graph
from compiler.nnapi import PreferenceCode
from compiler.options import CompileOptions, Objective
from isa.encoding import decode_program, encode_program
from isa.program import Program
from runtime.compilation import Compilation
from runtime.device_registry import get_device
from runtime.devices.npu_prepared import NpuPrepared
from runtime.errors import BadDataError
from runtime.execution import Execution
from runtime.program_cache import KEY_NOTE, ProgramCache, program_key
from tests.support.nnapi_models import add_model

TOKEN = bytes(range(32))
KEY = "ab" * 32
A = np.array([[10, 11, 12], [13, 14, 15]], np.uint8)


def compiled(directory: Path, *, token: bytes = TOKEN, preference: int = 1) -> Compilation:
    compilation = Compilation(add_model(), get_device("npu", "tiny"))
    compilation.set_caching(directory, token)
    compilation.set_preference(preference)
    compilation.finish()
    return compilation


def check_answer(compilation: Compilation) -> None:
    run, output = Execution(compilation), np.zeros((2, 3), np.uint8)
    run.set_input(0, A)
    run.set_input(1, A)
    run.set_output(0, output)
    run.compute()
    np.testing.assert_array_equal(output, 2 * A - 10)


def program_of(compilation: Compilation) -> Program:
    prepared = compilation.prepared
    assert isinstance(prepared, NpuPrepared)
    return prepared.program


def the_file(directory: Path) -> Path:
    (path,) = directory.iterdir()
    return path


def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_graph(*_: object) -> None:
        raise AssertionError("must not be compiled again")

    monkeypatch.setattr("runtime.devices.npu.compile_graph", compile_graph)


def test_the_second_compilation_takes_the_program_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = program_of(compiled(tmp_path))
    without_compiler(monkeypatch)
    second = compiled(tmp_path)
    assert program_of(second) == first
    check_answer(second)


def test_the_file_is_named_by_the_token_and_is_a_program(tmp_path: Path) -> None:
    program = program_of(compiled(tmp_path))
    path = the_file(tmp_path)
    assert path.name.startswith(TOKEN.hex() + "-")
    cached = decode_program(path.read_bytes())
    assert cached.instructions == program.instructions
    assert path.name.removesuffix(".npu").endswith(cached.notes[KEY_NOTE][:32])


def test_reports_are_the_same_with_a_cached_program(tmp_path: Path) -> None:
    prepared = [compiled(tmp_path).prepared for _ in range(2)]
    assert isinstance(prepared[0], NpuPrepared)
    assert isinstance(prepared[1], NpuPrepared)
    assert prepared[0].facts == prepared[1].facts


@pytest.mark.parametrize(
    "change",
    [
        {"token": bytes(32)},
        {"preference": PreferenceCode.LOW_POWER},
    ],
)
def test_another_token_or_preference_has_another_file(tmp_path: Path, change: dict[str, bytes]) -> None:
    compiled(tmp_path)
    compiled(tmp_path, **change)  # type: ignore[arg-type]
    assert len(list(tmp_path.iterdir())) == 2


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def empty(data: bytes) -> bytes:
    return b""


def of_another_key(data: bytes) -> bytes:
    program = decode_program(data)
    return encode_program(dataclasses.replace(program, notes={**program.notes, KEY_NOTE: KEY}))


def unsynchronised(data: bytes) -> bytes:
    """A container that is in order, of a program that is not."""
    program = decode_program(data)
    instructions = program.instructions[1:]
    return encode_program(
        dataclasses.replace(program, instructions=instructions, layer_of=program.layer_of[1:])
    )


@pytest.mark.parametrize("damage", [truncated, flipped, empty, of_another_key, unsynchronised])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    compiled(tmp_path)
    path = the_file(tmp_path)
    good = path.read_bytes()
    path.write_bytes(damage(good))
    check_answer(compiled(tmp_path))
    assert path.read_bytes() == good


def test_a_pipe_in_the_place_of_the_file_is_no_program(tmp_path: Path) -> None:
    compiled(tmp_path)
    (path,) = tmp_path.iterdir()
    path.unlink()
    os.mkfifo(path)
    assert compiled(tmp_path).prepared is not None


def test_every_cut_and_every_bit_is_noticed(tmp_path: Path) -> None:
    compiled(tmp_path)
    path, generator = the_file(tmp_path), random.Random(1)
    good = path.read_bytes()
    for _ in range(12):
        place = generator.randrange(len(good))
        for bad in (good[:place], good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :]):
            path.write_bytes(bad)
            compilation = compiled(tmp_path)
            assert path.read_bytes() == good
    check_answer(compilation)


@pytest.mark.parametrize("name", ["missing/directory", "file", "zero\0byte"])
def test_a_directory_that_cannot_be_used_does_no_harm(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("no directory")
    check_answer(compiled(tmp_path / name))


def test_a_full_disk_does_no_harm_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    check_answer(compiled(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_token_of_another_length_is_bad_data(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match="the token has 31 bytes, must have 32"):
        compiled(tmp_path, token=bytes(31))


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path: Path) -> None:
    program = program_of(compiled(tmp_path))
    the_file(tmp_path).unlink()
    cache = ProgramCache(tmp_path, TOKEN)
    found: list[Program] = []

    def work() -> None:
        for _ in range(10):
            found.append(cache.program(KEY, lambda: program))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(cached.instructions == program.instructions for cached in found)
    assert decode_program(the_file(tmp_path).read_bytes()).notes[KEY_NOTE] == KEY


def test_what_stopped_writers_left_is_removed(tmp_path: Path) -> None:
    program = program_of(compiled(tmp_path))
    path = the_file(tmp_path)
    name = f".{path.name}.left.tmp"
    (tmp_path / name).write_bytes(b"half")
    os.utime(tmp_path / name, (time.time() - 3600,) * 2)
    path.unlink()
    assert program_of(compiled(tmp_path)) == program
    assert the_file(tmp_path) == path


def write_forever(directory: Path, data: bytes) -> None:
    program, cache = decode_program(data), ProgramCache(directory, TOKEN)
    while True:
        for path in directory.glob("*.npu"):
            path.unlink(missing_ok=True)
        cache.program(KEY, lambda: program)


def survive_kills(directory: Path, kills: int) -> None:
    """Kill a process at random points of its writing, and look at what it leaves."""
    program = program_of(compiled(directory))
    the_file(directory).unlink()
    fork, generator = multiprocessing.get_context("fork"), random.Random(kills)
    cache = ProgramCache(directory, TOKEN)
    for _ in range(kills):
        process = fork.Process(target=write_forever, args=(directory, encode_program(program)))
        process.start()
        time.sleep(generator.uniform(0, 0.02))
        process.kill()
        process.join()
        assert cache.program(KEY, lambda: program).instructions == program.instructions
        for path in directory.glob("*.npu"):
            assert decode_program(path.read_bytes()).instructions == program.instructions


def test_a_writer_may_be_killed(tmp_path: Path) -> None:
    survive_kills(tmp_path, 5)


@pytest.mark.slow
def test_a_writer_may_be_killed_at_any_point(tmp_path: Path) -> None:
    survive_kills(tmp_path, 200)


def test_the_key_depends_on_all_that_the_program_depends_on() -> None:
    graph = add_model().graph
    options = CompileOptions()
    keys = {
        program_key(graph, "machine", "high", options, "1"),
        program_key(graph, "another", "high", options, "1"),
        program_key(graph, "machine", "low", options, "1"),
        program_key(graph, "machine", "high", CompileOptions(objective=Objective.BYTES), "1"),
        program_key(graph, "machine", "high", options, "2"),
        program_key(add_model(names=("a", "b", "c")).graph, "machine", "high", options, "1"),
        program_key(with_constant(graph, 1), "machine", "high", options, "1"),
    }
    assert len(keys) == 7
    assert program_key(add_model().graph, "machine", "high", options, "1") in keys


def with_constant(graph: Graph, value: int) -> Graph:
    """The graph with another fused activation."""
    operands = list(graph.operands)
    operands[2] = dataclasses.replace(operands[2], value=np.array(value, np.int32))
    return dataclasses.replace(graph, operands=tuple(operands))
