"""A conformance case as plain data."""

import dataclasses
from typing import NamedTuple

from compiler.graph import Graph
from runtime.device import Array


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One execution. Inputs (None: left out) and expected outputs (None: not checked) are in model order."""

    name: str
    inputs: tuple[Array | None, ...]
    outputs: tuple[Array | None, ...]


class Subject(NamedTuple):
    """What a case is about: an operation and the type of its data, both by NNAPI's names."""

    operation: str
    type: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model with examples, from a file or derived from such a case.

    `variant` names what was derived, `derivable` the variants that can be made of a case from a file.
    `api_level` is the lowest level that must accept the model. `by_reference` are the constants that are
    supplied in a memory. With `expect_failure` an error is the answer.
    """

    name: str
    variant: str = ""
    derivable: tuple[str, ...] = ()
    subjects: tuple[Subject, ...]
    api_level: int
    expect_failure: bool
    graph: Graph
    by_reference: frozenset[int] = frozenset()
    examples: tuple[Example, ...]
