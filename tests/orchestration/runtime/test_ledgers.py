"""A budget that is kept with the mind."""

import random
from contextlib import suppress

import pytest

from actors.substrate.budget import Account, Limits
from actors.substrate.errors import BudgetSpent
from actors.substrate.settings import BudgetSettings
from environment.errors import FencedOut
from environment.stores.sqlite import open_stores
from orchestration.runtime.ledgers import InheritedLedgers, StoreLedgers

NOON = 1_772_539_200.0


async def test_what_was_spent_on_one_machine_counts_on_the_next(tmp_path):
    stores = await open_stores(tmp_path, "mind")
    first = await stores.lead()
    here = Account("stream", Limits(tokens_per_hour=100), lambda: NOON, StoreLedgers(stores, first))
    hold = await here.hold(80, 0)
    await here.settle(hold, 70, 0)
    second = await stores.lead()
    there = Account("stream", Limits(tokens_per_hour=100), lambda: NOON, StoreLedgers(stores, second))
    with pytest.raises(BudgetSpent):
        await there.hold(40, 0)
    await there.hold(30, 0)
    with pytest.raises(FencedOut):  # who leads no more spends no more
        await here.hold(1, 0)
    other = Account("attention", Limits(tokens_per_hour=100), lambda: NOON, StoreLedgers(stores, second))
    await other.hold(100, 0)
    await stores.close()


class Kept:
    """A store of ledgers in memory."""

    def __init__(self):
        self.states = {}

    async def load_ledger(self, name):
        return self.states.get(name)

    async def save_ledger(self, name, state):
        self.states[name] = state


async def spend(account, chance):
    with suppress(BudgetSpent):
        asked = chance.randint(1, 300)
        hold = await account.hold(asked, 0.0)
        used = chance.randint(0, asked)
        await account.settle(hold, used, 0.0)
        return used
    return 0


@pytest.mark.parametrize("seed", range(20))
async def test_parent_and_child_spend_no_more_than_the_parent_might_have(seed):
    chance, kept = random.Random(seed), Kept()
    whole = BudgetSettings(tokens_per_hour=2000)
    parent = Account("causes", Limits.share(whole, 2), lambda: 1000.0, kept)
    spent = [await spend(parent, chance) for _ in range(chance.randint(0, 8))]
    parent.limit(Limits.share(whole, 4))
    spent += [await spend(parent, chance) for _ in range(chance.randint(0, 3))]
    child = Account("pumps-1", Limits.share(whole, 4), lambda: 1000.0, InheritedLedgers(kept, "pumps-1", "causes"))
    for _ in range(60):
        spent.append(await spend(chance.choice([parent, child]), chance))
    assert sum(spent) <= 1000
    again = Account("pumps-1", Limits.share(whole, 4), lambda: 1000.0, InheritedLedgers(kept, "pumps-1", "causes"))
    spent += [await spend(again, chance) for _ in range(30)]  # its own ledger by now
    assert sum(spent) <= 1000
    assert "pumps-1" in kept.states or sum(spent) >= 500
