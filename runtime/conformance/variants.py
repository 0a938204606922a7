"""The variants that AOSP derives from a case by moving operands about; answers stay the same."""

import dataclasses
from collections.abc import Callable

import numpy as np

from compiler.graph import Operand, OperandType, Operation
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from runtime.conformance.case import Case

_SUMMED = (
    OperandCode.TENSOR_FLOAT32,
    OperandCode.TENSOR_QUANT8_ASYMM,
    OperandCode.TENSOR_QUANT8_ASYMM_SIGNED,
)
"""Types that ADD takes and that can hold zero."""


def with_tensors_as_inputs(case: Case) -> Case:
    """Every constant tensor is a model input instead, behind the others, in operand order."""
    operands = list(case.graph.operands)
    values = {
        number: operand.value
        for number, operand in enumerate(operands)
        if operand.value is not None and not operand.type.code.is_scalar
    }
    for number in values:
        operands[number] = dataclasses.replace(operands[number], value=None)
    return dataclasses.replace(
        case,
        variant="all_tensors_as_inputs",
        graph=dataclasses.replace(case.graph, operands=tuple(operands), inputs=(*case.graph.inputs, *values)),
        by_reference=case.by_reference - values.keys(),
        examples=tuple(
            dataclasses.replace(example, inputs=(*example.inputs, *values.values()))
            for example in case.examples
        ),
    )


def with_internal_inputs(case: Case) -> Case:
    """Every input of a type that ADD takes is the sum of a new input and zero.

    Inputs that an example leaves out stay what they are.
    """
    operands, operations, inputs = list(case.graph.operands), [], []
    left_out = {
        number
        for example in case.examples
        for number, value in zip(case.graph.inputs, example.inputs, strict=True)
        if value is None
    }
    for number in case.graph.inputs:
        type_ = operands[number].type
        if type_.code not in _SUMMED or number in left_out:
            inputs.append(number)
            continue
        one = dataclasses.replace(type_, dimensions=(1,))
        inputs.append(len(operands))
        operands += [
            Operand(type_),
            Operand(one, value=np.array([type_.zero_point], type_.dtype)),
            Operand(OperandType(OperandCode.INT32), value=np.array(FuseCode.NONE, np.int32)),
        ]
        operations.append(Operation(OperationCode.ADD, tuple(range(inputs[-1], len(operands))), (number,)))
    graph = dataclasses.replace(
        case.graph,
        operands=tuple(operands),
        operations=(*operations, *case.graph.operations),
        inputs=tuple(inputs),
    )
    return dataclasses.replace(case, variant="all_inputs_as_internal", graph=graph)


_DERIVATIONS: dict[str, Callable[[Case], Case]] = {
    "all_tensors_as_inputs": with_tensors_as_inputs,
    "all_inputs_as_internal": with_internal_inputs,
}


def variants(case: Case) -> list[Case]:
    """The variants that AOSP runs beside a case."""
    return [derive(case) for name, derive in _DERIVATIONS.items() if name in case.derivable]
