"""Every case of the table of API calls up to level 30, through the Python table."""

from typing import Any

import pytest

from runtime.nnapi.table import NnApi
from tests.support.nnapi_cases.table import cases, check
from tests.support.nnapi_client import Client


@pytest.fixture(scope="module")
def api() -> NnApi:
    return NnApi("tiny")


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['api']}: {case['situation']}")
def test_the_case_holds(api: NnApi, case: dict[str, Any]) -> None:
    with Client(api) as client:
        check(case, client)
