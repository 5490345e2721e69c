"""One account of several processes: what they spend together is bounded, and any of them may spend all of it."""

import asyncio
import random
import sys
from functools import partial

import pytest

from actors.substrate.budget import Account, Limits
from actors.substrate.errors import BudgetSpent
from environment.errors import SubliminalError
from environment.stores.sqlite import open_stores
from orchestration.runtime.worker.ledgers import StoreLedgers, turn

NOW = 1e6
LIMITS = Limits(tokens_per_hour=2000)
SPEND = """
import asyncio, sys
from pathlib import Path
from tests.orchestration.runtime.test_common_account import account, open_stores, spend
async def main():
    where = Path(sys.argv[1])
    stores = await open_stores(where, "m", synchronous="OFF")
    print(await spend(account(stores, where), int(sys.argv[2])))
    await stores.close()
asyncio.run(main())
"""


def account(stores, where):
    return Account("~all", LIMITS, lambda: NOW, StoreLedgers(stores, 0), partial(turn, where / "lock"))


async def spend(one, seed, times=30):
    """Hold and settle like somebody who asks, and does not always hear; what that used."""
    chance, spent = random.Random(seed), 0
    for _ in range(times):
        asked = chance.randint(1, 150)
        try:
            hold = await one.hold(asked, 0.0)
        except BudgetSpent:
            continue
        used = asked if chance.random() < 0.2 else chance.randint(0, asked)
        if used < asked:
            await one.settle(hold, used, 0.0)
        spent += used
    return spent


@pytest.fixture
async def stores(tmp_path):
    opened = [await open_stores(tmp_path, "m", synchronous="OFF") for _ in range(3)]
    yield opened
    for each in opened:
        await each.close()


async def left(one):
    """What there is room for, found by asking."""
    for tokens in range(2000, 0, -1):
        try:
            await one.hold(tokens, 0.0)
        except BudgetSpent:
            continue
        return tokens
    return 0


@pytest.mark.parametrize("seed", range(3))
async def test_no_budget_is_exceeded_whatever_is_asked_at_the_same_time(stores, tmp_path, seed):
    spent = sum(await asyncio.gather(*(spend(account(each, tmp_path), seed * 3 + n) for n, each in enumerate(stores))))
    assert 1800 <= spent <= 2000, "all of it is drawn, by whoever needs it"
    assert await left(account(stores[0], tmp_path)) == 2000 - spent


async def test_nor_by_processes(stores, tmp_path):
    command = sys.executable, "-c", SPEND, str(tmp_path)
    started = [
        await asyncio.create_subprocess_exec(*command, str(seed), stdout=asyncio.subprocess.PIPE) for seed in range(2)
    ]
    told = await asyncio.wait_for(asyncio.gather(*(each.communicate() for each in started)), 60)
    assert sum(int(out) for out, _ in told) + await left(account(stores[0], tmp_path)) == 2000


async def test_one_alone_may_spend_all_and_limits_may_change(stores, tmp_path):
    one, other = (account(each, tmp_path) for each in stores[:2])
    hold = await one.hold(2000, 0.0)
    with pytest.raises(BudgetSpent):
        await other.hold(1, 0.0)
    await one.settle(hold, 1900, 0.0)
    await other.hold(100, 0.0)
    other.limit(Limits(tokens_per_hour=2500))
    await other.hold(500, 0.0)
    assert other.left() == {"tokens_left_hour": 0}
    assert (one.left_name, Account("a", LIMITS, lambda: NOW).left_name) == ("budget_left_of_all", "budget_left")


async def test_a_store_that_refuses_means_no_spending_and_keeps_the_hold(stores, tmp_path):
    one = account(stores[0], tmp_path)
    hold = await one.hold(10, 0.0)
    await stores[0].close()
    with pytest.raises(SubliminalError):
        await one.hold(10, 0.0)
    await one.settle(hold, 0, 0.0)
    assert await left(account(stores[1], tmp_path)) == 1990
