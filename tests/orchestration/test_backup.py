"""A real mind is backed up while it takes perceptions in, and goes on from there in another kind of store."""

import asyncio
import secrets

import pytest

from environment.identity import perception_id
from environment.lineage import NodeKind, Standing
from environment.messages import NewPerception
from environment.stores.copying import MARGIN
from environment.stores.opening import open_stores
from orchestration.client import MindClient
from orchestration.clock import wall
from orchestration.membership.backends import open_coordination
from tests.orchestration.cli.conftest import environ, submind
from tests.orchestration.living import LivingMind, eventually
from tests.orchestration.nodes.telling import Teller
from tests.orchestration.test_cluster import leads, speaking_run, store

__all__ = ["store"]
PATIENT = environ(SUBMIND__STORE__CASSANDRA__CONNECT_TIMEOUT="60")
pytestmark = pytest.mark.timeout(600)


def telling(living):
    """Somebody who goes on, not as fast as it can: a backup gives way to who thinks, and would hardly be let in."""
    return Teller(living, "line ", pause=0.2, batch=20).begin()


def numbers(teller):
    """The number of each line that was acknowledged."""
    return {line: receipt.seq for line, receipt in teller.acknowledged.items()}


async def all_thought(stores, seqs):
    """Wait until every perception of ``seqs`` has left its trace."""
    names = [f"t-{perception_id(seq).removeprefix('p-')}" for seq in seqs]
    async with asyncio.timeout(120):
        while len(await stores.traces.get(names)) < len(names):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.2)


async def goes_on(living, place, mind, acknowledged):
    """What was acknowledged is there once, each was thought, and each entry can be explained, later ones too."""
    stores = await open_stores(place, mind, writer="tests")
    try:
        perceived = await stores.perceptions.read(0, 1_000_000)
        assert len({p.text for p in perceived}) == len(perceived)
        there = {p.text: p.seq for p in perceived}
        assert {text: there.get(text) for text in acknowledged} == acknowledged
        await all_thought(stores, there.values())
        async with MindClient(living.grpc, retry_for=60) as client:
            now = wall()
            receipts = await client.perceive([NewPerception("test", now, now, text="afterwards", key="afterwards")])
            assert receipts[0].new
            (known,) = await client.perceive([NewPerception("teller-0", now, now, text="line 0", key="line 0")])
            assert (known.new, known.seq) == (False, there["line 0"])
            await all_thought(stores, [receipts[0].seq])
            async with asyncio.timeout(60):
                entries = []
                while "afterwards" not in {entry.text for entry in entries}:
                    await asyncio.sleep(0.2)
                    entries = await stores.stream.read(1, 1_000_000)
            assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
            assert len({entry.id for entry in entries}) == len(entries)
            for entry in entries:
                explained = await client.explain(entry.id)
                (trace,) = explained.children
                (perception,) = trace.children
                assert (trace.kind, perception.kind) == (NodeKind.TRACE, NodeKind.PERCEPTION)
                assert perception.text == entry.text
                assert Standing.FORGOTTEN not in {trace.standing, perception.standing}
        return len(entries)
    finally:
        await stores.close()


def cluster_env(store, name, etcd=None):
    env = {"SUBMIND__STORE__ADDRESS": store, "SUBMIND__MIND__NAME": name}
    if etcd:
        lease = {"SUBMIND__COORDINATION__LEASE": "9", "SUBMIND__COORDINATION__REQUEST_TIMEOUT": "3"}
        env |= {"SUBMIND__COORDINATION__ADDRESS": etcd, **lease}
    return env


async def test_out_of_files_into_an_empty_cluster(tmp_path, store, etcd_of_its_own):
    """An empty keyspace, an empty etcd whose tokens begin at 1, and a mind that leads and goes on."""
    name, file = f"m-{secrets.token_hex(4)}", tmp_path / "mind.submind"
    here = LivingMind(tmp_path / "here", speaking_run)
    there = LivingMind(
        tmp_path / "there", speaking_run, cluster_env(store, name, f"etcd://127.0.0.1:{etcd_of_its_own.port}")
    )
    try:
        await asyncio.to_thread(here.start)
        source = telling(here)
        await source.until(300)
        before = numbers(source)
        taken = await submind("backup", "--data-dir", here.data_dir, "--to", file, "--json")
        assert taken.code == 0, taken.err
        during = len(source.acknowledged) - len(before)
        await source.until(len(source.acknowledged) + 50)  # it goes on
        await source.end()
        assert during > 0
        here.kill("host")

        told = await submind("restore", file, "--store", store, "--as", name, "--json", env=PATIENT)
        assert told.code == 0, told.err + told.out
        assert all(each["same"] for each in told.objects if "same" in each)
        await asyncio.to_thread(there.start)
        eventually(lambda: leads(there))
        assert await goes_on(there, store, name, before) > 0
        stores = await open_stores(store, name, writer="tests")
        assert await stores.moving.epoch() > MARGIN
        await stores.close()
        async with open_coordination(f"etcd://127.0.0.1:{etcd_of_its_own.port}", name) as coordination:
            leader = await coordination.leader()
            assert leader is not None
            assert leader.token > MARGIN  # it was raised above what the store had seen
        again = await submind("restore", file, "--store", store, "--as", name, env=PATIENT)
        assert again.code == 1
        assert "has lived on since" in again.err
    finally:
        await asyncio.to_thread(here.end)
        await asyncio.to_thread(there.end)
