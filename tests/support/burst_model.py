"""Streams that share resources, burst by burst: what the fluid contention scheme stands for.

A producer makes one burst after the other, each in burst / rate cycles, and waits while `window` bursts are
produced and not yet served. A burst passes the servers of its stream's resources one after the other.
A server takes one burst at a time; its waiting streams get equal amounts of the resource in turn.
"""

import dataclasses
import heapq
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class BurstStream:
    """`costs[r]`: units of resource r per burst; 0: not used. Times in cycles."""

    start_cycle: int
    bursts: int
    cycles_per_burst: float
    costs: tuple[float, ...]
    window_bursts: int
    latency_cycles: int = 0


class _Server:
    """Deficit round robin: in each round, every waiting stream is served for one quantum of the resource."""

    def __init__(self, costs: Sequence[float]) -> None:
        self.costs = costs
        self.quantum = max(costs)
        self.waiting = [0] * len(costs)
        self.credit = [0.0] * len(costs)
        self.turn = 0
        self.serving = False

    def take(self) -> int | None:
        """The stream whose burst is served next."""
        if not any(self.waiting):
            return None
        while not (self.waiting[self.turn] and self.credit[self.turn] >= self.costs[self.turn]):
            self.turn = (self.turn + 1) % len(self.waiting)
            self.credit[self.turn] = self.credit[self.turn] + self.quantum if self.waiting[self.turn] else 0.0
        self.waiting[self.turn] -= 1
        self.credit[self.turn] -= self.costs[self.turn]
        return self.turn


class _Machine:
    def __init__(self, streams: Sequence[BurstStream], capacities: Sequence[float]) -> None:
        self.streams = streams
        self.capacities = capacities
        self.servers = [_Server([s.costs[r] for s in streams]) for r in range(len(capacities))]
        self.routes = [[r for r, cost in enumerate(s.costs) if cost] for s in streams]
        self.made, self.returned, self.outstanding = ([0] * len(streams) for _ in range(3))
        self.blocked = [False] * len(streams)
        self.ends = [0.0] * len(streams)
        self.events: list[tuple[float, int, str, int, int]] = []
        self.sequence = 0

    def run(self) -> list[float]:
        for index, stream in enumerate(self.streams):
            self._at(stream.start_cycle + stream.cycles_per_burst, "made", index, 0)
        while self.events:
            now, _, what, stream, place = heapq.heappop(self.events)
            getattr(self, f"_{what}")(now, stream, place)
        return self.ends

    def _at(self, time: float, what: str, stream: int, place: int) -> None:
        heapq.heappush(self.events, (time, self.sequence, what, stream, place))
        self.sequence += 1

    def _made(self, now: float, stream: int, _: int) -> None:
        self.made[stream] += 1
        self.outstanding[stream] += 1
        self._arrive(now, stream, 0)
        if self.made[stream] == self.streams[stream].bursts:
            return
        if self.outstanding[stream] < self.streams[stream].window_bursts:
            self._at(now + self.streams[stream].cycles_per_burst, "made", stream, 0)
        else:
            self.blocked[stream] = True

    def _arrive(self, now: float, stream: int, place: int) -> None:
        """At the server at this place of the stream's route, or past the last one."""
        if place == len(self.routes[stream]):
            self._at(now + self.streams[stream].latency_cycles, "returned", stream, 0)
            return
        resource = self.routes[stream][place]
        self.servers[resource].waiting[stream] += 1
        if not self.servers[resource].serving:
            self._serve(now, resource)

    def _serve(self, now: float, resource: int) -> None:
        stream = self.servers[resource].take()
        self.servers[resource].serving = stream is not None
        if stream is not None:
            time = self.streams[stream].costs[resource] / self.capacities[resource]
            self._at(now + time, "served", stream, resource)

    def _served(self, now: float, stream: int, resource: int) -> None:
        self._serve(now, resource)
        self._arrive(now, stream, self.routes[stream].index(resource) + 1)

    def _returned(self, now: float, stream: int, _: int) -> None:
        self.returned[stream] += 1
        self.outstanding[stream] -= 1
        if self.returned[stream] == self.streams[stream].bursts:
            self.ends[stream] = now
        elif self.blocked[stream]:
            self.blocked[stream] = False
            self._at(now + self.streams[stream].cycles_per_burst, "made", stream, 0)


def completion_times(streams: Sequence[BurstStream], capacities: Sequence[float]) -> list[float]:
    """Cycle at which the last burst of each stream has come back."""
    return _Machine(streams, capacities).run()
