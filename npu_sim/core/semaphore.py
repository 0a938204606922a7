"""Counting semaphores: they only count up, and a wait names the count it needs."""

from typing import NamedTuple

import simpy

from npu_sim.core.clock import Clock


class Waiter(NamedTuple):
    """A queue held by a semaphore."""

    unit: str
    needed: int
    released: simpy.Event


class Semaphore:
    """One counter; `signal` releases every waiter whose count is reached, in the order they came."""

    __slots__ = ("count", "waiters")

    def __init__(self) -> None:
        self.count = 0
        self.waiters: list[Waiter] = []

    def signal(self, source: str) -> None:
        """Add one; released events get the signalling unit's name as their value."""
        self.count += 1
        if not self.waiters:
            return
        kept = []
        for waiter in self.waiters:
            if waiter.needed <= self.count:
                waiter.released.succeed(source)
            else:
                kept.append(waiter)
        self.waiters = kept

    def wait(self, env: Clock, unit: str, count: int) -> simpy.Event:
        """Return an event that succeeds when `count` is reached; the count must not be reached yet."""
        released = env.event()
        self.waiters.append(Waiter(unit, count, released))
        return released
