"""What the calls of one table share, and the registry of their implementations."""

import dataclasses
from collections.abc import Callable
from typing import Any

from runtime.device import RunOptions
from runtime.execution import Execution
from runtime.listed_device import ListedDevice
from runtime.nnapi.declarations import BY_NAME
from runtime.nnapi.handles import HandleTable


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """The objects behind a table. `on_run` is told of every execution that has succeeded."""

    devices: tuple[ListedDevice, ...]
    device_handles: tuple[int, ...]
    handles: HandleTable
    new_run_options: Callable[[], RunOptions]
    on_run: Callable[[Execution], None] | None


Implementation = Callable[..., Any]
"""Takes the state and the C arguments: objects for handles, addresses for other pointers, else numbers.

NULL was refused where it is not allowed. Raises a RuntimeFailure instead of returning a result code.
"""

IMPLEMENTATIONS: dict[str, Implementation] = {}


def implements(name: str) -> Callable[[Implementation], Implementation]:
    """Register the implementation of a declared function."""

    def register(implementation: Implementation) -> Implementation:
        if name not in BY_NAME or name in IMPLEMENTATIONS:
            raise ValueError(f"{name} is not declared, or implemented twice")
        IMPLEMENTATIONS[name] = implementation
        return implementation

    return register
