"""Errors of the runtime: one type per result code, and the one place that maps errors from below.

Every message says what, where, which value, and what is allowed, in one line.
"""

import contextlib
from collections.abc import Iterator
from typing import ClassVar

from compiler.errors import CompilerError, GraphError, PlacementError, TileCountError, UnsupportedError
from compiler.nnapi import ResultCode
from isa.errors import IsaError
from npu_sim.errors import ConfigError, InputError, NpuSimError


class RuntimeFailure(Exception):  # noqa: N818  (RuntimeError is Python's)
    """Base of every error a runtime call answers with; `result_code` is NNAPI's code for it."""

    result_code: ClassVar[ResultCode]


class UnexpectedNullError(RuntimeFailure):
    """Something mandatory was None."""

    result_code = ResultCode.UNEXPECTED_NULL


class BadDataError(RuntimeFailure):
    """An argument, or what a model says, breaks a rule."""

    result_code = ResultCode.BAD_DATA


class OpFailedError(RuntimeFailure):
    """An operation rejects its operands, or the run failed."""

    result_code = ResultCode.OP_FAILED


class BadStateError(RuntimeFailure):
    """The call is not permitted at this point of the object's life."""

    result_code = ResultCode.BAD_STATE


class OutputInsufficientSizeError(RuntimeFailure):
    """The array given for an output has less room than the output needs."""

    result_code = ResultCode.OUTPUT_INSUFFICIENT_SIZE


class OutOfMemoryError(RuntimeFailure):
    """The host has too little memory."""

    result_code = ResultCode.OUT_OF_MEMORY


class UnmappableError(RuntimeFailure):
    """A memory cannot be accessed as it has to be."""

    result_code = ResultCode.UNMAPPABLE


class MissedDeadlineTransientError(RuntimeFailure):
    """A run took longer than its time limit because the device was busy; another try may do better."""

    result_code = ResultCode.MISSED_DEADLINE_TRANSIENT


class MissedDeadlinePersistentError(RuntimeFailure):
    """A run or a compilation takes longer than its time limit every time."""

    result_code = ResultCode.MISSED_DEADLINE_PERSISTENT


class ResourceExhaustedError(RuntimeFailure):
    """The device has too little of something for the model, every time."""

    result_code = ResultCode.RESOURCE_EXHAUSTED_PERSISTENT


class UnsupportedModelError(OpFailedError):
    """A legal model asks for something that is not implemented, or that the machine has no room for."""


class MissingPackageError(OpFailedError):
    """A call needs an optional package that is not installed."""


class ModelFileError(BadDataError):
    """A model file is damaged, or holds a model that cannot be imported."""


_BY_CODE: dict[ResultCode, type[RuntimeFailure]] = {
    kind.result_code: kind for kind in (UnexpectedNullError, BadDataError, OpFailedError, BadStateError)
}


@contextlib.contextmanager
def placed(place: str) -> Iterator[None]:
    """Say where an error comes from: its message gets `place` in front."""
    try:
        yield
    except RuntimeFailure as error:
        raise type(error)(f"{place}: {error}") from error


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn errors of the compiler, the instruction set and the simulator into the runtime's."""
    try:
        yield
    except GraphError as error:
        raise _BY_CODE[error.result_code](str(error)) from error
    except (UnsupportedError, PlacementError, TileCountError) as error:
        raise UnsupportedModelError(str(error)) from error
    except (ConfigError, InputError) as error:
        raise BadDataError(str(error)) from error
    except (CompilerError, IsaError, NpuSimError) as error:
        raise OpFailedError(str(error)) from error
