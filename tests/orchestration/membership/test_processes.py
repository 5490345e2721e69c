"""Leaders that are processes of their own, stopped and killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from environment.stores.sqlite import open_stores
from orchestration.membership.etcd.client import EtcdClient

ROOT = Path(__file__).resolve().parents[3]
LEASE = 4.0
"""Who leads may stand still for more than half of it, on a busy machine, before another does."""


class Stubborn:
    """A process that leads whenever it can."""

    def __init__(self, name: str, process: Process) -> None:
        self.name = name
        self.process = process

    async def says(self, what: str, within: float = 60.0) -> dict[str, Any]:
        """The next thing it says that names ``what``."""
        assert self.process.stdout is not None
        async with asyncio.timeout(within):
            while line := await self.process.stdout.readline():
                if line.startswith(b"{") and what in (said := json.loads(line)):
                    return dict(said)
        raise AssertionError(f"{self.name} ended without saying {what!r}")

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)


@asynccontextmanager
async def stubborn(name: str, endpoint: str, mind: str, directory: Path) -> AsyncIterator[Stubborn]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.orchestration.membership.stubborn"),
        *(f"etcd://{endpoint}", mind, str(directory), name, str(LEASE)),
        stdout=PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield Stubborn(name, process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def read_acknowledged(directory: Path) -> dict[int, str]:
    acknowledged: dict[int, str] = {}
    for file in directory.glob("*.acknowledged"):
        for line in file.read_text().splitlines():
            seq, said = line.split()
            assert int(seq) not in acknowledged, f"{seq} was acknowledged to {said} and to {acknowledged[int(seq)]}"
            acknowledged[int(seq)] = said
    return acknowledged


async def look_at_the_stream(directory: Path, mind: str) -> int:
    """No number is there twice, none is missing, and what was acknowledged is as it was written; how many there are."""
    stores = await open_stores(directory, mind)
    head = await stores.stream.head()
    entries = await stores.stream.read(1, head + 1)
    await stores.close()
    assert [entry.seq for entry in entries] == list(range(1, head + 1))
    ids = {entry.seq: entry.id for entry in entries}
    acknowledged = await asyncio.to_thread(read_acknowledged, directory)
    assert acknowledged.items() <= ids.items()
    assert len(ids) - len(acknowledged) <= 3, "only what was cut off between writing and hearing of it may be missing"
    fences = [int(one.split("-")[1]) for one in ids.values()]
    assert fences == sorted(fences), "an older leader wrote after a newer one"
    return head


async def test_a_leader_stopped_past_its_lease_and_woken_is_refused(
    etcd: str, mind: str, client: EtcdClient, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        ada = await stack.enter_async_context(stubborn("ada", etcd, mind, tmp_path))
        assert (await ada.says("leads"))["leads"] == 1
        bob = await stack.enter_async_context(stubborn("bob", etcd, mind, tmp_path))
        eve = await stack.enter_async_context(stubborn("eve", etcd, mind, tmp_path))
        await asyncio.gather(bob.says("standing"), eve.says("standing"))
        leader, others, token = ada, [bob, eve], 1
        for _ in range(2):
            leader.signal(signal.SIGSTOP)
            elected = [asyncio.create_task(one.says("leads")) for one in others]
            while True:
                done, waiting = await asyncio.wait(elected, timeout=2 * LEASE, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    break
                leader.signal(signal.SIGCONT)  # it was stopped within a transaction: nobody else can write to a file
                await asyncio.sleep(0.05)
                leader.signal(signal.SIGSTOP)
            for one in waiting:
                one.cancel()
            new = others[elected.index(next(iter(done)))]
            token += 1
            assert next(iter(done)).result()["leads"] == token
            await asyncio.sleep(0.3)
            leader.signal(signal.SIGCONT)
            refused = await leader.says("refused")
            assert (refused["refused"], refused["current"]) == (token - 1, token)
            assert not refused["sure"], "it was sure to lead while another did"
            others = [one for one in (ada, bob, eve) if one is not new]
            leader = new
        await asyncio.sleep(0.3)
    assert await look_at_the_stream(tmp_path, mind) > 10


async def test_a_leader_that_is_killed_is_followed_after_its_lease(
    etcd: str, mind: str, client: EtcdClient, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        ada = await stack.enter_async_context(stubborn("ada", etcd, mind, tmp_path))
        await ada.says("leads")
        bob = await stack.enter_async_context(stubborn("bob", etcd, mind, tmp_path))
        await bob.says("standing")
        ada.signal(signal.SIGKILL)
        assert (await bob.says("leads", within=60))["leads"] == 2
        await asyncio.sleep(0.3)
    assert await look_at_the_stream(tmp_path, mind) > 10
