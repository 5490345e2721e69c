"""A budget that is kept with the mind."""

import pytest

from actors.substrate.budget import Account, Limits
from actors.substrate.errors import BudgetSpent
from environment.errors import FencedOut
from environment.stores.sqlite import open_stores
from orchestration.runtime.ledgers import StoreLedgers

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
