from collections.abc import Iterator

import pytest

from runtime.nnapi.table import NnApi
from tests.support.nnapi_client import Client


@pytest.fixture
def client() -> Iterator[Client]:
    """A client of a new table; at the end it waits for its runs, which write to its buffers."""
    with Client(NnApi("tiny")) as made:
        yield made
