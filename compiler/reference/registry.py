"""One operation with its values at hand, and the table of the functions that compute operations."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.errors import GraphError, UnsupportedError
from compiler.graph import OperandType
from compiler.nnapi import FuseCode, Numerics, OperandCode, OperationCode, ResultCode

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """One input of an operation: its type and its value (None: an omitted optional operand)."""

    type: OperandType
    value: Array | None


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One operation about to be computed. `label` is how messages name it."""

    label: str
    arguments: tuple[Argument, ...]
    results: tuple[OperandType, ...]
    numerics: Numerics

    @property
    def count(self) -> int:
        """Number of inputs."""
        return len(self.arguments)

    @property
    def is_level_27(self) -> bool:
        """True if level 27's rules decide."""
        return self.numerics is Numerics.NNAPI27

    def error(self, message: str, code: ResultCode = ResultCode.OP_FAILED) -> GraphError:
        """Make a GraphError that names this operation; OP_FAILED is what a kernel's refusal answers."""
        return GraphError(f"{self.label}: {message}", code)

    def type(self, position: int) -> OperandType:
        """Type of the input at `position`."""
        return self.arguments[position].type

    def tensor(self, position: int, code: OperandCode) -> Array:
        """Value of the tensor at `position`, which must have type `code`."""
        argument = self.arguments[position]
        if argument.value is None:
            raise self.error(f"input {position} has no value", ResultCode.BAD_DATA)
        if argument.type.code is not code:
            raise self.error(
                f"input {position} is {argument.type.code.name}, not {code.name}", ResultCode.BAD_DATA
            )
        return argument.value

    def quant8(self, position: int) -> Array:
        """Value (uint8) of the quantised tensor at `position`, whose scale must be positive."""
        kind = self.type(position)
        if kind.code is OperandCode.TENSOR_FLOAT32:
            raise UnsupportedError(f"{self.label}: TENSOR_FLOAT32 is not supported, only TENSOR_QUANT8_ASYMM")
        self._require_scale(f"input {position}", kind)
        return self.tensor(position, OperandCode.TENSOR_QUANT8_ASYMM)

    def quant8_result(self) -> OperandType:
        """Type of the only result, a quantised tensor whose scale must be positive."""
        (kind,) = self.results
        if kind.code is not OperandCode.TENSOR_QUANT8_ASYMM:
            raise self.error(f"the output is {kind.code.name}, not TENSOR_QUANT8_ASYMM", ResultCode.BAD_DATA)
        self._require_scale("the output", kind)
        return kind

    def _require_scale(self, what: str, kind: OperandType) -> None:
        if not (np.isfinite(kind.scale) and kind.scale > 0):
            raise self.error(f"{what} has scale {kind.scale}; it must be positive", ResultCode.BAD_DATA)

    def scalar(self, position: int, code: OperandCode) -> Any:
        """Value of the scalar at `position`, which must have type `code`, as a Python number."""
        return self.tensor(position, code).item()

    def integer(self, position: int) -> int:
        """Value of the INT32 scalar at `position`."""
        return int(self.scalar(position, OperandCode.INT32))

    def integer_or(self, position: int, default: int) -> int:
        """Value of the optional INT32 scalar at `position`; `default` where it is absent."""
        return self.integer(position) if self.has(position) else default

    def flag(self, position: int) -> bool:
        """Value of the optional BOOL scalar at `position`; False where it is absent."""
        return bool(self.scalar(position, OperandCode.BOOL)) if self.has(position) else False

    def has(self, position: int) -> bool:
        """Tell whether there is an input at `position` that is not omitted."""
        return position < self.count and self.arguments[position].value is not None

    def fuse(self, position: int) -> FuseCode:
        """Read the fused activation that the INT32 scalar at `position` names."""
        value = self.integer(position)
        try:
            return FuseCode(value)
        except ValueError:
            raise self.error(f"activation {value} is none of the fuse codes 0…3") from None

    def expect_count(self, *allowed: int) -> None:
        """Refuse a number of inputs that is none of `allowed`."""
        if self.count not in allowed:
            expected = " or ".join(str(number) for number in allowed)
            raise self.error(f"{self.count} inputs, expected {expected}", ResultCode.BAD_DATA)

    def expect_rank(self, position: int, *allowed: int) -> None:
        """Refuse a tensor whose number of dimensions is none of `allowed`."""
        value = self.arguments[position].value
        if value is not None and value.ndim not in allowed:
            expected = " or ".join(str(number) for number in allowed)
            raise self.error(f"input {position} has rank {value.ndim}, expected {expected}")

    def expect_same_quantization(self, position: int = 0) -> None:
        """Refuse an output whose scale or zero point is not that of the input at `position`."""
        source, result = self.type(position), self.quant8_result()
        if (source.scale, source.zero_point) != (result.scale, result.zero_point):
            raise self.error(
                f"the output has scale {result.scale} and zero point {result.zero_point}; this operation "
                f"does not rescale, so they must be the input's {source.scale} and {source.zero_point}"
            )


Reference = Callable[[Call], Sequence[Array]]
"""Computes one operation: its outputs in order, each with its operand's dtype."""

_REFERENCES: dict[OperationCode, Reference] = {}


def reference(code: OperationCode) -> Callable[[Reference], Reference]:
    """Decorate a function to make it the meaning of `code`."""

    def register(function: Reference) -> Reference:
        if code in _REFERENCES:
            raise ValueError(f"{code.name} has two reference functions")
        _REFERENCES[code] = function
        return function

    return register


def references() -> dict[OperationCode, Reference]:
    """Every operation that has a reference; loads all modules of this package first."""
    package = __package__ or "compiler.reference"
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
    return dict(_REFERENCES)
