"""Streams that compete for shared resources, with an event per start, end and phase change only.

A stream produces work at its own rate (a DMA channel issues requests, a matrix unit computes) and the
resources it crosses serve it. What is produced and not yet served is its backlog. Backlog and what is on
its way back, rate x latency, are at most a window: then production waits. Between two events every rate is
constant:

    not backlogged  served as produced, unless a resource gives it less; then it becomes backlogged
    backlogged      served by its share of the resources, however fast it produces, but with a latency L
                    at no more than window / L
    backlog full    production goes on at the rate of service (changes no service rate: no event)

The shares are max-min fair (npu_sim.core.fairness) and computed again when a stream starts, has been served
completely, or runs out of backlog. A stream ends `latency_cycles` after it has been served.

Fluid service instead of bursts in turn costs accuracy of the order of one burst of every competing stream.
Against a burst-by-burst model (tests/npu_sim/core checks these bounds): on one server, every completion of
random streams lies within two bursts of every stream, and makespans of thousands of bursts within 0.5 %.
With two servers that a burst passes one after the other, and with latencies of up to half a window,
makespans lie within 8 %, 99 of 100 within 1 %, on average within 0.2 %. A stream whose window is barely
rate x latency is too fast here: waiting between bursts, which it cannot make up for, is not part of a fluid.

Time. Events inside the scheme happen at fractional times; a stream starts and ends at integer cycles, its end
rounded up. Rounding forgives a millionth of a cycle, far above the rounding errors of double precision
in runs of up to 2**30 cycles and far below anything that matters, so none of them makes a stream end a
cycle late. A stream that nobody ever slowed ends exactly `Stream.uncontended_cycles` after its start.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import simpy

from npu_sim.core.fairness import UNLIMITED, Uses, max_min_rates

_TOLERANCE_CYCLES = 1e-6


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """Something shared, e.g. SRAM ports (bytes per cycle) or DRAM (picoseconds of its time per cycle).

    `capacity` is in units per cycle; math.inf: never scarce. Resources are compared by identity.
    """

    name: str
    capacity: float

    def __post_init__(self) -> None:
        if not self.capacity > 0:
            raise ValueError(f"resource {self.name}: capacity is {self.capacity}, must be above 0")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Work to be produced and served.

    `work`: units of any kind (bytes, nominal cycles). `rate`: units per cycle the producer makes at most.
    `demands`: resource units that one unit of work costs. `window`: units that may be waiting for service
    or on their way back; None: any number. `latency_cycles`: from service to the end.
    """

    work: float
    rate: float
    demands: Mapping[Resource, float]
    window: float | None = None
    latency_cycles: int = 0

    def __post_init__(self) -> None:
        for name in ("work", "rate", "window"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ValueError(f"stream: {name} is {value}, must be above 0 and finite")
        if self.latency_cycles < 0 or any(not amount >= 0 for amount in self.demands.values()):
            raise ValueError(
                f"stream: latency of {self.latency_cycles} cycles, demands {tuple(self.demands.values())}: "
                "must be at least 0"
            )

    @property
    def backlogged_rate(self) -> float:
        """Units per cycle at most while there is backlog: a window per latency."""
        if self.window is None or not self.latency_cycles:
            return math.inf
        return self.window / self.latency_cycles

    @property
    def own_rate(self) -> float:
        """Units per cycle when nobody else is there and no resource is scarce."""
        return min(self.rate, self.backlogged_rate)

    @property
    def uncontended_cycles(self) -> int:
        """Duration when no resource is scarce."""
        return _round_up(self.work / self.own_rate) + self.latency_cycles


class Completion(NamedTuple):
    """How a stream ended.

    `lost_cycles`: for each resource that cost time, how many cycles; together they are the duration minus
    `Stream.uncontended_cycles`.
    """

    lost_cycles: dict[str, int]


def _round_up(cycles: float) -> int:
    return math.ceil(cycles - _TOLERANCE_CYCLES)


class _Flow:
    """A stream being served. Amounts are those at `since`; `rate` has been constant from then on."""

    __slots__ = (
        "backlogged",
        "backlogged_cap",
        "bottleneck",
        "cap",
        "event",
        "latency_cycles",
        "lost",
        "next_cycle",
        "next_time",
        "own_rate",
        "produced",
        "rate",
        "runs_dry",
        "served",
        "since",
        "start",
        "stream",
        "uses",
        "window",
    )

    def __init__(self, stream: Stream, event: simpy.Event, start: int, uses: Uses, alone_rate: float) -> None:
        self.stream = stream
        self.event = event
        self.start = start
        self.uses = uses
        self.own_rate = stream.own_rate
        self.window = math.inf if stream.window is None else stream.window
        self.latency_cycles = stream.latency_cycles
        self.cap = self.own_rate
        # More than it can ever get, so that the resource shows as the limit; infinity would overload all.
        self.backlogged_cap = min(stream.backlogged_rate, 2 * alone_rate)
        self.backlogged = False
        self.produced = 0.0
        self.served = 0.0
        self.since: float = start
        self.rate = 0.0
        self.bottleneck = UNLIMITED
        self.lost: dict[int, float] = {}
        self.next_time: float = math.inf
        self.next_cycle: float = math.inf
        self.runs_dry = False

    def advance(self, now: float) -> None:
        """Bring the amounts up to date."""
        elapsed = now - self.since
        if elapsed <= 0:
            return
        self.since = now
        self.served += self.rate * elapsed
        if not self.backlogged:
            self.produced = self.served
            return
        room = max(self.window - self.rate * self.latency_cycles, 0.0)
        produced = min(self.produced + self.own_rate * elapsed, self.served + room, self.stream.work)
        self.produced = max(self.produced, produced, self.served)
        if self.rate < self.own_rate:
            lost = elapsed * (1 - self.rate / self.own_rate)
            self.lost[self.bottleneck] = self.lost.get(self.bottleneck, 0.0) + lost

    def serve(self, rate: float, bottleneck: int, now: float) -> None:
        """Go on at another rate, and foresee the next event: the backlog runs dry, or all is served."""
        self.advance(now)
        self.rate, self.bottleneck = rate, bottleneck
        if rate < self.own_rate and not self.backlogged:
            self.backlogged, self.cap = True, self.backlogged_cap
        self._foresee()

    def run_dry(self, now: float) -> None:
        """The backlog has been served; production is the limit again."""
        self.advance(now)
        self.produced = self.served
        self.backlogged, self.cap = False, self.own_rate

    def _foresee(self) -> None:
        wait = (self.stream.work - self.served) / self.rate
        self.runs_dry = False
        if self.backlogged and self.rate > self.own_rate:
            dry = (self.produced - self.served) / (self.rate - self.own_rate)
            if self.produced + self.own_rate * dry < self.stream.work:
                wait, self.runs_dry = dry, True
        self.next_time = self.since + wait
        whole = math.floor(self.since)
        self.next_cycle = whole + _round_up(self.since - whole + wait)


class FluidScheduler:
    """Serves streams that share `resources`, in the integer clock of a SimPy environment."""

    def __init__(self, env: simpy.Environment, resources: Sequence[Resource]) -> None:
        self._env = env
        self._resources = tuple(resources)
        names = [resource.name for resource in self._resources]
        if len(set(names)) < len(names):
            raise ValueError(f"resources {names}: each needs a name of its own, losses are reported by it")
        self._capacities = [resource.capacity for resource in self._resources]
        self._index = {resource: index for index, resource in enumerate(self._resources)}
        self._flows: list[_Flow] = []
        self._settling = False
        self._wake_cycle: float = math.inf

    def start(self, stream: Stream) -> simpy.Event:
        """Begin a stream now.

        The event succeeds with a Completion in the cycle in which all its work has been served and its
        latency has passed. Raises KeyError for a demand on a resource that is not this scheduler's.
        """
        uses = tuple(
            (self._index[resource], amount)
            for resource, amount in stream.demands.items()
            if amount and resource.capacity != math.inf
        )
        if not uses:
            return self._env.timeout(stream.uncontended_cycles, Completion({}))
        now = int(self._env.now)
        self._advance(now)
        alone_rate = min(self._capacities[resource] / units for resource, units in uses)
        flow = _Flow(stream, self._env.event(), now, uses, alone_rate)
        self._flows.append(flow)
        self._settle_soon()
        return flow.event

    def _settle_soon(self) -> None:
        """Compute shares once for all that starts in this cycle."""
        if self._settling:
            return
        self._settling = True
        self._env.timeout(0).callbacks.append(self._settle)

    def _settle(self, _: simpy.Event) -> None:
        self._settling = False
        now = int(self._env.now)
        self._advance(now)
        self._share(now)
        self._wake_later()

    def _wake(self, event: simpy.Event) -> None:
        if event.value != self._wake_cycle:
            return
        self._wake_cycle = math.inf
        self._advance(int(self._env.now))
        self._wake_later()

    def _wake_later(self) -> None:
        """See to it that the next event inside the scheme is handled in the cycle that it falls in."""
        cycle = min((flow.next_cycle for flow in self._flows), default=math.inf)
        if cycle >= self._wake_cycle:
            return
        self._wake_cycle = cycle
        wake = self._env.timeout(cycle - self._env.now, cycle)
        wake.callbacks.append(self._wake)

    def _advance(self, now: int) -> None:
        """Handle the events inside the scheme up to this cycle, in order of time, then of start."""
        while True:
            due = None
            for flow in self._flows:
                if flow.next_cycle <= now and (due is None or flow.next_time < due.next_time):
                    due = flow
            if due is None:
                return
            time = min(due.next_time, now)
            if due.runs_dry:
                due.run_dry(time)
            else:
                self._finish(due, time)
            self._share(time)

    def _share(self, time: float) -> None:
        flows = self._flows
        caps, uses = [flow.cap for flow in flows], [flow.uses for flow in flows]
        rates, bottlenecks = max_min_rates(caps, uses, self._capacities)
        for flow, rate, bottleneck in zip(flows, rates, bottlenecks, strict=True):
            if rate != flow.rate or bottleneck != flow.bottleneck:
                flow.serve(rate, bottleneck, time)

    def _finish(self, flow: _Flow, time: float) -> None:
        flow.advance(time)
        self._flows.remove(flow)
        served = int(flow.next_cycle) - flow.start
        lost = served + flow.stream.latency_cycles - flow.stream.uncontended_cycles
        completion = Completion(self._attribute(flow.lost, lost))
        if not flow.stream.latency_cycles:
            flow.event.succeed(completion)
            return
        end = self._env.timeout(flow.stream.latency_cycles, completion)
        end.callbacks.append(flow.event.trigger)

    def _attribute(self, lost: Mapping[int, float], cycles: int) -> dict[str, int]:
        """Divide `cycles` by the time each resource cost; remainders to the largest fractions first."""
        if cycles <= 0:
            return {}
        scale = cycles / (sum(lost.values()) or 1.0)
        exact = {resource: amount * scale for resource, amount in lost.items()}
        parts = {resource: math.floor(amount) for resource, amount in exact.items()}
        by_fraction = sorted(exact, key=lambda resource: (parts[resource] - exact[resource], resource))
        for resource in by_fraction[: cycles - sum(parts.values())]:
            parts[resource] += 1
        return {
            self._resources[resource].name: parts[resource] for resource in sorted(parts) if parts[resource]
        }
