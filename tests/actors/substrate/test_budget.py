"""The ledger: no interval ever holds more than its limit, whatever happens."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.substrate.budget import DAY, HOUR, Account, Ledger, Limits, Window
from actors.substrate.errors import BudgetSpent
from actors.substrate.settings import BudgetSettings
from environment.errors import StoreUnavailable

STEPS = st.lists(
    st.tuples(st.floats(0, 2000), st.integers(1, 60), st.floats(0, 1)), min_size=1, max_size=60
)  # seconds later, tokens held, share of it used


@settings(deadline=None)
@given(STEPS, st.integers(10, 200))
def test_no_hour_holds_more_than_its_limit(steps, limit):
    ledger, now, used, waits = Ledger(Limits(tokens_per_hour=limit)), 1e6, [], []
    for later, tokens, share in steps:
        now += later
        try:
            hold = ledger.hold(tokens, 0.0, now)
        except BudgetSpent as spent:
            waits.append(spent.retry_after)
            continue
        actual = int(tokens * share)
        ledger.settle(hold, actual, 0.0)
        used.append((now, actual))
    assert all(0 < wait <= HOUR * 62 / 60 for wait in waits)
    for start, _ in used:
        assert sum(tokens for at, tokens in used if start <= at < start + HOUR) <= limit


@given(st.integers(1, 50), st.integers(0, 1000), st.integers(0, 100))
def test_shares_never_add_up_to_more_than_the_whole(shares, tokens, cost):
    part = Limits.share(BudgetSettings(tokens_per_hour=tokens, tokens_per_day=None, cost_per_day=cost), shares)
    assert part.tokens_per_hour * shares <= tokens + 1e-6
    assert part.cost_per_day * shares <= cost + 1e-6
    assert part.tokens_per_day is None


def test_there_is_room_again_after_the_time_said():
    ledger, now = Ledger(Limits(tokens_per_hour=100)), 1e6
    ledger.hold(80, 0, now)
    ledger.hold(20, 0, now + 600)
    with pytest.raises(BudgetSpent, match="budget spent: 100 tokens an hour") as spent:
        ledger.hold(50, 0, now + 700)
    with pytest.raises(BudgetSpent):
        ledger.hold(50, 0, now + 700 + spent.value.retry_after - 61)
    ledger.hold(50, 0, now + 700 + spent.value.retry_after)


def test_settling_late_gives_nothing_back_that_no_longer_counts():
    window = Window(HOUR, 100)
    bucket = window.bucket(0)
    window.add(bucket, 50)
    assert window.spent(2 * HOUR) == 0
    window.add(bucket, -50)
    assert window.spent(2 * HOUR) == 0


def test_time_that_runs_backwards_stands_still():
    ledger = Ledger(Limits(tokens_per_hour=100))
    ledger.hold(100, 0, 1e6)
    with pytest.raises(BudgetSpent):
        ledger.hold(1, 0, 1e6 - 10 * DAY)
    assert ledger.left(0)["tokens_left_hour"] == 0


@given(STEPS)
def test_a_restored_ledger_goes_on_as_the_old_one(steps):
    old, now = Ledger(Limits(tokens_per_hour=150, tokens_per_day=500, cost_per_day=3.0)), 1e6
    for later, tokens, share in steps:
        now += later
        try:
            old.settle(old.hold(tokens, tokens / 100, now), tokens * share, 0.0)
        except BudgetSpent:
            continue
    new = Ledger(old.limits)
    new.restore(old.snapshot())
    assert new.left(now + 100) == old.left(now + 100)
    assert new.snapshot() == old.snapshot()


@pytest.mark.parametrize("state", [b"", b"{}", b"[]", b'{"windows": [1, 2, 3], "latest": 0}', b"\xff"])
def test_what_is_no_state_is_refused(state):
    with pytest.raises(ValueError):
        Ledger(Limits()).restore(state)


class Shelf:
    def __init__(self):
        self.kept = {}
        self.fails = False

    async def load_ledger(self, name):
        return self.kept.get(name)

    async def save_ledger(self, name, state):
        await asyncio.sleep(0)
        if self.fails:
            raise StoreUnavailable("busy")
        self.kept[name] = state


async def test_an_account_saves_before_it_lets_anything_be_sent():
    shelf = Shelf()
    account = Account("a", Limits(tokens_per_hour=100), lambda: 1e6, shelf)
    await account.hold(60, 0)
    after_a_crash = Account("a", Limits(tokens_per_hour=100), lambda: 1e6, shelf)
    with pytest.raises(BudgetSpent):
        await after_a_crash.hold(60, 0)
