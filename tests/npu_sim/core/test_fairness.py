import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npu_sim.core.fairness import UNLIMITED, max_min_rates

RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
amounts = st.floats(0.01, 100)


@st.composite
def cases(draw, resources=3):
    uses = st.lists(st.tuples(st.integers(0, resources - 1), amounts), min_size=1, unique_by=lambda u: u[0])
    streams = draw(st.lists(st.tuples(amounts, uses.map(tuple)), max_size=7))
    capacities = draw(st.lists(amounts, min_size=resources, max_size=resources))
    return [cap for cap, _ in streams], [use for _, use in streams], capacities


def load(resource, rates, uses):
    return sum(rate * dict(use).get(resource, 0.0) for rate, use in zip(rates, uses, strict=True))


@RELAXED
@given(cases())
def test_no_resource_serves_more_than_its_capacity(case):
    caps, uses, capacities = case
    rates, _ = max_min_rates(caps, uses, capacities)
    for resource, capacity in enumerate(capacities):
        assert load(resource, rates, uses) <= capacity * (1 + 1e-9)


@RELAXED
@given(cases())
def test_every_stream_is_served_and_none_above_its_cap(case):
    caps, uses, capacities = case
    rates, _ = max_min_rates(caps, uses, capacities)
    assert all(0 < rate <= cap for rate, cap in zip(rates, caps, strict=True))


@RELAXED
@given(cases())
def test_a_stream_below_its_cap_has_a_bottleneck_it_uses(case):
    caps, uses, capacities = case
    for cap, use, rate, limit in zip(caps, uses, *max_min_rates(caps, uses, capacities), strict=True):
        assert (limit == UNLIMITED) == (rate == cap)
        assert limit == UNLIMITED or limit in dict(use)


@RELAXED
@given(cases(resources=1))
def test_on_one_resource_a_limited_stream_has_the_largest_share_and_nothing_is_left(case):
    caps, uses, capacities = case
    rates, limits = max_min_rates(caps, uses, capacities)
    shares = [rate * dict(use)[0] for rate, use in zip(rates, uses, strict=True)]
    for share, limit in zip(shares, limits, strict=True):
        if limit != UNLIMITED:
            assert share == pytest.approx(max(shares))
            assert sum(shares) == pytest.approx(capacities[0])


def test_what_small_streams_leave_is_shared_equally():
    rates, limits = max_min_rates([1.0, 9.0, 9.0], [((0, 1.0),)] * 3, [11.0])
    assert (rates, limits) == ([1.0, 5.0, 5.0], [UNLIMITED, 0, 0])


def test_shares_are_equal_in_units_of_the_resource():
    rates, _ = max_min_rates([9.0, 9.0], [((0, 1.0),), ((0, 4.0),)], [8.0])
    assert rates == [4.0, 1.0]


def test_what_one_resource_withholds_is_free_at_the_other():
    # Resource 1 holds stream 0 to 1; streams 1 and 2 share the other 9 of resource 0.
    rates, limits = max_min_rates([9.0] * 3, [((0, 1.0), (1, 1.0)), ((0, 1.0),), ((0, 1.0),)], [10.0, 1.0])
    assert rates == pytest.approx([1.0, 4.5, 4.5])
    assert limits == [1, 0, 0]


def test_an_infinite_capacity_limits_nobody():
    assert max_min_rates([3.0], [((0, 5.0),)], [math.inf]) == ([3.0], [UNLIMITED])
