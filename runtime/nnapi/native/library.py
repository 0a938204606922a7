"""Builds libneuralnetworks.so, once, in a folder of the user's cache."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from runtime.errors import OpFailedError
from runtime.nnapi.native.source import Interpreter, header, library_source, shared_memory_header

LIBRARY_NAME = "libneuralnetworks.so"
_COMPILERS = ("cc", "gcc", "clang")
_COMPILER_OPTIONS = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
_LINKER_OPTIONS = ("-shared", f"-Wl,-soname,{LIBRARY_NAME}", "-Wl,-z,nodelete", "-ldl", "-lpthread")
_KEY_DIGITS = 16


def library_folder() -> Path:
    """The folder with the library; it is built there if it is not there yet.

    Programs include <android/NeuralNetworks.h> from the folder `include` in it. There is one folder for each
    version of the source and each Python. Raises OpFailedError if there is no C compiler, if it fails, or if
    the folder cannot be written.
    """
    if not sys.platform.startswith("linux"):
        raise OpFailedError(f"{LIBRARY_NAME} can be built on Linux, the platform is {sys.platform}")
    source = library_source(this_interpreter())
    files = {
        "neuralnetworks.c": source,
        "include/android/NeuralNetworks.h": header(),
        "include/android/sharedmem.h": shared_memory_header(),
    }
    text = "\0".join([*files.values(), *_COMPILER_OPTIONS, *_LINKER_OPTIONS])
    folder = _cache() / f"nnapi-{hashlib.sha256(text.encode()).hexdigest()[:_KEY_DIGITS]}"
    if not (folder / LIBRARY_NAME).exists():
        try:
            _build(files, folder)
        except OSError as error:
            raise OpFailedError(f"cannot write {folder}: {error.strerror}") from error
    return folder


def this_interpreter() -> Interpreter:
    """What a library that is built now will start: the Python that runs this."""
    import runtime

    folder = Path(runtime.__file__).resolve().parents[1]
    dependencies = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    name = str(sysconfig.get_config_var("INSTSONAME") or "")
    return Interpreter(
        executable=sys.executable,
        library=_libpython(name),
        library_name=name,
        folder=str(folder),
        dependencies=dependencies,
    )


def _libpython(name: str) -> str:
    """The path of the shared library of Python with that name; empty if there is none."""
    if ".so" not in name:
        return ""
    variables = (sysconfig.get_config_var(key) for key in ("LIBDIR", "LIBPL"))
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    folders = [Path(sys.base_prefix) / "lib", *(Path(variable) for variable in variables if variable)]
    candidates = [part / name for folder in folders for part in (folder, folder / multiarch)]
    return next((str(path) for path in candidates if path.is_file()), "")


def _cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".cache") / "npu-sim"


def compiler() -> list[str]:
    """The command of the C compiler: what CC says, or else the first that is there (OpFailedError)."""
    given = shlex.split(os.environ.get("CC", ""))
    found = [given] if given else [[name] for name in _COMPILERS]
    for command in found:
        if shutil.which(command[0]):
            return command
    names = ", ".join(command[0] for command in found)
    raise OpFailedError(
        f"{LIBRARY_NAME} has to be compiled, but there is no C compiler (looked for {names}); install one,"
        " such as gcc, or name it in the environment variable CC"
    )


def _build(files: dict[str, str], folder: Path) -> None:
    """Compile beside the folder, which then gets its name: others see it whole or not at all."""
    command = compiler()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
        draft = Path(name) / folder.name
        for path, text in files.items():
            place = draft / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        source, library = draft / "neuralnetworks.c", draft / LIBRARY_NAME
        finished = subprocess.run(
            [*command, *_COMPILER_OPTIONS, str(source), "-o", str(library), *_LINKER_OPTIONS],
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode != 0:
            raise OpFailedError(f"{shlex.join(command)} cannot compile {LIBRARY_NAME}: {finished.stderr}")
        try:
            draft.rename(folder)
        except OSError:
            if not (folder / LIBRARY_NAME).exists():
                raise
