"""Load while actors and raylets are killed at random, again and again; then everything is counted.

About a minute; SUBMIND_TEST_CHAOS=300 for five.
"""

import asyncio
import os
import random
import time

import psutil
import pytest

from orchestration.client import ClientError, MindClient
from tests.orchestration.living import LivingMind, crowd_run, eventually
from tests.orchestration.nodes.raylets import Raylets
from tests.orchestration.nodes.telling import Teller, heard

SECONDS = float(os.environ.get("SUBMIND_TEST_CHAOS", "60"))
SEED = int(os.environ.get("SUBMIND_TEST_SEED", "1"))
ALL = {"text", "environment", "stream", "sitter-0", "sitter-1", "sitter-2"}
EVERY_RAYLET = 5
"""Every so many kills it is a raylet."""


async def follow(mind, seen):
    """Read the stream from its beginning, resuming for ever."""
    while True:
        try:
            async with MindClient(mind.grpc, retry_for=2.0) as client:
                async for entry in client.watch(len(seen) + 1):
                    seen.append(entry.seq)  # what was read before an error counts
        except (ClientError, OSError, ValueError, KeyError):
            await asyncio.sleep(0.1)


class Havoc:
    """Kills, waits until everybody lives again, and takes the time of it."""

    def __init__(self, raylets, chance):
        self._raylets, self._chance = raylets, chance
        self._next = iter(range(1000))
        self.actors, self.nodes = [], []

    def once(self, number):
        if number % EVERY_RAYLET == 2:
            victim = self._chance.choice(list(self._raylets))
            had = [p.pid for p in self._raylets.raylet(victim).children()]
            at = self._raylets.kill(victim)
            self._whole(had)
            self.nodes.append(time.monotonic() - at)
            self._raylets.add(f"new-{next(self._next)}")
        else:
            _, process = self._chance.choice(sorted(self._raylets.actors().items()))
            process.kill()
            at = time.monotonic()
            self._whole([process.pid])
            self.actors.append(time.monotonic() - at)

    def _whole(self, gone):
        def again():
            living = self._raylets.actors()
            return set(living) == ALL and not {p.pid for p in living.values()} & set(gone)

        eventually(again, 180.0)


@pytest.mark.soak
@pytest.mark.timeout(SECONDS * 3 + 900)
async def test_nothing_is_lost_or_doubled_while_actors_and_raylets_are_killed(tmp_path):
    raylets = await asyncio.to_thread(lambda: Raylets().add("a", "b"))
    mind = LivingMind(tmp_path / "data", crowd_run(raylets.address))
    chance, seen = random.Random(SEED), []
    havoc = Havoc(raylets, chance)
    try:
        await asyncio.to_thread(mind.start, running=False)
        await asyncio.to_thread(mind.running, 0, 180.0)
        following = asyncio.create_task(follow(mind, seen))
        began, number = time.monotonic(), 0
        async with Teller(mind, "chaos") as teller:
            while time.monotonic() - began < SECONDS or not havoc.nodes:
                await asyncio.sleep(chance.uniform(0.2, 2.0))
                await asyncio.to_thread(havoc.once, number)
                number += 1
        perceived, said = await heard(mind, [teller], 240.0)
        report = mind.report()
        await asyncio.to_thread(eventually, lambda: len(seen) >= said, 60.0)
        following.cancel()
        assert mind.stop() == 0
    finally:
        mind.end()
        await asyncio.to_thread(raylets.end)
    print(  # noqa: T201
        f"\n{len(havoc.actors)} actors, {len(havoc.nodes)} raylets killed in {time.monotonic() - began:.0f} s of load"
        f" ({psutil.cpu_count()} cores): {perceived} perceived, {said} said, none lost; whole again after"
        f" {_told(havoc.actors)} (an actor), {_told(havoc.nodes)} (a node)"
    )
    assert perceived >= len(teller.acknowledged) > 100
    assert said > 0
    assert seen == list(range(1, len(seen) + 1))
    assert report["restarts"] == 0  # the mind process itself lived through it all
    assert not any(actor["quarantined"] for actor in report["actors"].values())


def _told(seconds):
    found = sorted(seconds)
    return f"{found[len(found) // 2]:.1f} s, at most {found[-1]:.1f} s" if found else "-"
