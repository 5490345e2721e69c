"""A budget that is kept with the mind."""

import asyncio
import os
import random
from contextlib import suppress

import pytest

from actors.substrate.budget import DAY, Account, Limits
from actors.substrate.errors import BudgetSpent
from actors.substrate.settings import BudgetSettings
from environment.errors import FencedOut
from orchestration.clock import CatchUpClock, wall
from orchestration.links.addresses import Endpoint
from orchestration.runtime.orders import ActorOrders, RunOrders
from orchestration.runtime.worker.budget_accounts import thinking
from orchestration.runtime.worker.ledgers import InheritedLedgers, StoreLedgers
from orchestration.settings import Settings
from orchestration.wiring import plan

NOON = 1_772_539_200.0


async def test_what_was_spent_on_one_machine_counts_on_the_next(stores):
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


async def test_mind_time_that_runs_fast_opens_no_budget(tmp_path, stores):
    """Out of the past, a thousand million seconds in one: a year passes between the two requests."""
    settings = Settings.model_validate(
        {
            "substrate": {
                "kind": "openai",
                "server": {"base_url": "http://127.0.0.1:9/v1"},
                "fast": {"name": "model"},
                "deep": {"name": "model"},
                "budget": {"tokens_per_hour": 100, "tokens_per_day": 100},
            }
        }
    )
    clock = CatchUpClock(0.0, 1e9, wall())
    run = RunOrders(settings, tmp_path, tmp_path, clock, seed=1)
    orders = ActorOrders(run, "stream", plan(settings)[:1], 0, os.getpid(), "here", 1, Endpoint("here", "nowhere"))
    accounts = []
    substrate, _ = await thinking(orders, stores, accounts)
    await accounts[0].hold(80, 0.0)
    before = clock.now()
    await asyncio.sleep(0.05)
    assert clock.now() - before > DAY
    with pytest.raises(BudgetSpent):
        await accounts[0].hold(80, 0.0)
    await substrate.close()


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
async def test_a_family_spends_no_more_than_one_might_have_however_it_divides_and_ends(seed):
    """Every process may die at any moment and begin again with what it was told and saved."""
    chance, kept, now = random.Random(seed), Kept(), [1000.0]
    whole, parts, estates, spent, born = BudgetSettings(tokens_per_hour=8000), {}, {}, [], 0

    def begin(name, parent=""):
        ledgers = InheritedLedgers(kept, name, parent) if parent else kept
        account = Account(name, Limits.share(whole, 1 / parts[name]), lambda: now[0], ledgers)
        account.inherit(estates.get(name, ()))
        return account

    parts["causes"] = 1.0
    family, parents = {"causes": begin("causes")}, {"causes": ""}
    for _ in range(300):
        now[0] += chance.choice([0.0, 0.0, 5.0, 60.0, 700.0])
        name = chance.choice(list(family))
        match chance.choice(["spend"] * 5 + ["divide", "retire", "die"]):
            case "spend":
                spent.append((now[0], await spend(family[name], chance)))
            case "divide" if parts[name] > 1 / 8:
                born += 1
                child = f"pumps-{born}"
                parts[name] = parts[child] = parts[name] / 2
                family[name].limit(Limits.share(whole, 1 / parts[name]))
                parents[child] = name
                family[child] = begin(child, name)
            case "retire" if name != "causes":
                heir = chance.choice([other for other in family if other != name])
                del family[name]
                parts[heir] += parts.pop(name)
                estates[heir] = (name, *estates.pop(name, ()), *estates.get(heir, ()))
                family[heir].inherit(estates[heir])
                family[heir].limit(Limits.share(whole, 1 / parts[heir]))
            case "die":
                family[name] = begin(name, parents[name])
        assert sum(parts.values()) == 1.0
    assert born > 3
    assert sum(amount for _, amount in spent) > 8000, "hours went by"
    for begins, _ in spent:
        assert sum(amount for at, amount in spent if begins <= at < begins + 3600) <= 8000


async def test_what_a_child_had_left_its_heir_has_at_once():
    kept, whole = Kept(), BudgetSettings(tokens_per_hour=1000)
    child = Account("pumps-1", Limits.share(whole, 2), lambda: 1000.0, InheritedLedgers(kept, "pumps-1", "causes"))
    await child.settle(await child.hold(100, 0), 100, 0)
    parent = Account("causes", Limits.share(whole, 2), lambda: 1000.0, kept)
    await parent.settle(await parent.hold(500, 0), 500, 0)
    with pytest.raises(BudgetSpent):
        await parent.hold(1, 0)
    for _ in range(2):  # told again
        parent.inherit(["pumps-1"])
        parent.limit(Limits.share(whole, 1))
        with pytest.raises(BudgetSpent):
            await parent.hold(401, 0)
    await parent.hold(400, 0)


@pytest.mark.parametrize("seed", range(40))
async def test_parts_that_move_between_processes_open_no_budget(seed):
    """Whatever moves where and whenever it is said, no hour holds more than all of them were given."""
    chance, kept, whole = random.Random(seed), Kept(), BudgetSettings(tokens_per_hour=4000)
    now, parts, told, number = [0.0], {"a~1": 2.0, "a~2": 1.0, "a~3": 1.0}, {}, 0

    def account(name):
        found = Account(name, Limits.share(whole, 4 / parts[name]), lambda: now[0], kept)
        for one in told.get(name, ()):
            found.take(*one)
        return found

    accounts, spent = {name: account(name) for name in parts}, []
    for _ in range(600):
        now[0] += chance.uniform(0, 40)
        name = chance.choice(list(parts))
        what = chance.random()
        if what < 0.04 and parts[name] > 0.25:
            number += 1
            part, to = parts[name] / 2, chance.choice([one for one in parts if one != name])
            parts[name] -= part
            accounts[name].limit(Limits.share(whole, 4 / parts[name]))
            parts[to] += part
            moved = f"m{number}", name, Limits.share(whole, 4 / part), Limits.share(whole, 4 / parts[name])
            told.setdefault(to, []).append(moved)
            accounts[to].limit(Limits.share(whole, 4 / parts[to]))
            accounts[to].take(*moved)
            await accounts[to].settle_in()  # before it says that it knows
        elif what < 0.08:
            accounts[name] = account(name)  # another life, told again
        else:
            before = now[0]
            spent.append((before, await spend(accounts[name], chance)))
        hour = sum(amount for when, amount in spent if when > now[0] - 3600.0)
        assert hour <= 4000, (seed, number)
    assert sum(amount for _, amount in spent) > 4000


async def test_what_was_not_spent_of_a_part_may_be_spent_at_once():
    kept, whole = Kept(), BudgetSettings(tokens_per_hour=1000)
    parent = Account("a~1", Limits.share(whole, 1), lambda: 1000.0, kept)
    await parent.hold(600, 0)
    parent.limit(Limits.share(whole, 2))
    child = Account("a~2", Limits.share(whole, 2), lambda: 1000.0, kept)
    child.take("born:c", "a~1", Limits.share(whole, 2), Limits.share(whole, 2))
    with pytest.raises(BudgetSpent):
        await child.hold(401, 0)
    await child.hold(400, 0)
    with pytest.raises(BudgetSpent):
        await parent.hold(1, 0)
