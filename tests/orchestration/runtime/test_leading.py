"""What a mind process sees to when it takes over what an earlier one left, and when somebody ends."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from environment.errors import StoreUnavailable
from environment.messages import SubmindReport, SubmindState
from environment.population import read_members
from environment.ports import WriteReport
from environment.stores.sqlite import open_stores
from orchestration.clock import WallClock, wall
from orchestration.growth.log import GrowthLog
from orchestration.growth.proposals import GrowthAct, GrowthProposal, GrowthVerdict
from orchestration.growth.retention import remove_retired
from orchestration.growth.settings import GrowthSettings
from orchestration.links.addresses import Endpoint
from orchestration.links.control import Left
from orchestration.loading import load_settings
from orchestration.runtime.mind_process import MindProcess
from orchestration.runtime.orders import RunOrders
from orchestration.runtime.worker.budget_accounts import shares_of
from orchestration.wiring import build_directory

LOOSE = GrowthSettings(cooldown=0, settle=0, births_per_hour=100, least_share=1e-9)


def mind_of(directory, names):
    subminds = [{"name": "text", "role": "perceptual", "goals": ["Hear."]}]
    subminds += [{"name": name, "goals": ["Find out why."]} for name in names]
    given = {"mind": {"subminds": subminds}, "growth": {"cooldown": 0, "settle": 0}}
    given["store"] = {"address": "cassandra://nowhere/minds?dc=dc1"}  # budgets are shares where a mind has machines
    settings = load_settings(flags={name: (name, values) for name, values in given.items()})
    run = RunOrders(settings, directory, directory, WallClock(), seed=1)
    return MindProcess(run, SimpleNamespace(tell=lambda **_: None))


async def led(directory, names):
    """Every process of a mind that begins with these subminds, and its part of the budgets, of 1."""
    stores = await open_stores(directory, "mind")
    try:
        orders = await mind_of(directory, names)._lead(stores, SimpleNamespace(endpoint=Endpoint("here", "nowhere")))
    finally:
        await stores.close()
    return {order.name: 1 / shares_of(order) for order in orders}


async def divide(directory, name, times):
    stores = await open_stores(directory, "mind")
    log = GrowthLog(stores, LOOSE, {"causes": "cognitive", "people": "cognitive"}, wall)
    for turn in range(times):
        proposal = GrowthProposal(GrowthAct.DIVIDE, name, f"{name}/{turn}", ("Look.",), (f"t{turn}",))
        await log.consider(proposal, lambda _: [])
    await stores.close()


@pytest.mark.parametrize("times", [1, 3])
async def test_all_spend_no_more_than_the_whole_where_a_parent_is_configured_no_more(tmp_path, times):
    before = await led(tmp_path, ["causes", "people"])
    assert sum(before.values()) == pytest.approx(1)
    await divide(tmp_path, "causes", times)
    grown = await led(tmp_path, ["causes", "people"])
    assert len(grown) == len(before) + times
    assert sum(grown.values()) == pytest.approx(1)
    left = await led(tmp_path, ["people"])
    assert len(left) == len(grown) - 1
    assert sum(left.values()) <= 1 + 1e-9


class Refusing:
    """Stores that refuse some commits."""

    def __init__(self, stores):
        self._stores, self.refusals = stores, 0

    async def commit(self, writes, fence=0):
        if self.refusals:
            self.refusals -= 1
            raise StoreUnavailable("away", 0.01)
        await self._stores.commit(writes, fence)

    def __getattr__(self, name):
        return getattr(self._stores, name)


async def test_one_that_ended_while_the_store_was_away_is_not_said_to_live(tmp_path):
    await led(tmp_path, ["causes", "people"])
    await divide(tmp_path, "causes", 1)
    stores = Refusing(await open_stores(tmp_path, "mind"))
    mind = mind_of(tmp_path, ["causes", "people"])
    await mind._lead(stores, SimpleNamespace(endpoint=Endpoint("here", "nowhere")))
    population, left = mind.population, asyncio.Event()
    (child,) = population.members
    alive = SubmindReport(child, "cognitive", "Look.", SubmindState.RUNNING, wall())
    await stores.commit([WriteReport(alive)], 0)

    async def leave(name):
        stores.refusals = 3
        left.set()

    def nothing(*_):
        return None

    population._lifecycle = SimpleNamespace(leave=leave, share=nothing)
    ending = GrowthProposal(GrowthAct.RETIRE, child, f"{child}/1", heir="people")
    assert (await population.log.consider(ending, lambda _: [])).verdict is GrowthVerdict.GRANTED
    await population._come_to_pass()
    await asyncio.sleep(0)
    population.deliver([(Left(child), 1.0)])
    await asyncio.wait_for(left.wait(), 30)

    async def said():
        return {report.name: (report.state, report.reason) for report in await stores.registry.reports()}[child]

    async with asyncio.timeout(30):
        while (await said())[0] is SubmindState.RUNNING:
            assert any(task.get_name() == f"end-{child}" for task in population._errands), "nobody will ever say it"
            await asyncio.sleep(0.05)
    assert await said() == (SubmindState.STOPPED, "it retired; people has its topics")
    await population.close()
    await stores.close()


class Told:
    """Instead of links: what was said to whom."""

    def __init__(self):
        self.outboxes, self.said = self, []

    def put(self, to, word, priority):
        self.said.append((to, type(word).__name__))


@pytest.mark.parametrize("ended", [True, False], ids=["retired", "living"])
async def test_who_is_configured_under_the_name_of_one_that_was_born_lives_as_that_says(tmp_path, stores, ended):
    await led(tmp_path, ["causes", "people"])
    await divide(tmp_path, "causes", 1)
    log = GrowthLog(stores, LOOSE, {"causes": "cognitive", "people": "cognitive"}, wall)
    await log.follow()
    (child,) = log.policy.members
    await log.settle(child, "causes")
    if ended:
        ending = GrowthProposal(GrowthAct.RETIRE, child, f"{child}/1", heir="people")
        assert (await log.consider(ending, lambda _: [])).verdict is GrowthVerdict.GRANTED
        await log.settle(child, "people")
    mind = mind_of(tmp_path, ["causes", "people", child])
    orders = await mind._lead(stores, SimpleNamespace(endpoint=Endpoint("here", "nowhere")))
    population = mind.population
    (own,) = [order for order in orders if order.name == child]
    assert [plan.goal for plan in own.plans] == ["Find out why."]
    assert own.parts[child] == (1.0 if ended else 0.5)
    assert len({order.name for order in orders}) == len(orders) == 10
    assert sum(1 / shares_of(order) for order in orders) <= 1 + 1e-9
    population._links = told = Told()
    for name in ("causes", child):
        await population._returned(name)
    assert {word for _, word in told.said} == {"Share"}, "nobody is told that it has ended, or was born"
    assert await remove_retired(stores, population.members.values, -1.0, 0, lambda _: ()) == []
    directory = await build_directory(mind.run.settings, Embedding(), await read_members(stores.collections))
    assert [peer.goal for peer in directory if peer.name == child] == ["Find out why."]


class Embedding:
    dim = 8

    async def embed(self, texts):
        return [np.ones(8, np.float32) for _ in texts]
