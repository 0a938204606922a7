import subprocess
import sys
from pathlib import Path

import pytest

from runtime.errors import OpFailedError
from runtime.nnapi.declarations import FUNCTIONS
from runtime.nnapi.native.library import LIBRARY_NAME, library_folder, this_interpreter
from runtime.nnapi.native.source import Interpreter, header, library_source
from tests.support.native_client import NEEDS_COMPILER, library


@NEEDS_COMPILER
def test_library_exports_exactly_the_declared_functions() -> None:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library())], capture_output=True, text=True, check=True
    )
    exported = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert sorted(exported) == sorted(function.name for function in FUNCTIONS)


@NEEDS_COMPILER
def test_library_is_not_linked_to_python() -> None:
    needed = subprocess.run(["readelf", "-d", str(library())], capture_output=True, text=True, check=True)
    assert "python" not in needed.stdout


@NEEDS_COMPILER
@pytest.mark.parametrize("language", ["c", "c++"])
def test_header_is_c_and_cpp_without_a_warning(language: str, tmp_path: Path) -> None:
    file = tmp_path / "header.h"
    file.write_text(header())
    options = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *options, "-x", language, "-include", str(file), "/dev/null"], check=True)


@NEEDS_COMPILER
def test_source_compiles_without_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "library.c"
    file.write_text(library_source(this_interpreter()))
    options = ["-fsyntax-only", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *options, str(file)], check=True)


@NEEDS_COMPILER
def test_library_is_built_once() -> None:
    before = (library_folder() / LIBRARY_NAME).stat()
    after = (library_folder() / LIBRARY_NAME).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@NEEDS_COMPILER
def test_builders_at_the_same_time_end_with_one_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = "from runtime.nnapi.native.library import library_folder; print(library_folder())"
    builders = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    folders = {builder.communicate()[0].strip() for builder in builders}
    assert [builder.returncode for builder in builders] == [0] * 4
    assert [path.name for path in (tmp_path / "npu-sim").iterdir()] == [
        Path(folder).name for folder in folders
    ]


def test_a_computer_without_a_compiler_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(OpFailedError, match=r"no C compiler \(looked for cc, gcc, clang\); install one"):
        library_folder()


@NEEDS_COMPILER
def test_what_a_failing_compiler_says_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", "cc --no-such-option")
    with pytest.raises(OpFailedError, match=r"cannot compile libneuralnetworks\.so: .*no-such-option"):
        library_folder()
    assert list((tmp_path / "npu-sim").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    monkeypatch.setenv("CC", sys.executable)
    with pytest.raises(OpFailedError, match=f"cannot write {file}/npu-sim/nnapi-"):
        library_folder()


@NEEDS_COMPILER
def test_without_a_shared_libpython_c_programs_are_told_so(tmp_path: Path) -> None:
    source = tmp_path / "alone.c"
    main = "int main(void) { ANeuralNetworksModel *m; return ANeuralNetworksModel_create(&m); }"
    interpreter = Interpreter("/opt/pythön/bin/python", "", "", "/nowhere", [])
    source.write_text(library_source(interpreter) + main)
    subprocess.run(["cc", str(source), "-o", str(tmp_path / "alone"), "-ldl", "-lpthread"], check=True)
    finished = subprocess.run([tmp_path / "alone"], capture_output=True, text=True, check=False)
    assert finished.returncode == 5
    assert "/opt/pythön/bin/python has no shared libpython" in finished.stderr
