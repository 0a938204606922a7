"""The runtime: NNAPI's objects, the devices, and `run`. Start reading at `runner.py`.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compiler.graph import OperandType
    from compiler.nnapi import (
        FuseCode,
        Numerics,
        OperandCode,
        OperationCode,
        PaddingCode,
        PreferenceCode,
        ResultCode,
    )
    from runtime.burst import Burst
    from runtime.compilation import Compilation
    from runtime.device_registry import device_names, get_device
    from runtime.errors import ModelFileError, RuntimeFailure, UnsupportedModelError
    from runtime.event import Event, FenceEvent
    from runtime.execution import Execution
    from runtime.inputs import fixed_input
    from runtime.listed_device import ListedDevice, list_devices
    from runtime.memory import Memory
    from runtime.memory_description import MemoryDescription
    from runtime.model import Model
    from runtime.result import RunResult
    from runtime.runner import compile_model, run, run_compilation, run_program
    from runtime.tflite import load_tflite

_HOMES = {
    "compiler.graph": ("OperandType",),
    "compiler.nnapi": (
        "FuseCode",
        "Numerics",
        "OperandCode",
        "OperationCode",
        "PaddingCode",
        "PreferenceCode",
        "ResultCode",
    ),
    "runtime.burst": ("Burst",),
    "runtime.compilation": ("Compilation",),
    "runtime.device_registry": ("device_names", "get_device"),
    "runtime.errors": ("ModelFileError", "RuntimeFailure", "UnsupportedModelError"),
    "runtime.event": ("Event", "FenceEvent"),
    "runtime.execution": ("Execution",),
    "runtime.inputs": ("fixed_input",),
    "runtime.listed_device": ("ListedDevice", "list_devices"),
    "runtime.memory": ("Memory",),
    "runtime.memory_description": ("MemoryDescription",),
    "runtime.model": ("Model",),
    "runtime.result": ("RunResult",),
    "runtime.runner": ("compile_model", "run", "run_compilation", "run_program"),
    "runtime.tflite": ("load_tflite",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Burst",
    "Compilation",
    "Event",
    "Execution",
    "FenceEvent",
    "FuseCode",
    "ListedDevice",
    "Memory",
    "MemoryDescription",
    "Model",
    "ModelFileError",
    "Numerics",
    "OperandCode",
    "OperandType",
    "OperationCode",
    "PaddingCode",
    "PreferenceCode",
    "ResultCode",
    "RunResult",
    "RuntimeFailure",
    "UnsupportedModelError",
    "compile_model",
    "device_names",
    "fixed_input",
    "get_device",
    "list_devices",
    "load_tflite",
    "run",
    "run_compilation",
    "run_program",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
