import pytest

from compiler.errors import CompilerError, GraphError, PlacementError, UnsupportedError
from compiler.nnapi import ResultCode
from isa.errors import IsaError, VerificationError
from npu_sim.errors import ConfigError, DeadlockError, InputError, NpuSimError
from runtime.errors import (
    BadDataError,
    BadStateError,
    ModelFileError,
    OpFailedError,
    RuntimeFailure,
    UnexpectedNullError,
    UnsupportedModelError,
    translated,
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (UnexpectedNullError, ResultCode.UNEXPECTED_NULL),
        (BadDataError, ResultCode.BAD_DATA),
        (OpFailedError, ResultCode.OP_FAILED),
        (BadStateError, ResultCode.BAD_STATE),
        (UnsupportedModelError, ResultCode.OP_FAILED),
        (ModelFileError, ResultCode.BAD_DATA),
    ],
)
def test_every_error_has_its_result_code(kind: type[RuntimeFailure], code: ResultCode) -> None:
    assert kind("message").result_code is code


@pytest.mark.parametrize(
    ("below", "above"),
    [
        (GraphError("m", ResultCode.BAD_DATA), BadDataError),
        (GraphError("m", ResultCode.OP_FAILED), OpFailedError),
        (UnsupportedError("m"), UnsupportedModelError),
        (PlacementError("m"), UnsupportedModelError),
        (VerificationError("m"), OpFailedError),
        (DeadlockError("m"), OpFailedError),
        (InputError("m"), BadDataError),
        (ConfigError("m"), BadDataError),
    ],
)
def test_errors_from_below_become_the_runtimes_with_the_same_message(
    below: CompilerError | IsaError | NpuSimError, above: type[RuntimeFailure]
) -> None:
    with pytest.raises(above, match=r"^m$") as caught, translated():
        raise below
    assert type(caught.value) is above


def test_other_exceptions_pass() -> None:
    with pytest.raises(KeyError), translated():
        raise KeyError("k")
