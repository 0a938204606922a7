"""What runs first inside the interpreter of a client: the library holds the text of this file.

It must not need anything of the project, which is found only from here on, nor leave traces in the client's
modules or change the order of its search path.
"""

import importlib
import importlib.machinery
import sys
from importlib.machinery import ModuleSpec
from typing import Any

PACKAGES = ("isa", "compiler", "npu_sim", "runtime", "traces")


class PackageFinder:
    """Finds the project's packages in its folder, and nothing else."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where a package of the project is; None for others, and for what lies inside a package."""
        if name not in PACKAGES:
            return None
        return importlib.machinery.PathFinder.find_spec(name, [self._folder])


def boot(folder: str, dependencies: list[str], fingerprint: str, table: int, owns_interpreter: int) -> None:
    """Fill the table at an address, or say on standard error why that is not possible.

    `folder` holds the packages, `dependencies` are folders with what they import; these come last in the
    search path, so that the client keeps its own versions.
    """
    try:
        for name in PACKAGES:
            place = getattr(sys.modules.get(name), "__file__", None)
            if name in sys.modules and not str(place).startswith(folder):
                raise ImportError(f"the process has another package with the name {name}, from {place}")
        sys.path.extend(entry for entry in dependencies if entry not in sys.path)
        sys.meta_path.insert(0, PackageFinder(folder))
        # By name: the process is put together above this package.
        process = importlib.import_module("runtime.cli.client_process")
        process.start(table, fingerprint, owns_interpreter=bool(owns_interpreter))
    except BaseException as error:
        reason = f"{type(error).__name__}: {error} (Python {sys.version.split()[0]}, {sys.executable})"
        print(f"libneuralnetworks.so: npu-sim cannot be started: {reason}", file=sys.stderr)  # noqa: T201
