from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.errors import FencedOut
from environment.ports import Stores
from orchestration.host.leadership import take_lead
from orchestration.membership.backends import open_coordination
from orchestration.membership.errors import BadCoordination, NotLeading
from orchestration.membership.ports import QuotaRate
from orchestration.membership.settings import CoordinationSettings
from orchestration.membership.token_bucket import full_bucket


async def test_alone_one_leads_until_it_resigns(stores: Stores) -> None:
    async with open_coordination(None, "mind") as coordination:
        assert await coordination.leader() is None
        async with coordination.leadership("host-1") as term:
            fence = await take_lead(term, stores)
            assert fence == 1
            assert term.leads()
            assert not term.lost.is_set()
            leader = await coordination.leader()
            assert leader is not None
            assert leader.candidate == "host-1"
        assert term.lost.is_set()
        assert not term.leads()
        with pytest.raises(NotLeading):
            await term.advance(3)
        async with coordination.leadership("host-1") as again:
            assert await take_lead(again, stores) == 2
    with pytest.raises(FencedOut):
        await stores.commit([_report()], fence)


def _report() -> object:
    from environment.messages import SubmindReport, SubmindState
    from environment.ports import WriteReport

    return WriteReport(SubmindReport(name="x", role="cognitive", goal="", state=SubmindState.RUNNING, at=0.0))


async def test_alone_nothing_changes_live() -> None:
    async with open_coordination(None, "mind") as coordination:
        assert (await coordination.configuration.current()).version == 0
        with pytest.raises(BadCoordination, match="--coordination"):
            await coordination.configuration.change({"attention.per_hour": 3}, by="me", at=0.0)


@given(
    st.lists(st.tuples(st.floats(0, 40), st.floats(0, 100), st.booleans()), min_size=1, max_size=60),
    st.floats(1, 30),
    st.floats(0, 5),
)
def test_a_bucket_never_gives_more_than_it_holds_and_gets(
    takes: list[tuple[float, float, bool]], capacity: float, per_second: float
) -> None:
    """Over every stretch of time, also with clocks that go back."""
    allowance = QuotaRate(capacity, per_second)
    now, furthest, bucket = 50.0, 50.0, full_bucket(allowance, 50.0)
    granted: list[tuple[float, float]] = []
    for amount, step, back in takes:
        now = max(0.0, now - step) if back else now + step
        furthest = max(furthest, now)
        bucket, taken = bucket.take(amount, allowance, now)
        assert 0 <= bucket.level <= capacity
        assert taken.left == bucket.level
        if taken.granted:
            granted.append((furthest, amount))
        elif math.isfinite(taken.retry_after):
            later, then = bucket.take(amount, allowance, now + taken.retry_after * (1 + 1e-9) + 1e-6)
            assert then.granted
            assert later.level >= 0
    for first in range(len(granted)):
        for last in range(first, len(granted)):
            total = sum(amount for _, amount in granted[first : last + 1])
            allowed = capacity + per_second * (granted[last][0] - granted[first][0])
            assert total <= allowed * (1 + 1e-9) + 1e-6


def test_a_bucket_takes_only_amounts() -> None:
    allowance = QuotaRate(1, 1)
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="an amount"):
            full_bucket(allowance, 0.0).take(wrong, allowance, 0.0)


async def test_another_scheme_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadCoordination, match="etcd://HOST:PORT"):
        async with open_coordination("consul://x", "mind"):
            pass


def test_a_request_must_leave_time_for_signs_of_life() -> None:
    with pytest.raises(ValueError, match="a third of lease"):
        CoordinationSettings(lease=3, request_timeout=2)
