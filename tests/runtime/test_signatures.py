import pytest

import compiler.ops  # noqa: F401  (fills the registry)
from compiler.nnapi import LEVEL_27_OPERATIONS, OperandCode, OperationCode
from runtime.errors import BadDataError
from runtime.signatures import check_signature

FLOAT, HALF, INT32 = OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_FLOAT16, OperandCode.TENSOR_INT32
QUANT8, SIGNED = OperandCode.TENSOR_QUANT8_ASYMM, OperandCode.TENSOR_QUANT8_ASYMM_SIGNED
PER_CHANNEL = OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL
INT, REAL, FLAG = OperandCode.INT32, OperandCode.FLOAT32, OperandCode.BOOL


@pytest.mark.parametrize("code", LEVEL_27_OPERATIONS)
def test_operations_of_level_27_are_judged(code: OperationCode) -> None:
    with pytest.raises(
        BadDataError, match=f"{code.name} has 40 inputs, must have|{code.name}: input 0 is BOOL"
    ):
        check_signature(code, [FLAG] * 40, [FLAG])


@pytest.mark.parametrize("code", [OperationCode.ABS, OperationCode.RANK, OperationCode(0x10002)])
def test_later_operations_and_those_of_extensions_are_not(code: OperationCode) -> None:
    check_signature(code, [FLAG], [REAL, INT])


@pytest.mark.parametrize("lists", [([], [FLOAT]), ([FLOAT], [])])
def test_every_operation_takes_and_returns_something(
    lists: tuple[list[OperandCode], list[OperandCode]],
) -> None:
    with pytest.raises(BadDataError, match="must have some"):
        check_signature(OperationCode.ABS, *lists)


@pytest.mark.parametrize(
    ("code", "inputs", "outputs"),
    [
        (OperationCode.CONV_2D, [QUANT8, QUANT8, INT32, *[INT] * 4], [QUANT8]),
        (OperationCode.CONV_2D, [QUANT8, PER_CHANNEL, INT32, *[INT] * 7, FLAG, INT, INT], [QUANT8]),
        (OperationCode.CONV_2D, [SIGNED, SIGNED, INT32, *[INT] * 4, FLAG, INT, INT], [SIGNED]),
        (OperationCode.DEPTHWISE_CONV_2D, [FLOAT, FLOAT, FLOAT, *[INT] * 8], [FLOAT]),
        (OperationCode.CONCATENATION, [QUANT8, INT], [QUANT8]),
        (OperationCode.CONCATENATION, [*[FLOAT] * 7, INT], [FLOAT]),
        (OperationCode.SOFTMAX, [HALF, OperandCode.FLOAT16], [HALF]),
        (OperationCode.MAX_POOL_2D, [FLOAT, *[INT] * 6, FLAG], [FLOAT]),
        (OperationCode.MAX_POOL_2D, [FLOAT, *[INT] * 9], [FLOAT]),
        (OperationCode.RESIZE_BILINEAR, [FLOAT, REAL, REAL, FLAG], [FLOAT]),
    ],
)
def test_signatures_of_the_header_pass(
    code: OperationCode, inputs: list[OperandCode], outputs: list[OperandCode]
) -> None:
    check_signature(code, inputs, outputs)


@pytest.mark.parametrize(
    ("code", "inputs", "outputs", "message"),
    [
        (OperationCode.ADD, [FLOAT, FLOAT], [FLOAT], "ADD has 2 inputs, must have 3"),
        (OperationCode.ADD, [FLOAT, FLOAT, INT], [FLOAT, FLOAT], "ADD has 2 outputs, must have 1"),
        (OperationCode.ADD, [FLOAT, QUANT8, INT], [FLOAT], "TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32"),
        (OperationCode.ADD, [FLOAT, FLOAT, REAL], [FLOAT], "ADD: input 2 is FLOAT32, must be INT32"),
        (OperationCode.ADD, [FLOAT, FLOAT, INT], [QUANT8], "TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32"),
        (OperationCode.FLOOR, [QUANT8], [QUANT8], "must be TENSOR_FLOAT32 or TENSOR_FLOAT16"),
        (OperationCode.CONCATENATION, [FLOAT, FLOAT], [FLOAT], "input 1 is TENSOR_FLOAT32, must be INT32"),
        (OperationCode.CONCATENATION, [INT], [FLOAT], "CONCATENATION has 1 inputs, must have 2"),
        (OperationCode.CONV_2D, [QUANT8, FLOAT, INT32, *[INT] * 4], [QUANT8], "input 1 is TENSOR_FLOAT32"),
    ],
)  # fmt: skip
def test_other_numbers_and_types_are_bad_data(
    code: OperationCode, inputs: list[OperandCode], outputs: list[OperandCode], message: str
) -> None:
    with pytest.raises(BadDataError) as caught:
        check_signature(code, inputs, outputs)
    assert message in str(caught.value)
