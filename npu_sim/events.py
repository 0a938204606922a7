"""Everything a simulator ever says: the events that hooks receive.

Times are integer NPU cycles since the start of the run. A lane (`source`) is a name path such as
"dma0", "matrix1", "vector0", "fetch", "dram". Spans of one lane never overlap.
"""

import enum
from typing import NamedTuple


class StallReason(enum.StrEnum):
    """Why a unit with work to do did not do it."""

    SEMAPHORE = "semaphore"
    """Held by a Wait."""
    INSTRUCTION = "instruction"
    """Its next instruction had not been dispatched yet (fetch, or a full queue before it)."""
    OUTPUT_STAGE = "output_stage"
    """The output stage is still draining the accumulators it needs."""
    SRAM = "sram"
    """Slowed by SRAM bandwidth: others used the ports."""
    DRAM = "dram"
    """Waiting for DRAM: latency, or bandwidth taken by others."""


class Span(NamedTuple):
    """A unit executed one instruction from `start` to `end`."""

    start: int
    end: int
    source: str
    what: str
    """Mnemonic of the instruction."""
    instruction: int
    """Index of the instruction in the program."""
    layer: int
    """Index of the layer it works for."""


class Stall(NamedTuple):
    """A unit waited from `start` to `end` for one reason."""

    start: int
    end: int
    source: str
    reason: StallReason


class Activity(NamedTuple):
    """`amount` countable events of kind `action` happened by `cycle`; energy is counted from these."""

    cycle: int
    source: str
    action: str
    amount: int
    layer: int


class Retire(NamedTuple):
    """An instruction's results are visible from `cycle` on."""

    cycle: int
    source: str
    instruction: int
    layer: int


class Flow(NamedTuple):
    """A wait that ended: signal `count` of `semaphore` by `source` released `target` at `cycle`."""

    cycle: int
    source: str
    target: str
    semaphore: int
    count: int  # type: ignore[assignment]  # the field hides tuple.count on purpose
