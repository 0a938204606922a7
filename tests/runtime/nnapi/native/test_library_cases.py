"""Every case of the table of API calls up to level 30, through the library."""

from typing import Any

import pytest

from tests.support.native_client import NEEDS_COMPILER, LoadedApi
from tests.support.nnapi_cases.table import cases, check
from tests.support.nnapi_client import Client

pytestmark = NEEDS_COMPILER


@pytest.fixture(scope="module")
def api() -> LoadedApi:
    return LoadedApi()


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['api']}: {case['situation']}")
def test_the_case_holds(api: LoadedApi, case: dict[str, Any]) -> None:
    with Client(api) as client:
        check(case, client)
