from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.submind.budget import Allowance

HOUR = 3600.0


@given(st.floats(1, 1000), st.lists(st.floats(0, 600), min_size=1, max_size=200))
def test_no_span_grants_more_than_its_share_and_a_burst(per_hour, gaps):
    allowance = Allowance(per_hour)
    granted, now = [], 1e9
    for gap in gaps:
        now += gap
        while allowance.take(now):
            granted.append(now)
    for i, start in enumerate(granted):
        for n, end in enumerate(granted[i:], 1):
            assert n <= max(1, per_hour / 4) + per_hour * (end - start) / HOUR + 1e-3


def test_in_the_long_run_it_grants_what_it_says():
    allowance = Allowance(60.0)
    granted = sum(allowance.take(float(second)) for second in range(int(10 * HOUR)))
    assert 600 <= granted <= 616


def test_looking_spends_nothing_and_time_does_not_run_back():
    allowance = Allowance(4.0, burst=1)
    assert all(allowance.ready(100.0) for _ in range(5))
    assert allowance.take(100.0)
    assert not allowance.take(100.0)
    assert not allowance.take(50.0)
    assert not allowance.take(100.0 + 899)
    assert allowance.take(100.0 + 901)
