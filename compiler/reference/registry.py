"""One operation with its values at hand, and the table of the functions that compute operations."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.errors import GraphError
from compiler.graph import OperandType
from compiler.nnapi import FuseCode, Numerics, OperandCode, OperationCode, ResultCode

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FLOAT, _QUANT8 = OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_QUANT8_ASYMM


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

    def any_tensor(self, position: int, *codes: OperandCode) -> Array:
        """Value of the tensor at `position`, which must have one of the types `codes`.

        A quantised one must have a positive scale.
        """
        kind = self.type(position)
        if kind.code not in codes:
            expected = " or ".join(code.name for code in codes)
            raise self.error(f"input {position} is {kind.code.name}, not {expected}", ResultCode.BAD_DATA)
        return self.quant8(position) if kind.code is _QUANT8 else self.tensor(position, kind.code)

    def is_float(self, position: int = 0) -> bool:
        """Tell a TENSOR_FLOAT32 at `position` from a TENSOR_QUANT8_ASYMM, and refuse anything else."""
        self.any_tensor(position, _FLOAT, _QUANT8)
        return self.type(position).code is _FLOAT

    def quant8(self, position: int) -> Array:
        """Value (uint8) of the quantised tensor at `position`, whose scale must be positive."""
        if self.type(position).code is _QUANT8:
            self._require_scale(f"input {position}", self.type(position))
        return self.tensor(position, _QUANT8)

    def real(self, position: int) -> Array:
        """Value (float32) of the tensor at `position`."""
        return self.tensor(position, _FLOAT)

    def wide(self, position: int) -> Floats:
        """Value of the float tensor at `position` in double precision."""
        return self.real(position).astype(np.float64)

    def steps(self, position: int) -> Integers:
        """Bytes of the quantised tensor at `position` less their zero point."""
        return self.quant8(position).astype(np.int64) - self.type(position).zero_point

    def result(self, code: OperandCode, index: int = 0) -> OperandType:
        """Type of the result at `index`, which must be `code`; the scale of a quantised one is positive."""
        kind = self.results[index]
        if kind.code is not code:
            raise self.error(f"output {index} is {kind.code.name}, not {code.name}", ResultCode.BAD_DATA)
        if code is _QUANT8:
            self._require_scale(f"output {index}", kind)
        return kind

    def quant8_result(self, index: int = 0) -> OperandType:
        """Type of the result at `index`, a quantised tensor whose scale must be positive."""
        return self.result(_QUANT8, index)

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

    def number(self, position: int) -> float:
        """Value of the FLOAT32 scalar at `position`, as float32 holds it."""
        return float(np.float32(self.scalar(position, OperandCode.FLOAT32)))

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

    def expect_shape(self, position: int, *shape: int) -> None:
        """Refuse a tensor of any other shape; an absent one passes."""
        value = self.arguments[position].value
        if value is not None and value.shape != shape:
            raise self.error(f"input {position} is {list(value.shape)}; it must be {list(shape)}")

    def expect_level_29(self, what: str) -> None:
        """Refuse a type of operand that level 27 does not know."""
        if self.is_level_27:
            raise self.error(f"{what} came with level 29; level 27 refuses it", ResultCode.BAD_DATA)

    def expect_kept_type(self, position: int = 0) -> None:
        """Refuse a first output that is not of the type, scale and zero point of the input at `position`."""
        if self.result(self.type(position).code).code is _QUANT8:
            self.expect_same_quantization(position)

    def expect_same_quantization(self, position: int = 0) -> None:
        """Refuse a first output whose scale or zero point is not that of the input at `position`."""
        source, result = self.type(position), self.quant8_result()
        if (source.scale, source.zero_point) != (result.scale, result.zero_point):
            raise self.error(
                f"the output has scale {result.scale} and zero point {result.zero_point}; this operation "
                f"does not rescale, so they must be the input's {source.scale} and {source.zero_point}"
            )


Reference = Callable[[Call], Sequence[Array]]
"""Computes one operation: its outputs in order, each with its operand's dtype."""

_REFERENCES: dict[OperationCode, Reference] = {}


def reference(code: OperationCode, outputs: int = 1) -> Callable[[Reference], Reference]:
    """Decorate a function to make it the meaning of `code`, an operation with so many `outputs`."""

    def register(function: Reference) -> Reference:
        def checked(call: Call) -> Sequence[Array]:
            if len(call.results) != outputs:
                raise call.error(f"{len(call.results)} outputs, expected {outputs}", ResultCode.BAD_DATA)
            return function(call)

        if code in _REFERENCES:
            raise ValueError(f"{code.name} has two reference functions")
        _REFERENCES[code] = checked
        return function

    return register


def references() -> dict[OperationCode, Reference]:
    """Every operation that has a reference; loads all modules of this package first."""
    package = __package__ or "compiler.reference"
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
    return dict(_REFERENCES)
