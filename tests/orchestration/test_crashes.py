"""``kill -9`` of any process of a running mind, again and again, while it takes perceptions in and is watched."""

import asyncio
import os
import random
import time

import pytest

from environment.messages import EntryKind
from environment.stores.sqlite import open_stores
from orchestration.client import ClientError, MindClient
from orchestration.settings import Settings
from tests.orchestration.living import LivingMind, submind_run
from tests.orchestration.nodes.telling import Teller
from tests.orchestration.simulation.histories import day
from tests.orchestration.simulation.invariants import broken
from tests.servers.process import free_ports

SEED = int(os.environ.get("SUBMIND_TEST_SEED", "1"))

SETTINGS = """
attention: {per_hour: 3600, hold: 0.2, refractory: 5}
stream: {reorder: 0.2}
runtime: {subminds_per_actor: {cognitive: 5, metacognitive: 2}}
"""
"""Some subminds alone and some that share a process: whoever is killed, fewer of them have to start."""


async def watch(target: str, seen: list) -> None:
    """Read the stream from its beginning, resuming for ever."""
    while True:
        try:
            async with MindClient(target, retry_for=2.0) as client:
                async for entry in client.watch(len(seen) + 1):
                    seen.append(entry)  # noqa: PERF401  # what was read before an error counts
        except ClientError:
            await asyncio.sleep(0.1)


async def grow(seen: list, by: int, seconds: float) -> None:
    """Wait until the stream has grown."""
    goal, until = len(seen) + by, time.monotonic() + seconds
    while len(seen) < goal and time.monotonic() < until:  # noqa: ASYNC110  # a list tells nobody that it grew
        await asyncio.sleep(0.1)
    assert len(seen) >= goal, f"the stream stopped at {len(seen)}"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [6, pytest.param(30, marks=pytest.mark.soak)])
async def test_nothing_acknowledged_is_lost_and_the_stream_has_no_gap(tmp_path, kills):
    (tmp_path / "mind.yaml").write_text(SETTINGS)
    target = f"127.0.0.1:{free_ports(1)[0]}"
    mind = LivingMind(
        tmp_path / "data",
        lambda directory: [*submind_run(directory, "--mind", str(tmp_path / "mind.yaml")), "--grpc", target],
    )
    chance = random.Random(SEED)
    said = [p.text for p in day() if p.text]
    teller, seen = Teller(mind, words=lambda n: f"{said[n % len(said)]} {n}"), []
    await asyncio.to_thread(mind.start)
    teller.begin()
    watching = asyncio.create_task(watch(target, seen))
    try:
        await grow(seen, 3, 240)
        for number in range(kills):
            await asyncio.sleep(chance.uniform(0.2, 2.5))
            found = await asyncio.to_thread(mind.processes)
            actors = sorted(role for role in found if role.startswith("actor:"))
            others = sorted({"host", "mind", "raylet", "gcs"} & set(found))
            role = chance.choice(others if number % 3 == 2 or not actors else actors)
            print(f"kill {number}: {role}, {len(teller.acknowledged)} acknowledged, {len(seen)} conscious")  # noqa: T201  # shown when it fails
            await asyncio.to_thread(mind.kill, role)
            if role == "host":
                await asyncio.to_thread(mind.gone)
                await asyncio.to_thread(mind.start, running=False)
        await asyncio.to_thread(mind.running, 0, 300.0)
        await grow(seen, 3, 240)
        await teller.end()
        await settled(mind)
        await asyncio.sleep(1.0)
        assert await asyncio.to_thread(mind.stop) == 0
    finally:
        watching.cancel()
        await asyncio.gather(watching, teller.end(), return_exceptions=True)
        mind.end()
    stores = await open_stores(mind.data_dir, "mind")
    try:
        found = await broken(stores, Settings(), list(teller.acknowledged.values()), seen)
        keys = [p.key for p in await stores.perceptions.read(0, 1_000_000)]
    finally:
        await stores.close()
    assert found == []
    assert len(keys) == len(set(keys))
    assert len(teller.acknowledged) > 100
    assert sum(e.kind is EntryKind.THOUGHT for e in seen) > 5


async def settled(mind: LivingMind) -> None:
    """Wait until the text submind has read the log to its end."""
    async with MindClient(mind.grpc) as client:
        for _ in range(1500):
            status = await client.status()
            reports = {r.name: r for r in await client.subminds()}
            if reports["text"].metrics.get("cursor", 0) >= status.perceptions.head:
                return
            await asyncio.sleep(0.2)
    raise AssertionError("the text submind does not catch up")
