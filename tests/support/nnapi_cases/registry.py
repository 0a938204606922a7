"""The situations of the table of API cases, by function and text, as calls of a client."""

from collections.abc import Callable
from typing import Any

from tests.support.nnapi_client import Client

Situation = Callable[[Client], Any]
"""Brings a situation about; returns the function's result, or one result for each of several tries."""

SITUATIONS: dict[tuple[str, str], Situation] = {}


def situation(function: str, *texts: str) -> Callable[[Situation], Situation]:
    """Register a situation of a function, named without its prefix; several texts: they mean the same."""

    def register(bring_about: Situation) -> Situation:
        for text in texts:
            key = f"ANeuralNetworks{function}", text
            if key in SITUATIONS:
                raise ValueError(f"{key} is registered twice")
            SITUATIONS[key] = bring_about
        return bring_about

    return register


def situations(function: str, table: dict[str, Situation]) -> None:
    """Register several situations of a function."""
    for text, bring_about in table.items():
        situation(function, text)(bring_about)
