"""Errors of the runtime: one type per result code, and the one place that maps errors from below.

Every message says what, where, which value, and what is allowed, in one line.
"""

import contextlib
from collections.abc import Iterator
from typing import ClassVar

from compiler.errors import CompilerError, GraphError, UnsupportedError
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


class UnsupportedModelError(OpFailedError):
    """A legal model asks for something that is not implemented."""


class ModelFileError(BadDataError):
    """A model file is damaged, or holds a model that cannot be imported."""


_BY_CODE: dict[ResultCode, type[RuntimeFailure]] = {
    kind.result_code: kind for kind in (UnexpectedNullError, BadDataError, OpFailedError, BadStateError)
}


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn errors of the compiler, the instruction set and the simulator into the runtime's."""
    try:
        yield
    except GraphError as error:
        raise _BY_CODE[error.result_code](str(error)) from error
    except UnsupportedError as error:
        raise UnsupportedModelError(str(error)) from error
    except (ConfigError, InputError) as error:
        raise BadDataError(str(error)) from error
    except (CompilerError, IsaError, NpuSimError) as error:
        raise OpFailedError(str(error)) from error
