import pytest

from compiler.graph import OperandType
from compiler.nnapi import OperandCode
from runtime.errors import BadDataError
from runtime.operand_rules import checked_type

QUANT8, FLOAT = OperandCode.TENSOR_QUANT8_ASYMM, OperandCode.TENSOR_FLOAT32


@pytest.mark.parametrize(
    "kind",
    [
        OperandType(QUANT8, (), 1.0, 0),
        OperandType(QUANT8, (0, 3), 1.0, 255),
        OperandType(OperandCode.TENSOR_INT32, (4,), 0.25, 0),
        OperandType(FLOAT, (4,)),
        OperandType(OperandCode.BOOL),
        OperandType(QUANT8, (2**32 - 1,), 1.0, 0),
    ],
)
def test_types_that_nnapi_permits_pass(kind: OperandType) -> None:
    assert checked_type(kind) == kind


@pytest.mark.parametrize(
    ("kind", "fragment"),
    [
        (OperandType(16, (1,)), "operand code is 16, must be one of 0"),
        (OperandType(OperandCode.INT32, (1,)), r"INT32 operand has dimensions \[1\], must have none"),
        (OperandType(OperandCode.FLOAT32, (), 1.0), "FLOAT32 operand has scale 1 and zero point 0"),
        (OperandType(FLOAT, (1,), 0.0, 1), "TENSOR_FLOAT32 operand has scale 0 and zero point 1"),
        (OperandType(QUANT8, (1,), 0.0, 0), "has scale 0.0, must be greater than 0"),
        (OperandType(QUANT8, (1,), 1e-60, 0), "has scale 1e-60, must be greater than 0"),
        (OperandType(QUANT8, (1,), -1.0, 0), "has scale -1.0, must be finite and at least 0"),
        (OperandType(QUANT8, (1,), float("nan"), 0), "has scale nan, must be finite"),
        (OperandType(QUANT8, (1,), 1e60, 0), "has scale 1e\\+60, must be finite"),
        (OperandType(QUANT8, (1,), 1.0, 256), "has zero point 256, must be 0 to 255"),
        (OperandType(QUANT8, (1,), 1.0, -1), "has zero point -1, must be 0 to 255"),
        (OperandType(QUANT8, (-1,), 1.0, 0), r"has dimensions \[-1\], must be 0 to 2\^32 - 1 each"),
        (OperandType(FLOAT, (2**15, 2**15)), r"4294967296 bytes; must be below 2\^32"),
    ],
)  # fmt: skip
def test_types_that_nnapi_forbids_are_bad_data(kind: OperandType, fragment: str) -> None:
    with pytest.raises(BadDataError, match=fragment):
        checked_type(kind)
