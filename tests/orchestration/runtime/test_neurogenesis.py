"""Neurogenesis as it is: real cores under a real host and a real Ray, given more than one of them can handle."""

import asyncio
import random
import sys
import time
from collections import Counter

import httpx
import pytest

from environment.messages import SubmindState
from environment.population import GrowthKind, read_growth
from environment.stores.sqlite import open_stores
from tests.orchestration.living import LivingMind
from tests.orchestration.runtime.test_population import at_last
from tests.orchestration.simulation.test_growth import GARDEN, WORKSHOP, lines

pytestmark = pytest.mark.timeout(600)


def busy_run(data_dir):
    return [sys.executable, "-m", "tests.orchestration.runtime.busy", str(data_dir)]


def book(directory, kind):
    """Ids of thoughts that were told or taken in, with the number of times, and by whom."""
    found = {}
    for path in directory.glob(f"{kind}.*"):
        found[path.name.partition(".")[2]] = Counter(path.read_text("ascii").split())
    return found


def homes(mind, *names):
    """The processes that subminds of these names may live in, of which there is one."""
    return {role for role in (*names, "cognitive~1", "cognitive~2") if f"actor:{role}" in mind.processes()}


class Watched:
    """The mind, and its stores as anybody may read them."""

    def __init__(self, mind, stores):
        self.mind, self.stores, self.said = mind, stores, 0

    async def say(self, chance, world, count):
        made = lines(world, count, time.time(), 0.01, chance)
        self.said += count
        told = [{"source": one.source, "text": one.text, "key": f"{self.said}-{one.key}"} for one in made]
        async with httpx.AsyncClient(base_url=self.mind.http, timeout=60, trust_env=False) as http:
            (await http.post("/v1/perceptions", json={"perceptions": told})).raise_for_status()

    async def event(self, kind):
        return next((e for e in await read_growth(self.stores.collections, 0, 1000) if e.kind is kind), None)

    async def report(self, name):
        reports = {r.name: r for r in await self.stores.registry.reports() if r.state is SubmindState.RUNNING}
        return reports.get(name)

    async def figure(self, name, metric):
        found = await self.report(name)
        return found.metrics.get(metric, 0.0) if found else 0.0

    async def calm(self):
        """Whether nothing waits anywhere."""
        reports = [r for r in await self.stores.registry.reports() if r.state is SubmindState.RUNNING]
        return all(r.mailbox == 0 for r in reports)


@pytest.mark.parametrize("pack", [pytest.param(1, id="alone"), pytest.param(8, id="packed", marks=pytest.mark.soak)])
async def test_an_overloaded_submind_divides_is_relieved_and_has_all_back_when_its_child_retires(tmp_path, pack):
    chance = random.Random(1)
    directory = tmp_path / "book"
    directory.mkdir()
    mind, stores = LivingMind(tmp_path / "mind", busy_run, {"BOOK": str(directory), "PACK": str(pack)}), None
    try:
        mind.start(running=False)
        mind.running(seconds=240.0)
        stores = await open_stores(tmp_path / "mind", "mind")
        seen = Watched(mind, stores)
        began = time.monotonic()
        while not (born := await seen.event(GrowthKind.DIVIDED)):  # both worlds at once, more than it can handle
            assert time.monotonic() - began < 240, await seen.report("association")
            await seen.say(chance, WORKSHOP, 20)
            await seen.say(chance, GARDEN, 20)
            await asyncio.sleep(0.5)
        overloaded = (await seen.report("association")).mailbox
        assert born.submind == "association"
        child = born.other
        await at_last(lambda: seen.report(child))
        assert await at_last(lambda: _is(seen.figure("association", "share"), 0.5))
        assert await at_last(lambda: _is(seen.figure(child, "share"), 0.5))
        assert homes(mind, "association", child) == ({"association", child} if pack == 1 else {"cognitive~1"})

        topics = set((await seen.report(child)).topics)
        for _ in range(10):  # both still speak of both worlds, as much as two can handle
            await seen.say(chance, WORKSHOP, 6)
            await seen.say(chance, GARDEN, 6)
            await asyncio.sleep(1.0)
            topics |= set((await seen.report(child)).topics)
        await at_last(seen.calm)
        assert overloaded > 0
        assert (await seen.report("association")).mailbox == 0
        assert set(born.topics) & topics, "the child holds what it was given"
        taken, told = book(directory, "taken"), book(directory, "told")
        assert len(taken[child]) > 20, "and works on it"
        dropped = sum(r.metrics.get("messages_dropped_total", 0.0) for r in await stores.registry.reports())
        missed = set(told["text"]) - set().union(*taken.values())
        assert len(missed) <= dropped, (len(missed), dropped, len(told["text"]))
        often = [count for counts in taken.values() for count in counts.values()]
        assert max(often) == 1, "nobody took a thought in twice"

        gone = await at_last(lambda: seen.event(GrowthKind.RETIRED))
        assert (gone.submind, gone.other) == (child, "association")
        assert await at_last(lambda: _is(seen.figure("association", "share"), 1.0))
        assert set(born.topics) & set((await seen.report("association")).topics), "it has back what it gave"
        await at_last(lambda: _nobody(mind, child))
        assert mind.report()["restarts"] == 0
    finally:
        mind.end()
        if stores is not None:
            await stores.close()


async def _is(found, wanted):
    return await found == wanted


async def _nobody(mind, child):
    return f"actor:{child}" not in mind.processes()
