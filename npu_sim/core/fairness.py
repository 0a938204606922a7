"""Max-min fair service rates of streams that share resources.

Every resource divides its capacity as a server does that takes one quantum from each waiting stream in turn:
streams that ask for less than an equal share get what they ask for, the others share the rest equally, in
units of the resource. A stream's rate is the least that any resource it crosses, or its own cap, lets it
have; what it asks of one resource is what the others let through.
"""

import math
from collections.abc import Sequence

UNLIMITED = -1
Uses = tuple[tuple[int, float], ...]
"""What a unit of a stream's work costs: (resource index, units of the resource, above 0) each."""

_ROUNDS = 32
_CLOSE = 1e-12


def max_min_rates(
    caps: Sequence[float], uses: Sequence[Uses], capacities: Sequence[float]
) -> tuple[list[float], list[int]]:
    """Work units per cycle of each stream, and the index of the resource that limits it (or UNLIMITED).

    Stream i asks for `caps[i]` (finite) work units per cycle; `capacities` are in resource units per cycle.

    The level of a resource is the share above which it serves nobody. Levels are found one resource at a
    time, the most overloaded first, each given the levels of the others, until no resource is overloaded
    and no level changes. Between two resources this converges from both sides and exceeds no capacity;
    with more, streams are scaled down where it has not converged.
    """
    levels = [math.inf] * len(capacities)
    rates, limits = list(caps), [UNLIMITED] * len(caps)
    settled = True
    for _ in range(_ROUNDS):
        worst = _most_overloaded(rates, uses, capacities)
        if worst == UNLIMITED and settled:
            return rates, limits
        order = [] if worst == UNLIMITED else [worst]
        order += [r for r, level in enumerate(levels) if level != math.inf and r != worst]
        settled = True
        for resource in order:
            level = _level(resource, caps, uses, levels, capacities[resource])
            # The first one is computed from the levels of the others: as they are, if they stay.
            if resource != order[0] and not math.isclose(level, levels[resource], rel_tol=_CLOSE):
                settled = False
            levels[resource] = level
        rates, limits = _rates(caps, uses, levels)
    return _within(rates, limits, uses, capacities)


def _most_overloaded(rates: Sequence[float], uses: Sequence[Uses], capacities: Sequence[float]) -> int:
    """The resource asked for the largest multiple of its capacity; UNLIMITED if none is asked for more."""
    load = [0.0] * len(capacities)
    for rate, use in zip(rates, uses, strict=True):
        for resource, units in use:
            load[resource] += rate * units
    worst, excess = UNLIMITED, 1 + _CLOSE
    for resource, amount in enumerate(load):
        if amount > excess * capacities[resource]:
            worst, excess = resource, amount / capacities[resource]
    return worst


def _level(
    resource: int, caps: Sequence[float], uses: Sequence[Uses], levels: Sequence[float], capacity: float
) -> float:
    """The share above which `resource` serves nobody; infinite if all get what they ask for."""
    asked = []
    for cap, use in zip(caps, uses, strict=True):
        own = 0.0
        for other, units in use:
            if other == resource:
                own = units
            elif levels[other] < cap * units:
                cap = levels[other] / units
        if own:
            asked.append(cap * own)
    asked.sort()
    waiting = len(asked)
    for amount in asked:
        if amount * waiting > capacity:
            return capacity / waiting
        capacity -= amount
        waiting -= 1
    return math.inf


def _rates(
    caps: Sequence[float], uses: Sequence[Uses], levels: Sequence[float]
) -> tuple[list[float], list[int]]:
    rates, limits = [], []
    for rate, use in zip(caps, uses, strict=True):
        limit = UNLIMITED
        for resource, units in use:
            if levels[resource] < rate * units:
                rate, limit = levels[resource] / units, resource
        rates.append(rate)
        limits.append(limit)
    return rates, limits


def _within(
    rates: list[float], limits: list[int], uses: Sequence[Uses], capacities: Sequence[float]
) -> tuple[list[float], list[int]]:
    """The same rates, scaled down where the levels have not converged and a capacity is exceeded."""
    while (worst := _most_overloaded(rates, uses, capacities)) != UNLIMITED:
        users = [i for i, use in enumerate(uses) if any(resource == worst for resource, _ in use)]
        asked = sum(rates[i] * units for i in users for resource, units in uses[i] if resource == worst)
        for i in users:
            rates[i] *= capacities[worst] / asked
            limits[i] = worst
    return rates, limits
