"""Fills the table of functions of a loaded libneuralnetworks.so."""

import ctypes
import itertools
import logging
from collections.abc import Callable
from typing import Any

from compiler.nnapi import ResultCode
from runtime.errors import BadDataError
from runtime.nnapi.declarations import FUNCTIONS, Argument, Function, Null
from runtime.nnapi.native.source import fingerprint
from runtime.nnapi.table import C_NUMBERS, NnApi

logger = logging.getLogger(__name__)

_POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)

_kept: list[object] = []
"""What C may call until the process ends."""


def check_fingerprint(found: str) -> None:
    """Refuse a library that was built for another list of functions (BadDataError)."""
    if found != fingerprint():
        raise BadDataError(
            "the library was built by another version of npu-sim; `npu-sim nnapi --libdir` builds a new one"
        )


def fill(address: int, api: NnApi, at_exit: Callable[[], None] | None) -> None:
    """Make the table at an address call `api`, and `at_exit` at the end of the process.

    The table has a mark that it is complete, `at_exit`, and the functions in the order of the declarations,
    each of the size of a pointer.
    """
    leave = None if at_exit is None else ctypes.CFUNCTYPE(None)(_guarded(at_exit, "at_exit", None))
    callbacks = [_callback(function, api) for function in FUNCTIONS]
    _kept.extend([leave, *callbacks])
    entries = itertools.count(address, _POINTER_BYTES)
    mark = next(entries)
    for entry, callback in zip(entries, [leave, *callbacks], strict=False):
        pointer = None if callback is None else ctypes.cast(callback, ctypes.c_void_p)
        ctypes.c_void_p.from_address(entry).value = None if pointer is None else pointer.value
    ctypes.c_void_p.from_address(mark).value = 1


def _callback(function: Function, api: NnApi) -> Any:
    """A C function that calls Python; it takes Python's lock for as long as it runs and does not wait."""
    result = C_NUMBERS.get(function.return_type)
    arguments = (_c_type(argument) for argument in function.arguments)
    failure = None if result is None else -1 if function.name == "ASharedMemory_create" else 0
    if function.return_type == "int" and failure == 0:
        failure = ResultCode.OP_FAILED
    return ctypes.CFUNCTYPE(result, *arguments)(_guarded(getattr(api, function.name), function.name, failure))


def _c_type(argument: Argument) -> type[Any]:
    return ctypes.c_void_p if argument.null is not Null.NO_POINTER else C_NUMBERS[argument.c_type]


def _guarded(call: Callable[..., Any], name: str, failure: int | None) -> Callable[..., Any]:
    """The function, with an answer instead of an exception: C could not see one."""

    def guarded(*arguments: Any) -> Any:
        try:
            answer = call(*arguments)
        except BaseException:
            logger.exception("%s failed", name)
            return failure
        logger.debug("%s%s: %s", name, arguments, answer)
        return answer

    return guarded
