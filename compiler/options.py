"""Options of one compilation."""

import dataclasses
import enum

from compiler.nnapi import Numerics


class Objective(enum.StrEnum):
    """What a compilation minimises."""

    CYCLES = "cycles"
    """Estimated latency of one inference."""
    BYTES = "bytes"
    """DRAM traffic; among plans with equal traffic, latency."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TileLimits:
    """Largest tile the tiler may choose in each dimension; None: no limit of its own."""

    height: int | None = None
    width: int | None = None
    channels: int | None = None
    reduction: int | None = None

    def __post_init__(self) -> None:
        for name in ("height", "width", "channels", "reduction"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"tile limit {name} = {value}: at least 1")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """What to compile for.

    `keep_tensors` stores every operation's output in a DRAM region of its own and fuses nothing: another
    program with other cycles, the same values.
    """

    objective: Objective = Objective.CYCLES
    numerics: Numerics = Numerics.NNAPI
    keep_tensors: bool = False
    tile_limits: TileLimits = TileLimits()
