"""The table of API cases, and what brings each of its situations about."""

from collections.abc import Sequence
from typing import Any

from compiler.nnapi import ResultCode
from tests.support.nnapi_cases import compilation, execution, memory, model, run  # noqa: F401
from tests.support.nnapi_cases.registry import SITUATIONS
from tests.support.nnapi_client import Client
from tests.support.shared import SHARED, shared_json

LEVEL = 30


def cases() -> list[dict[str, Any]]:
    """The cases up to the level; none where the evidence is absent."""
    if not SHARED.exists():
        return []
    table = shared_json("nnapi", "api_validation.json")
    return [case for case in table if case["since_level"] <= LEVEL]


def check(case: dict[str, Any], client: Client) -> None:
    """Bring a case's situation about; AssertionError if the result is another than expected."""
    result = SITUATIONS[case["api"], case["situation"]](client)
    expected = case["expected_code"]
    for answer in result if isinstance(result, Sequence) else [result]:
        assert _is_expected(answer, expected), f"answers {_name(answer)}, must answer {expected}"


def _is_expected(answer: int | None, expected: str) -> bool:
    if expected.startswith("(void"):
        return answer is None
    if expected.startswith("returns "):
        return answer == int(expected.removeprefix("returns "))
    if expected == "anything but NO_ERROR":
        return answer != ResultCode.NO_ERROR
    if expected == "code of the failure":
        return answer == ResultCode.OP_FAILED
    return answer in [ResultCode[name] for name in expected.split(" | ")]


def _name(answer: int | None) -> str:
    return ResultCode(answer).name if answer in tuple(ResultCode) else str(answer)
