"""Builds a Model with fewer words: NNAPI's calls, with the operand numbers kept for the caller."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.model import Model


def quant8(dimensions: Sequence[int], scale: float, zero_point: int) -> OperandType:
    """A TENSOR_QUANT8_ASYMM type; the scale is rounded to float32, as NNAPI stores it."""
    return OperandType(
        OperandCode.TENSOR_QUANT8_ASYMM, tuple(dimensions), float(np.float32(scale)), zero_point
    )


class ModelBuilder:
    """Adds operands and operations to a model; methods return operand numbers."""

    def __init__(self, name: str = "model") -> None:
        self._model = Model(name)
        self._types: list[OperandType] = []

    def type_of(self, operand: int) -> OperandType:
        """The type of an operand."""
        return self._types[operand]

    def variable(self, type_: OperandType, name: str = "") -> int:
        """Add an operand without a value."""
        self._types.append(type_)
        return self._model.add_operand(type_, name)

    def constant(self, type_: OperandType, value: npt.NDArray[np.generic]) -> int:
        """Add an operand with a value of the type's dtype and dimensions."""
        operand = self.variable(type_)
        self._model.set_operand_value(operand, value)
        return operand

    def bias(self, source: int, weights: int, values: npt.NDArray[np.int32]) -> int:
        """Add an int32 bias (channels,) at the scale NNAPI asks for: input scale times weight scale."""
        scale = np.float32(self._types[source].scale) * np.float32(self._types[weights].scale)
        return self.constant(OperandType(OperandCode.TENSOR_INT32, values.shape, float(scale), 0), values)

    def scalars(self, *values: int) -> list[int]:
        """Add INT32 scalars."""
        return [
            self.constant(OperandType(OperandCode.INT32), np.asarray(value, np.int32)) for value in values
        ]

    def boolean(self, *, value: bool) -> int:
        """Add a BOOL scalar."""
        return self.constant(OperandType(OperandCode.BOOL), np.asarray(value, np.bool_))

    def operation(
        self, code: OperationCode, inputs: Sequence[int], output_type: OperandType, name: str = ""
    ) -> int:
        """Add an operation and its one output operand; both get the name."""
        output = self.variable(output_type, name)
        self._model.add_operation(code, inputs, [output], name)
        return output

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> Model:
        """Name the model's inputs and outputs and finish it; BadDataError if it breaks a rule of NNAPI."""
        self._model.identify_inputs_and_outputs(inputs, outputs)
        self._model.finish()
        return self._model
