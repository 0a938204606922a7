"""The evidence beside the repository: vectors, goldens, networks. Tests skip where it is absent."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT

SHARED = (ROOT / ".." / "shared").resolve()


def shared_path(*parts: str) -> Path:
    """A file or folder of the evidence; skips the test that asks if it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"evidence {Path('..', 'shared', *parts)} is not here")
    return path


def shared_json(*parts: str) -> Any:
    """Content of a JSON file of the evidence."""
    return json.loads(shared_path(*parts).read_text())
