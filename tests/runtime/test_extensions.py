import pytest

from compiler.nnapi import OperandCode, OperationCode
from runtime.errors import BadDataError
from runtime.extensions import OPAQUE, is_registered, operand_code, operation_code


def test_a_name_has_one_prefix_for_the_whole_process() -> None:
    first, second = operand_code(OPAQUE.name, 0), operation_code(OPAQUE.name, 7)
    assert first >> 16 == second >> 16 > 0
    assert second & 0xFFFF == 7
    assert operand_code(OPAQUE.name, 0) == first


def test_types_are_known_once_they_are_named() -> None:
    code = operand_code(OPAQUE.name, 0)
    assert code.is_extension
    assert is_registered(code)
    assert is_registered(operation_code(OPAQUE.name, 3))
    assert not is_registered(OperandCode(code + 1))
    assert not is_registered(OperationCode(0x7FFF0000))


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("com.none", 0, "extension is 'com.none', must be one of org.npu_sim.opaque"),
        (OPAQUE.name, 1, r"has no operand type 1, must be one of \[0\]"),
    ],
)
def test_unknown_operand_types_are_bad_data(name: str, code: int, message: str) -> None:
    with pytest.raises(BadDataError, match=message):
        operand_code(name, code)


@pytest.mark.parametrize("code", [-1, 2**16])
def test_operation_codes_have_16_bits(code: int) -> None:
    with pytest.raises(BadDataError, match=f"is {code}, must be 0 to 65535"):
        operation_code(OPAQUE.name, code)
