"""Two hosts of one mind over a real Cassandra and a real etcd: who leads, who stands by, and what survives it."""

import asyncio
import contextlib
import os
import secrets
import signal
import sys

import pytest

from environment.configuration import read_configurations
from environment.messages import NewPerception
from environment.stores.opening import open_stores
from orchestration.client import MindClient, Unavailable
from orchestration.clock import wall
from orchestration.membership.backends import open_coordination
from orchestration.settings import Settings
from tests.orchestration.living import LivingMind, eventually
from tests.orchestration.until import so_many

LEASE, REQUEST = 8.0, 2.0
"""Who leads may stand still for four seconds, on a busy machine, before the other takes over."""
pytestmark = pytest.mark.timeout(600)


def speaking_run(data_dir):
    return [sys.executable, "-m", "tests.orchestration.runtime.speaking", str(data_dir)]


class Cluster:
    """Hosts of one mind, by name."""

    def __init__(self, tmp_path, store, etcd):
        self.mind = f"m-{secrets.token_hex(4)}"
        self.store, self.etcd = store, f"etcd://{etcd}" if etcd else None
        self._tmp_path = tmp_path
        self.hosts = []
        self.lease, self.request_timeout = LEASE, REQUEST

    def host(self, name, *, running=True, mind=None, **more):
        env = {
            "SUBMIND__STORE__ADDRESS": self.store,
            "SUBMIND__MIND__NAME": mind or self.mind,
            "SUBMIND__COORDINATION__LEASE": f"{self.lease:g}",
            "SUBMIND__COORDINATION__REQUEST_TIMEOUT": f"{self.request_timeout:g}",
        }
        if self.etcd:
            env["SUBMIND__COORDINATION__ADDRESS"] = self.etcd
        env |= {f"SUBMIND__{name.upper()}": str(value) for name, value in more.items()}
        living = LivingMind(self._tmp_path / name, speaking_run, env)
        self.hosts.append(living)
        return living.start(running=running)

    def stores(self, mind=None):
        return contextlib.aclosing(_Closing(self.store, mind or self.mind))

    def end(self):
        for living in self.hosts:
            for processes in living.processes().values():
                for process in processes:
                    with contextlib.suppress(OSError):
                        os.kill(process.pid, signal.SIGCONT)
            living.end()


class _Closing:
    """Stores that are opened when they are first asked for."""

    def __init__(self, place, mind):
        self._place, self._mind = place, mind
        self._stores = None

    async def open(self):
        if self._stores is None:
            self._stores = await open_stores(self._place, self._mind, writer="tests")
        return self._stores

    async def aclose(self):
        if self._stores is not None:
            await self._stores.close()


@pytest.fixture
def store(shared_keyspace):
    return f"{shared_keyspace}?dc={shared_keyspace.dc}"


@pytest.fixture
def cluster(tmp_path, store, etcd):
    built = Cluster(tmp_path, store, etcd)
    yield built
    built.end()


async def perceive(living, *texts, retry_for=60):
    async with MindClient(living.grpc, retry_for=retry_for) as client:
        now = wall()
        return await client.perceive([NewPerception("test", now, now, text=text, key=text) for text in texts])


async def spoken(cluster, texts, seconds=180.0):
    """Wait until everything of ``texts`` was said, once; the stream has no gap and no repeat."""
    async with cluster.stores() as opening:
        stores = await opening.open()
        async with asyncio.timeout(seconds):
            while True:
                entries = await stores.stream.read(1, 100_000)
                assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
                said = [entry.text for entry in entries]
                assert len(said) == len(set(said))
                if set(texts) <= set(said):
                    return said
                await asyncio.sleep(0.2)


def leads(living):
    report = living.report()
    return report["state"] == "running" and not report["standing_by"]


async def test_the_other_host_takes_over_and_the_stream_goes_on(cluster):
    one = cluster.host("one")
    first = [f"first {n}" for n in range(20)]
    await perceive(one, *first)
    two = cluster.host("two", running=False)
    eventually(lambda: one.grpc in two.report()["standing_by"])
    with pytest.raises(Unavailable, match=one.grpc):
        await perceive(two, "to the wrong one", retry_for=0.5)
    await spoken(cluster, first)
    async with MindClient(two.grpc) as reader:  # who stands by answers readers
        assert [entry.text async for entry in so_many(reader.watch(from_seq=1), 20)] == first
        assert (await reader.status()).stream.head == 20
        assert {report.name for report in await reader.subminds()} == {"text", "environment", "stream"}

        async def follow():
            return [entry async for entry in reader.watch(from_seq=1)]

        following = asyncio.create_task(follow())

        one.kill("host")
        eventually(lambda: leads(two), 180.0)
        second = [f"second {n}" for n in range(20)]
        await perceive(two, *second)
        await spoken(cluster, second)

        one.start(running=False)
        eventually(lambda: two.grpc in one.report()["standing_by"])
        assert two.stop() == 0  # in order: the other need not wait for the lease
        eventually(lambda: leads(one), 180.0)
        third = [f"third {n}" for n in range(20)]
        await perceive(one, *third)
        said = await spoken(cluster, [*first, *second, *third])
        assert len(said) == 60
        following.cancel()  # it followed the host that was stopped
    async with cluster.stores() as opening:
        perceived = await (await opening.open()).perceptions.read(0, 1000)
        assert [p.seq for p in perceived] == list(range(1, 61))
        assert len({p.text for p in perceived}) == 60


async def test_a_leader_that_is_stopped_past_its_lease_and_woken_writes_nothing(cluster):
    one = cluster.host("one")
    await perceive(one, *(f"before {n}" for n in range(10)))
    two = cluster.host("two", running=False)
    sleeping = [process for found in one.processes().values() for process in found]
    assert len(sleeping) > 4
    late = asyncio.create_task(perceive(one, *(f"late {n}" for n in range(10)), retry_for=120))
    for process in sleeping:
        process.suspend()
    eventually(lambda: leads(two), 180.0)
    meanwhile = [f"meanwhile {n}" for n in range(30)]
    await perceive(two, *meanwhile)
    await spoken(cluster, meanwhile)
    for process in sleeping:
        with contextlib.suppress(Exception):
            process.resume()
    eventually(lambda: two.grpc in one.report()["standing_by"])
    after = [f"after {n}" for n in range(10)]
    await perceive(two, *after)
    said = await spoken(cluster, [*meanwhile, *after])
    late.cancel()
    answered = await asyncio.gather(late, return_exceptions=True)
    async with cluster.stores() as opening:
        stores = await opening.open()
        perceived = await stores.perceptions.read(0, 1000)
        assert [p.seq for p in perceived] == list(range(1, len(perceived) + 1))
        texts = [p.text for p in perceived]
        assert len(texts) == len(set(texts))
        if not isinstance(answered[0], BaseException):  # acknowledged before it fell asleep
            assert {f"late {n}" for n in range(10)} <= set(texts)
        assert set(said) <= set(texts)
    eventually(lambda: leads(two))


@pytest.mark.smoke
async def test_settings_change_while_it_runs_and_leave_a_record(cluster):
    one = cluster.host("one")
    settings = Settings()
    changed = {f"environment.half_life.{kind}": 123.0 for kind in ("percept",)}
    async with open_coordination(cluster.etcd, cluster.mind, base=settings) as coordination:
        change = await coordination.configuration.change(changed, by="an operator", at=wall())
        assert change.version == 1
        await asyncio.to_thread(eventually, lambda: "configured" in (one.data_dir / "submind.log").read_text())
        (receipt,) = await perceive(one, "after the change")
        await spoken(cluster, ["after the change"])
    async with cluster.stores() as opening:
        stores = await opening.open()
        name = f"t-{receipt.id.removeprefix('p-')}"
        assert (await stores.traces.get([name]))[name].level.half_life == 123.0
        newest, *_, first = await read_configurations(stores.collections, 10)
        assert (newest.by, newest.version) == ("an operator", first.version + 1)
        assert '"percept":123.0' in newest.body
    one.kill("mind")  # what comes back has it as well
    one.running(restarts=1)
    (receipt,) = await perceive(one, "after a restart")
    await spoken(cluster, ["after a restart"])
    async with cluster.stores() as opening:
        name = f"t-{receipt.id.removeprefix('p-')}"
        assert (await (await opening.open()).traces.get([name]))[name].level.half_life == 123.0


async def test_two_minds_in_one_keyspace_never_see_each_others_anything(cluster):
    import httpx

    mine, theirs = cluster.host("mine"), cluster.host("theirs", mind=f"{cluster.mind}-2")
    ours = await perceive(mine, *(f"ours {n}" for n in range(10)))
    await perceive(theirs, *(f"theirs {n}" for n in range(5)))
    await spoken(cluster, [f"ours {n}" for n in range(10)])
    async with MindClient(theirs.grpc) as other:
        eventually_said = [entry.text async for entry in so_many(other.watch(from_seq=1), 5)]
        assert sorted(eventually_said) == [f"theirs {n}" for n in range(5)]
        foreign = f"t-{ours[7].id.removeprefix('p-')}"
        with pytest.raises(Exception, match=foreign):
            await other.explain(foreign)
        assert all("ours" not in hit.trace.thought.text for hit in await other.search("ours", 10))
        assert (await other.status()).perceptions.head == 5
        assert (await other.status()).stream.head == 5
    async with httpx.AsyncClient(base_url=theirs.http, timeout=60) as http:
        for path in (
            "/v1/stream?from=1",
            "/v1/traces",
            "/v1/subminds",
            "/v1/connections",
            "/v1/connections/history",
            "/v1/status",
            "/metrics",
            "/v1/search?q=ours",
        ):
            answer = await http.get(path)
            assert answer.status_code == 200, path
            assert "ours" not in answer.text.replace('"q":"ours"', ""), path
        assert (await http.get(f"/v1/traces/{foreign}")).status_code == 404
        assert (await http.get(f"/v1/explain/{foreign}")).status_code == 404
    async with (
        open_coordination(cluster.etcd, cluster.mind) as here,
        open_coordination(cluster.etcd, f"{cluster.mind}-2") as there,
    ):
        assert (await here.leader()).candidate == mine.grpc
        assert (await there.leader()).candidate == theirs.grpc
        await here.configuration.change({"attention.per_hour": 3.0}, by="somebody", at=wall())
        assert (await there.configuration.current()).version == 0


async def test_without_etcd_a_leader_goes_on_while_its_lease_lasts_then_stops_and_takes_over_again(
    tmp_path, store, etcd_of_its_own
):
    cluster = Cluster(tmp_path, store, f"127.0.0.1:{etcd_of_its_own.port}")
    cluster.lease, cluster.request_timeout = 12.0, 4.0  # time enough to say something while it lasts
    try:
        one = cluster.host("one")
        await perceive(one, "before")
        await asyncio.to_thread(etcd_of_its_own.kill)
        await perceive(one, "while the lease lasts", retry_for=1)
        eventually(lambda: one.report()["standing_by"])
        eventually(lambda: not {"mind", "actor:stream"} & set(one.processes()))
        with pytest.raises(Unavailable, match="stands by"):
            await perceive(one, "too late", retry_for=0.5)
        async with MindClient(one.grpc) as reader:
            assert (await reader.status()).perceptions.head == 2
        await asyncio.to_thread(etcd_of_its_own.start)
        eventually(lambda: leads(one), 180.0)
        await perceive(one, "after")
        assert await spoken(cluster, ["before", "while the lease lasts", "after"])
    finally:
        cluster.end()
