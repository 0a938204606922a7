"""DRAM time in closed form: rate, row changes, refresh share, latency; integer picoseconds.

An access is a sequence of contiguous runs. It fetches every burst it touches and opens every page (row) it
touches; bursts and pages that one run shares with the run before it are fetched and opened once. So runs
that join are one run, a gap inside an open page costs no row change, and no byte more ever takes less time.

    time = (bursts x burst time + row segments x row change) x interval / (interval - refresh)

rounded up to a picosecond once, at the end. Bank conflicts, read-write turnaround and the state of rows
between accesses are not modelled: each access finds its first page closed.

For two LPDDR4X-4266 channels of 16 bits (`hardware-reference.md`, section 5; JEDEC values as published in
DRAMSys) that work as one of 32 bits, a burst of 64 bytes takes 3.75 ns at 17.064 GB/s and a page of 2 x 2 KiB
takes 240 ns. All-bank refresh takes tRFCab = 381 ns every tREFI = 3912 ns, 9.7 %. A row change is
tRP + tRCD = 36.6 ns; with interleaved banks the next bank's precharge (tRP) is long over when the stream
crosses into it, and its activation (tRCD = 18.3 ns) is what remains exposed (assumed: a controller that
looks no further ahead than the page). Sequential: 0.903 x 240 / (240 + 18.3) = 0.839 of peak, within the
0.80 to 0.85 that the reference gives for sequential DMA.
"""

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PS_PER_SECOND = 10**12
_MAX_RUNS_AT_ONCE = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DramTiming:
    """What the time of an access depends on.

    `row_change_ps` is the exposed part of a row change, `latency_ps` the time from a request to its first
    byte (for the units to add; no access time contains it), `refresh_ps` the time lost to refresh in every
    `refresh_interval_ps`.
    """

    peak_bytes_per_second: int
    burst_bytes: int
    page_bytes: int
    row_change_ps: int
    latency_ps: int
    refresh_interval_ps: int
    refresh_ps: int

    def __post_init__(self) -> None:
        for name in ("peak_bytes_per_second", "burst_bytes", "page_bytes", "refresh_interval_ps"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        for name in ("row_change_ps", "latency_ps", "refresh_ps"):
            self._require(name, getattr(self, name) >= 0, "at least 0")
        self._require(
            "page_bytes", self.page_bytes % self.burst_bytes == 0, f"a multiple of {self.burst_bytes} (burst)"
        )
        self._require(
            "refresh_ps",
            self.refresh_ps < self.refresh_interval_ps,
            f"less than the interval of {self.refresh_interval_ps}",
        )

    def _require(self, name: str, holds: bool, allowed: str) -> None:
        if not holds:
            raise ValueError(f"dram: {name} is {getattr(self, name)}, must be {allowed}")


class DramAccess(NamedTuple):
    """Cost of one access: time without latency, bytes of all bursts fetched, pages opened."""

    time_ps: int
    touched_bytes: int
    row_segments: int


def dram_access(
    timing: DramTiming,
    offset_bytes: int,
    run_bytes: int,
    counts: tuple[int, ...] = (1,),
    strides_bytes: tuple[int, ...] = (0,),
) -> DramAccess:
    """Cost of a strided access.

    `run_bytes` contiguous bytes from `offset_bytes` on, repeated `counts[i]` times at `strides_bytes[i]`;
    entry 0 varies fastest. Pages start at multiples of `page_bytes`. Raises ValueError if the access
    is empty or has a negative offset or stride.
    """
    if (
        len(counts) != len(strides_bytes)
        or min(run_bytes, *counts) < 1
        or min(offset_bytes, *strides_bytes) < 0
    ):
        raise ValueError(
            f"dram access at {offset_bytes}, runs of {run_bytes} bytes, counts {counts}, "
            f"strides {strides_bytes}: "
            "needs a stride for each count, run and counts of at least 1, offset and strides of at least 0"
        )
    run_bytes, dimensions = _merged(run_bytes, counts, strides_bytes)
    return _access(timing, offset_bytes % timing.page_bytes, run_bytes, dimensions)


def sustained_bytes_per_second(timing: DramTiming) -> int:
    """Bytes per second of a long sequential access, rounded down."""
    bursts = timing.page_bytes // timing.burst_bytes
    work, scale = _time_fraction(timing, bursts, 1)
    return PS_PER_SECOND * timing.page_bytes * scale // work


def _merged(
    run_bytes: int, counts: tuple[int, ...], strides_bytes: tuple[int, ...]
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The same bytes in the same order with fewer dimensions: joining runs and steps made one."""
    dimensions: list[tuple[int, int]] = []
    for count, stride in zip(counts, strides_bytes, strict=True):
        if count == 1:
            continue
        if not dimensions and stride == run_bytes:
            run_bytes *= count
        elif dimensions and stride == dimensions[-1][0] * dimensions[-1][1]:
            dimensions[-1] = (dimensions[-1][0] * count, dimensions[-1][1])
        else:
            dimensions.append((count, stride))
    return run_bytes, tuple(dimensions)


@functools.lru_cache(maxsize=1 << 15)
def _access(
    timing: DramTiming, offset_bytes: int, run_bytes: int, dimensions: tuple[tuple[int, int], ...]
) -> DramAccess:
    bursts = _units_touched(timing.burst_bytes, offset_bytes, run_bytes, dimensions)
    segments = _units_touched(timing.page_bytes, offset_bytes, run_bytes, dimensions)
    work, scale = _time_fraction(timing, bursts, segments)
    return DramAccess(-(-work // scale), bursts * timing.burst_bytes, segments)


def _time_fraction(timing: DramTiming, bursts: int, segments: int) -> tuple[int, int]:
    """Picoseconds as an exact fraction."""
    rate = timing.peak_bytes_per_second
    work = bursts * timing.burst_bytes * PS_PER_SECOND + segments * timing.row_change_ps * rate
    return work * timing.refresh_interval_ps, rate * (timing.refresh_interval_ps - timing.refresh_ps)


def _units_touched(
    unit_bytes: int, offset_bytes: int, run_bytes: int, dimensions: tuple[tuple[int, int], ...]
) -> int:
    """Units (bursts or pages) touched, those shared with the run before counted once."""
    first_unit = offset_bytes // unit_bytes
    touched = (offset_bytes + run_bytes - 1) // unit_bytes - first_unit + 1
    if not dimensions:
        return touched
    total, last_of_previous = 0, -1
    for starts in _run_starts(offset_bytes, dimensions):
        first = starts // unit_bytes
        last = (starts + (run_bytes - 1)) // unit_bytes
        shared = int(np.count_nonzero(first[1:] == last[:-1])) + int(first[0] == last_of_previous)
        total += int((last - first).sum()) + len(starts) - shared
        last_of_previous = int(last[-1])
    return total


def _run_starts(
    offset_bytes: int, dimensions: tuple[tuple[int, int], ...]
) -> Iterator[npt.NDArray[np.int64]]:
    """First byte of every run, in order, in pieces that fit in memory."""
    inner = np.zeros(1, np.int64)
    outer: list[list[int]] = []
    for count, stride in dimensions:
        if not outer and len(inner) * count <= _MAX_RUNS_AT_ONCE:
            inner = (np.arange(count, dtype=np.int64)[:, None] * stride + inner).ravel()
        else:
            outer.append([i * stride for i in range(count)])
    for position in itertools.product(*reversed(outer)):
        yield inner + (offset_bytes + sum(position))
