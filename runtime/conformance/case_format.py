"""The JSON of a conformance case, format 1, as it stands in the file; `case_file` gives it meaning.

Numbers of float types, and scales, may be decimal strings; "nan", "inf" and "-inf" among them.
"""

import enum
from typing import Annotated, Literal

import msgspec

Number = int | float | str
Count = Annotated[int, msgspec.Meta(ge=0)]


class Lifetime(enum.StrEnum):
    """Where an operand's value comes from."""

    INPUT = "input"
    OUTPUT = "output"
    INTERNAL = "internal"
    CONSTANT = "const"
    NO_VALUE = "no_value"
    SUBGRAPH = "subgraph"


class StoredOperand(msgspec.Struct, frozen=True):
    """An operand. `dims` of a scalar is empty; `value` is flat, row-major."""

    type: str
    dims: tuple[Count, ...]
    lifetime: Lifetime
    scale: Number = 0.0
    zp: int = 0
    channel_dim: int = 0
    channel_scales: tuple[Number, ...] = ()
    channel_hide: bool = False
    value: tuple[Number, ...] = ()
    by_reference: bool = False
    ignored: bool = False


class StoredOperation(msgspec.Struct, frozen=True, rename={"inputs": "in", "outputs": "out"}):
    """An operation on operands by their indices."""

    op: str
    inputs: tuple[Count, ...]
    outputs: tuple[Count, ...]


class StoredModel(msgspec.Struct, frozen=True):
    """A model; an operand's index is its position."""

    operands: tuple[StoredOperand, ...]
    operations: tuple[StoredOperation, ...]
    inputs: tuple[Count, ...]
    outputs: tuple[Count, ...]


class StoredExample(msgspec.Struct, frozen=True):
    """Flat arrays in the order of the model's inputs and outputs; null: left out, or not checked."""

    test: str
    inputs: tuple[tuple[Number, ...] | None, ...]
    outputs: tuple[tuple[Number, ...] | None, ...]


class StoredCase(msgspec.Struct, frozen=True):
    """A whole file; keys that decide nothing here are skipped."""

    format: Literal[1]
    name: str
    api_level: int
    expect_failure: bool
    lifetime_variants: tuple[str, ...]
    model: StoredModel
    examples: tuple[StoredExample, ...]
    referenced: tuple[StoredModel, ...] = ()
