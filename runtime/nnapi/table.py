"""`NnApi`: NNAPI as C sees it, a table of functions that take numbers and return result codes.

What every function has in common is here, once: C types, NULL, handles, result codes, and what a failed call
leaves. What a function does is in the module of its family.
"""

import ctypes
import functools
import logging
from collections.abc import Callable
from typing import Any

from compiler.nnapi import ResultCode
from npu_sim.config import MachineConfig
from runtime.device import RunOptions
from runtime.device_registry import DEFAULT_MACHINE
from runtime.errors import OpFailedError, OutOfMemoryError, RuntimeFailure, UnexpectedNullError
from runtime.execution import Execution
from runtime.listed_device import list_devices
from runtime.nnapi import (  # noqa: F401  (they fill IMPLEMENTATIONS)
    burst_calls,
    compilation_calls,
    device_calls,
    event_calls,
    execution_calls,
    foreign_memory,
    memory_calls,
    memory_description_calls,
    model_calls,
)
from runtime.nnapi.declarations import ANDROID_SDK_VERSION, BY_NAME, FUNCTIONS, Argument, Function, Null
from runtime.nnapi.handles import HandleTable
from runtime.nnapi.state import IMPLEMENTATIONS, State

logger = logging.getLogger(__name__)

C_NUMBERS: dict[str, type[Any]] = {
    "bool": ctypes.c_bool,
    "float": ctypes.c_float,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "ANeuralNetworksOperationType": ctypes.c_int32,
}
"""C's types that are no pointers."""

_RESULTS: dict[str, type[Any]] = {
    "int*": ctypes.c_int,
    "uint64_t*": ctypes.c_uint64,
}


class NnApi:
    """The functions of `declarations`, as methods with their C names: `api.ANeuralNetworksModel_create(…)`.

    Numbers are given as Python's, handles and other pointers as `foreign_memory.address_of` takes them. The
    result is that of C: a ResultCode, None for void, or a number. Wrong Python types raise TypeError; nothing
    else is raised. Calls may come from any thread.

    `machine` is the simulated NPU's; `new_run_options` makes those of each execution; `on_run` is told of
    each one that has succeeded, in the thread that ran it.
    """

    nnapi_exists = True
    android_sdk_version = ANDROID_SDK_VERSION

    def __init__(
        self,
        machine: str | MachineConfig = DEFAULT_MACHINE,
        *,
        new_run_options: Callable[[], RunOptions] = RunOptions,
        on_run: Callable[[Execution], None] | None = None,
    ) -> None:
        handles, devices = HandleTable(), list_devices(machine)
        device_handles = tuple(handles.add("Device", device) for device in devices)
        self._state = State(devices, device_handles, handles, new_run_options, on_run)
        for function in FUNCTIONS:
            setattr(self, function.name, functools.partial(self.call, function.name))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"NNAPI has no function {name}")

    @property
    def handles(self) -> HandleTable:
        """All handles in use."""
        return self._state.handles

    def call(self, name: str, *arguments: object) -> Any:
        """Call a function by its C name."""
        function = BY_NAME[name]
        if len(arguments) != len(function.arguments):
            raise TypeError(f"{function.prototype} is given {len(arguments)} arguments")
        values = [_number(*pair) for pair in zip(function.arguments, arguments, strict=True)]
        if name.endswith("_free"):
            return self._free(function, values[0])
        try:
            result = self._called(function, values)
        except RuntimeFailure as failure:
            return _answer(function, failure)
        except MemoryError:
            return _answer(function, OutOfMemoryError("the host has too little memory"))
        except Exception as error:
            logger.exception("%s failed", name)
            return _answer(function, OpFailedError(f"{type(error).__name__}: {error}"))
        return ResultCode.NO_ERROR if result is None else result

    def _called(self, function: Function, values: list[Any]) -> Any:
        given = dict(zip((argument.name for argument in function.arguments), values, strict=True))
        for argument, value in zip(function.arguments, values, strict=True):
            if argument.on_failure is not None and value:
                foreign_memory.write(
                    value, _RESULTS.get(argument.c_type, ctypes.c_void_p), argument.on_failure
                )
        for argument, value in zip(function.arguments, values, strict=True):
            if value == 0 and _refuses_null(argument, given):
                raise UnexpectedNullError(f"{argument.name} is NULL")
        for position, argument in enumerate(function.arguments):
            if argument.family is not None:
                values[position] = self._state.handles.get(argument.family, values[position])
        return IMPLEMENTATIONS[function.name](self._state, *values)

    def _free(self, function: Function, handle: int) -> None:
        """Free a handle, after the end of what runs for an event; NULL and stale handles do nothing."""
        (argument,) = function.arguments
        assert argument.family is not None
        if handle == 0:
            return
        freed = self._state.handles.free(argument.family, handle)
        if freed is None:
            logger.warning("%s: the handle %#x is not in use", function.name, handle)
        elif argument.family == "Event":
            freed.join()  # type: ignore[attr-defined]


def _number(argument: Argument, value: object) -> Any:
    """A C argument as a number: pointers as addresses, integers cut to C's range, indexes read unsigned."""
    if argument.null is not Null.NO_POINTER:
        return foreign_memory.address_of(value)
    c_type = ctypes.c_uint32 if argument.name == "index" else C_NUMBERS[argument.c_type]
    return c_type(getattr(value, "value", value)).value  # type: ignore[arg-type]


def _refuses_null(argument: Argument, given: dict[str, Any]) -> bool:
    if argument.null is Null.IF_EMPTY:
        return bool(given[argument.count])
    return argument.null is Null.ERROR


def _answer(function: Function, failure: RuntimeFailure) -> ResultCode:
    """Log why a call failed and give its result code."""
    logger.info("%s: %s: %s", function.name, failure.result_code.name, failure)
    return failure.result_code
