"""Births and ends where subminds share processes, under a real host and a real Ray: no process is one's own."""

import asyncio
import json
import os
import signal

import pytest

from environment.population import GrowthKind
from orchestration.runtime.hosting.lifecycle import PLACEMENTS
from tests.orchestration.runtime.test_population import at_last, growing

pytestmark = pytest.mark.timeout(600)


def packs(mind):
    return {role.partition(":")[2] for role in mind.mind.processes() if "~" in role}


async def born(mind, command):
    before = {event.seq for event in await mind.events(GrowthKind.DIVIDED)}
    await mind.say(command)

    async def event():
        return next((e for e in await mind.events(GrowthKind.DIVIDED) if e.seq not in before), None)

    return (await at_last(event)).other


async def _is(found, wanted):
    return await found == wanted


async def test_children_live_where_there_is_room_and_an_empty_pack_ends(tmp_path):
    async with growing(tmp_path, pack=2) as mind:
        assert packs(mind) == {"cognitive~1"}
        pumps = await born(mind, "divide causes pumps")
        await at_last(lambda: mind.whole(pumps))
        lamps = await born(mind, "divide people lamps")
        await at_last(lambda: mind.whole(pumps, lamps))
        assert packs(mind) == {"cognitive~1", "cognitive~2"}, "both children share the second"
        assert not {f"actor:{pumps}", f"actor:{lamps}"} & set(mind.mind.processes())
        await at_last(lambda: mind.figure("causes", "divided"))
        assert await mind.figure("causes", "share") == 0.5
        await at_last(lambda: mind.figure(lamps, "restored"))  # its first state was there

        # what happens to the process happens to both, and they begin again where they were
        for role in ("actor:cognitive~2", "mind"):
            mind.mind.kill(role)
            await at_last(lambda: mind.whole(pumps, lamps))
            await at_last(lambda: _there(mind, "cognitive~1", "cognitive~2"))

        await mind.say(f"retire {lamps} people")  # its neighbour goes on
        await at_last(lambda: _only(mind, pumps))
        await at_last(lambda: _is(_lodgers(mind), {pumps}))  # until then its place is not free
        await at_last(lambda: _is(mind.figure("people", "share"), 1.0))
        assert packs(mind) == {"cognitive~1", "cognitive~2"}

        # one that is born to a pack that is held up, and killed before it heard of it, lives with its next life
        held = mind.mind.processes()["actor:cognitive~2"][0].pid
        os.kill(held, signal.SIGSTOP)
        reeds = await born(mind, "divide causes reeds")
        assert reeds not in await mind.reports()
        os.kill(held, signal.SIGKILL)
        await at_last(lambda: mind.whole(pumps, reeds))
        assert packs(mind) == {"cognitive~1", "cognitive~2"}

        # and one that is to leave while it is held up leaves once that goes on, and until then nobody spends its part
        held = mind.mind.processes()["actor:cognitive~2"][0].pid
        await mind.say(f"retire {reeds} people")
        await at_last(lambda: _ended(mind, reeds))
        os.kill(held, signal.SIGSTOP)
        await asyncio.sleep(1.0)
        os.kill(held, signal.SIGCONT)
        await at_last(lambda: _only(mind, pumps))
        await at_last(lambda: _is(mind.figure("people", "share"), 1.25))

        await mind.say(f"retire {pumps} causes")
        await at_last(lambda: _there(mind, "cognitive~1"))
        await at_last(lambda: _only(mind))
        await at_last(lambda: _is(mind.figure("causes", "share"), 0.75))
        await at_last(lambda: _is(mind.figure("people", "share"), 1.25))


async def _lodgers(mind):
    return set(json.loads(await PLACEMENTS.get(mind.stores.collections, "packs"))["homes"])


async def _only(mind, *names):
    """Whether these were born and live, and nobody else who was born."""
    return await mind.members() == list(names) and await mind.whole(*names)


async def _ended(mind, name):
    return [event for event in await mind.events(GrowthKind.RETIRED) if event.submind == name]


async def _there(mind, *names):
    return packs(mind) == set(names)
