"""Quotas that several take from at once."""

from __future__ import annotations

import asyncio
import math

import pytest

from orchestration.membership.ports import QuotaRate, SharedQuotas
from tests.orchestration.membership.joining import Joining


async def test_who_races_never_gets_more_than_there_is(join: Joining) -> None:
    async def take(quotas: SharedQuotas) -> int:
        return sum([(await quotas.take("tokens", 1, QuotaRate(40, 0), 100.0)).granted for _ in range(20)])

    assert sum(await asyncio.gather(*[take((await join()).quotas) for _ in range(3)])) == 40


async def test_what_is_not_there_is_not_given(join: Joining) -> None:
    one, two = (await join()).quotas, (await join()).quotas
    allowance = QuotaRate(10, 2)
    assert (await one.take("tokens", 8, allowance, 100.0)).left == 2
    taken = await two.take("tokens", 8, allowance, 100.0)
    assert (taken.granted, taken.left, taken.retry_after) == (False, 2.0, 3.0)
    assert (await two.take("tokens", 4, allowance, 101.0)).left == 0, "two units came in a second"
    behind = await one.take("tokens", 1, allowance, 90.0)
    assert (behind.granted, behind.retry_after) == (False, 11.5), "a clock that is behind was given time twice"
    assert (await one.take("calls", 10, allowance, 90.0)).granted, "two quotas of different names met"
    assert (await one.take("tokens", 11, allowance, 1000.0)).retry_after == math.inf
    with pytest.raises(ValueError, match="no slash"):
        await one.take("a/b", 1, allowance, 1.0)


async def test_a_smaller_capacity_holds_at_once(join: Joining) -> None:
    quotas = (await join()).quotas
    assert (await quotas.take("tokens", 1, QuotaRate(100, 0), 1.0)).left == 99
    assert not (await quotas.take("tokens", 6, QuotaRate(5, 0), 1.0)).granted
    assert (await quotas.take("tokens", 5, QuotaRate(5, 0), 1.0)).left == 0
