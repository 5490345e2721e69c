"""A population that changes while the mind runs, under a real host and a real Ray: born, ended, killed, frozen."""

import asyncio
import json
import os
import random
import sys
from contextlib import asynccontextmanager

import httpx
import pytest

from environment.messages import SubmindState
from environment.population import GrowthKind, read_growth, read_members
from environment.stores.sqlite import open_stores
from tests.orchestration.living import LivingMind

WITHIN = 240.0
KILLS = int(os.environ.get("SUBMIND_TEST_KILLS", "1"))
SEED = int(os.environ.get("SUBMIND_TEST_SEED", "1"))
ROLES = {
    1: ("mind", "actor:causes", "actor:people", "gcs"),
    2: ("mind", "actor:cognitive~1", "actor:cognitive~2", "gcs"),
}
"""Who is killed, by how many share a process."""


def growing_run(data_dir):
    return [sys.executable, "-m", "tests.orchestration.runtime.growing", str(data_dir)]


@asynccontextmanager
async def growing(directory, pack=1, **bounds):
    mind = LivingMind(directory, growing_run, {"GROWTH": json.dumps(bounds), "PACK": str(pack)})
    stores = None
    try:
        mind.start(running=False)
        mind.running(seconds=WITHIN)
        stores = await open_stores(directory, "mind")
        yield Lifecycle(mind, stores)
    finally:
        mind.end()
        if stores is not None:
            await stores.close()


class Lifecycle:
    """The mind, and its stores as anybody may read them."""

    def __init__(self, mind, stores):
        self.mind, self.stores = mind, stores

    async def say(self, *commands):
        async with httpx.AsyncClient(base_url=self.mind.http, timeout=60, trust_env=False) as http:
            told = [{"source": "operator", "text": command} for command in commands]
            (await http.post("/v1/perceptions", json={"perceptions": told})).raise_for_status()

    async def order(self, path, **body):
        async with httpx.AsyncClient(base_url=self.mind.http, timeout=60, trust_env=False) as http:
            return await http.post(f"/v1/growth/{path}", json={"by": "ann", **body})

    async def events(self, *kinds):
        return [e for e in await read_growth(self.stores.collections, 0, 1000) if not kinds or e.kind in kinds]

    async def reports(self, state=SubmindState.RUNNING):
        return {r.name: r for r in await self.stores.registry.reports() if r.state is state}

    async def members(self, *, settled=True):
        """Those who live, once everybody has let go and taken over."""
        found = await read_members(self.stores.collections)
        return None if settled and not all(m.settled for m in found) else [m.name for m in found if m.living]

    async def whole(self, *names):
        """Whether exactly those run who are in the log, these among them, all settled."""
        living = await self.members()
        if living is None or not set(names) <= set(living):
            return False
        return set(await self.reports()) == {"text", "causes", "people", *living}

    async def figure(self, actor, name):
        return (await self.reports()).get(actor, None) and (await self.reports())[actor].metrics.get(name)


async def test_approved_born_frozen_and_ended(tmp_path):
    async with growing(tmp_path, approval="divisions", ceiling=4) as mind:
        await mind.say("divide causes pumps")
        (waiting,) = await at_last(lambda: mind.events(GrowthKind.PROPOSED))
        assert (await mind.order(f"{waiting.id}/approve")).json()["mind_runs"] is True
        await at_last(lambda: mind.whole("pumps-3"))  # nobody had to ask again
        await mind.say("divide people")
        (born,) = await mind.events(GrowthKind.DIVIDED)
        assert born.proposal == waiting.seq
        await at_last(lambda: mind.figure("causes", "divided"))
        assert await mind.figure("causes", "share") == 0.5
        await at_last(lambda: mind.figure("people", "born"))
        await at_last(lambda: mind.figure("pumps-3", "restored"))  # its first state was there
        await at_last(lambda: _refused_by(mind, "ceiling"))
        assert (await mind.order("freeze", reason="odd")).status_code == 200
        await mind.say("retire pumps-3 causes")
        await at_last(lambda: _refused_by(mind, "frozen"))
        await mind.order("thaw")
        await mind.say("retire pumps-3 people")
        await at_last(lambda: mind.events(GrowthKind.RETIRED))
        await at_last(mind.whole)
        assert await mind.members() == []
        gone = (await mind.reports(SubmindState.STOPPED))["pumps-3"]
        assert gone.reason == "it retired; people has its topics"
        await at_last(lambda: mind.figure("people", "inherited"))
        assert await mind.figure("people", "share") == 1.5  # at once, and not with its next division
        await at_last(lambda: mind.figure("causes", "gone"))
        await at_last(lambda: _not_there(mind, "actor:pumps-3"))


@pytest.mark.parametrize("pack", [pytest.param(1, id="alone"), pytest.param(2, id="packed", marks=pytest.mark.soak)])
async def test_killed_at_any_moment_it_is_whole_again(tmp_path, pack):
    chance = random.Random(SEED)
    async with growing(tmp_path, pack) as mind:
        for turn in range(1, KILLS + 1):
            born = await mind.members(settled=False)
            retire = [f"retire {born[-1]} people"] if turn % 3 == 0 and born else []
            before = len(await mind.events(GrowthKind.DIVIDED))
            await mind.say("divide causes", *retire)
            if turn == 1 or chance.random() < 0.7:
                await at_last(lambda before=before: _decided(mind, before))  # and hardly more
            there = mind.mind.processes()
            mind.mind.kill(chance.choice([role for role in ROLES[pack] if role in there]) if turn > 1 else "mind")
            await at_last(lambda: _up(mind))
            await at_last(mind.whole)
        assert await mind.events(GrowthKind.DIVIDED)
        for member in await read_members(mind.stores.collections):
            assert await mind.stores.registry.state(member.name)
            assert pack > 1 or not member.living or f"actor:{member.name}" in mind.mind.processes()


async def at_last(condition):
    """The first true answer."""
    async with asyncio.timeout(WITHIN):
        while not (answer := await condition()):  # noqa: ASYNC110 - what is waited for does not know that it is
            await asyncio.sleep(0.1)
    return answer


async def _up(mind):
    return mind.mind.report()["state"] == "running" and {"text", "causes", "people"} <= set(await mind.reports())


async def _refused_by(mind, limit):
    return [e for e in await mind.events(GrowthKind.REFUSED) if e.limit == limit]


async def _not_there(mind, role):
    return role not in mind.mind.processes()


async def _decided(mind, before):
    return len(await mind.events(GrowthKind.DIVIDED)) > before
