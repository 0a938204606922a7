"""NNAPI as a table of C functions, on the objects of the runtime: `NnApi`. Start reading at `table.py`.

`declarations` lists the functions; it can be imported without the rest.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.nnapi.table import NnApi

__all__ = ["NnApi"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from runtime.nnapi.table import NnApi

    return NnApi
