"""Fronts of a mind on a real Cassandra and a real etcd: what they answer, what they hand on, what survives."""

import asyncio
import contextlib
import re
import time
from dataclasses import replace

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from environment.messages import NewPerception
from orchestration.client import MindClient, Unavailable
from orchestration.client.errors import translate
from orchestration.clock import wall
from orchestration.pb.submind.v1 import perception_pb2 as pb
from orchestration.pb.submind.v1 import perception_pb2_grpc
from orchestration.view.status import MindState
from tests.orchestration.front.living import LivingFront
from tests.orchestration.gateway.conftest import perceived, refusal, request
from tests.orchestration.test_cluster import Cluster, spoken, store  # noqa: F401 - a fixture among them
from tests.orchestration.until import so_many, until

pytestmark = pytest.mark.timeout(600)


class Fronts(Cluster):
    """Hosts and fronts of one mind."""

    def __init__(self, tmp_path, store, etcd):  # noqa: F811
        super().__init__(tmp_path, store, etcd)
        self.fronts = []
        self.lease, self.request_timeout = 9.0, 3.0  # what is tested is not how soon a leader is missed

    def keeper(self, name):
        """A host that leads and takes perceptions in, without anybody who thinks about them: its Ray never answers."""
        never = {"runtime__cluster__address": "127.0.0.1:1", "host__restart": 600, "host__restart_most": 600}
        return self.host(name, running=False, **never)

    def front(self, *flags, **more):
        env = {
            "SUBMIND__STORE__ADDRESS": self.store,
            "SUBMIND__MIND__NAME": self.mind,
            "SUBMIND__COORDINATION__ADDRESS": self.etcd,
            "SUBMIND__GATEWAY__DRAIN": "0.05",
        }
        settings = {f"SUBMIND__{name.upper()}": str(value) for name, value in more.items()}
        self.fronts.append(LivingFront(self._tmp_path, env | settings, *flags))
        return self.fronts[-1].start()

    def end(self):
        for front in self.fronts:
            front.end()
        super().end()

    async def perceptions(self):
        async with self.stores() as opening:
            stores = await opening.open()
            found, after = [], 0
            while batch := await stores.perceptions.read(after, 5000):
                found += batch
                after = batch[-1].seq
            return found


@pytest.fixture
def cluster(tmp_path, store, etcd):  # noqa: F811
    built = Fronts(tmp_path, store, etcd)
    yield built
    built.end()


def said(text, key=None):
    now = wall()
    return NewPerception("test", now, now, text=text, key=key)


async def health(target):
    async with grpc.aio.insecure_channel(target) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        return health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)


async def test_a_front_answers_as_the_mind_would(cluster):
    cluster.host("one")
    front = cluster.front()
    async with (
        MindClient(front.grpc, retry_for=30) as client,
        httpx.AsyncClient(base_url=front.http, timeout=60) as http,
        httpx.AsyncClient(base_url=front.probes, timeout=60) as probes,
    ):
        texts = [f"first {n}" for n in range(20)]
        receipts = await client.perceive([said(text, text) for text in texts])
        assert [(each.seq, each.new) for each in receipts] == [(n, True) for n in range(1, 21)]
        answer = await http.post("/v1/perceptions", json={"perceptions": [{"source": "http", "text": "by http"}]})
        assert answer.json()["receipts"][0] == {"id": f"p-{21:020x}", "new": True, "seq": 21}
        refused = await http.post("/v1/perceptions", json={"perceptions": [{"source": "http", "text": " "}]})
        assert refused.status_code == 422
        await spoken(cluster, [*texts, "by http"])

        entries = [entry async for entry in so_many(client.watch(from_seq=1), 21)]
        assert sorted(entry.text for entry in entries) == sorted([*texts, "by http"])
        assert (await client.explain(1)).text == entries[0].text
        status = await client.status()
        assert status.state in {MindState.RUNNING, MindState.DEGRADED}
        assert status.perceptions.acknowledged == 21  # as the leader counts them
        assert {report.name for report in await client.subminds()} == {"text", "environment", "stream"}
        assert await client.nodes().listed() == ([], {})
        assert (await http.get("/v1/stream?from=1")).json()["head"] == 21
        assert "<title" in (await http.get("/")).text

        frozen = (await http.post("/v1/growth/freeze", json={"by": "an operator", "reason": "to see"})).json()
        assert (frozen["event"]["kind"], frozen["mind_runs"]) == ("frozen", True)
        assert (await client.growth("another").thaw()).event.by == "another"
        assert [event.kind.value for event in await client.growth().events()] == ["frozen", "thawed"]

        ready = (await probes.get("/readyz")).json()
        assert ready["ready"]
        assert ready["state"] in {"running", "degraded"}
        assert (await probes.get("/healthz")).status_code == 200
        figures = (await probes.get("/metrics")).text
        assert re.search(r"^submind_front_connected(\{[^}]*\})? 1\.0$", figures, re.MULTILINE)
        assert "submind_actor_state{" not in figures  # the host's to show: fronts are many
        assert (await probes.get("/v1/status")).status_code == 404
        assert (await http.get("/readyz")).status_code == 200
    assert await health(front.grpc) == "SERVING"
    assert front.stop() == 0
    assert "Traceback" not in front.said()


async def test_a_gateway_alone_and_a_feed_alone(cluster):
    host = cluster.keeper("one")
    gateway = cluster.front("--http", "none")
    feed = cluster.front("--grpc", "none", "--leader", host.grpc)
    assert (gateway.http, feed.grpc) == ("", "")
    async with MindClient(gateway.grpc, retry_for=30) as client, httpx.AsyncClient(timeout=30) as http:
        (receipt,) = await client.perceive([said("to be seen")])
        assert (await http.get(f"{feed.http}v1/explain/{receipt.id}")).json()["text"] == "to be seen"
        for front in (gateway, feed):
            assert (await http.get(f"{front.probes}readyz")).json()["ready"]
        body = {"perceptions": [{"source": "http", "text": "by the other"}]}
        assert (await http.post(f"{feed.http}v1/perceptions", json=body)).status_code == 200
    assert [gateway.stop(), feed.stop()] == [0, 0]


async def test_without_a_leader_readers_are_answered_and_callers_told_when_to_come_back(cluster):
    front = cluster.front(front__hold=0.5)
    async with (
        grpc.aio.insecure_channel(front.grpc) as channel,
        MindClient(front.grpc, retry_for=0) as client,
        httpx.AsyncClient(base_url=front.http, timeout=60) as http,
    ):
        perceive = perception_pb2_grpc.PerceptionServiceStub(channel).Perceive
        began = time.monotonic()
        refused = await refusal(perceive(request(perceived("to nobody"))))
        assert time.monotonic() - began >= 0.5
        assert (refused.code, refused.retry_after) == (grpc.StatusCode.UNAVAILABLE, 1.0)
        assert "nobody who leads the mind could be reached" in refused.text
        answer = await http.post("/v1/perceptions", json={"perceptions": [{"source": "http", "text": "to nobody"}]})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        status = await client.status()
        assert status.state is MindState.DOWN
        assert "nobody is known to lead" in status.reasons[0]
        assert (await http.get("/v1/stream")).json()["head"] == 0
        with pytest.raises(Unavailable):
            await client.nodes().listed()
        ready = await http.get("/readyz")
        assert ready.status_code == 200  # out of service, nobody would tell callers when to come back
        assert any("no leader" in reason for reason in ready.json()["reasons"])
        assert await health(front.grpc) == "SERVING"

        host = cluster.keeper("one")
        async with MindClient(front.grpc, retry_for=60) as patient:  # the same front, without a restart
            (receipt,) = await patient.perceive([said("to somebody", "k")])
        assert (receipt.seq, receipt.new) == (1, True)
        host.kill("host")
        assert (await client.explain(receipt.id)).text == "to somebody"
        assert (await http.get(f"/v1/explain/{receipt.id}")).json()["text"] == "to somebody"
        assert (await client.status()).perceptions.head == 1


async def test_ten_thousand_through_two_fronts_while_the_leader_is_killed_and_another_takes_over(cluster):
    one, two = cluster.keeper("one"), cluster.keeper("two")
    patient = cluster.front("--http", "none", front__hold=120)
    hasty = cluster.front("--http", "none")
    acknowledged = []

    async def keyed():
        """Through a front that soon tells callers to come back; the client does."""
        texts = (f"keyed {n}" for n in range(4000))
        async with MindClient(hasty.grpc, retry_for=120) as client:
            async for receipt in client.perceive_many((said(text) for text in texts), batch=20):
                acknowledged.append(receipt)  # noqa: PERF401 - as they come

    async def keyless(name):
        """Through a front that holds callers until somebody leads: it alone sees to it that nothing is doubled."""
        receipts = []
        async with grpc.aio.insecure_channel(patient.grpc) as channel:
            call = perception_pb2_grpc.PerceptionServiceStub(channel).PerceiveStream()

            async def send():
                for n in range(150):
                    batch = [perceived(f"{name} {20 * n + m}", source="test") for m in range(20)]
                    await call.write(pb.PerceiveStreamRequest(batch=n, perceptions=batch))
                    await asyncio.sleep(0.005)
                await call.done_writing()

            sending = asyncio.create_task(send())
            async for answer in call:
                receipts += [(receipt.seq, receipt.new) for receipt in answer.receipts]
            await sending
        return receipts

    async def murder():
        await until(lambda: len(acknowledged) >= 1500, 120)
        await asyncio.to_thread(one.kill, "host")

    uploads = asyncio.gather(keyed(), keyless("a"), keyless("b"))
    await murder()
    _, a, b = await uploads
    assert not two.report()["standing_by"]
    found = await cluster.perceptions()
    assert [each.seq for each in found] == list(range(1, len(found) + 1))
    texts = [each.text for each in found]
    wanted = {f"{name} {n}" for name, count in (("keyed", 4000), ("a", 3000), ("b", 3000)) for n in range(count)}
    assert len(texts) == len(set(texts)) == 10_000
    assert set(texts) == wanted
    told = [receipt.seq for receipt in acknowledged] + [seq for seq, _ in (*a, *b)]
    assert sorted(told) == list(range(1, 10_001))
    assert all(new for _, new in (*a, *b))  # sent again or not: to the caller each is new
    by_seq = {each.seq: each for each in found}
    assert all(by_seq[receipt.seq].id == receipt.id for receipt in acknowledged)


async def test_a_front_that_is_stopped_answers_what_it_took_and_ends_streams(cluster):
    cluster.keeper("one")
    front = cluster.front("--http", "none")
    answered = []
    async with grpc.aio.insecure_channel(front.grpc) as channel:
        call = perception_pb2_grpc.PerceptionServiceStub(channel).PerceiveStream()

        async def send():
            with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                for n in range(100_000):
                    await call.write(pb.PerceiveStreamRequest(batch=n, perceptions=[perceived(f"{n}", source="test")]))

        sending = asyncio.create_task(send())
        ended = None
        try:
            async for answer in call:
                answered.append((answer.batch, answer.receipts[0].seq))
                if len(answered) == 200:
                    assert front.process.poll() is None
                    stopping = asyncio.create_task(asyncio.to_thread(front.stop))
        except grpc.aio.AioRpcError as error:
            ended = error
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    assert await stopping == 0
    assert ended is not None
    assert isinstance(translate(ended), Unavailable)  # by its code, or by words where it was just sending
    assert len(answered) >= 200
    found = {each.seq: each.text for each in await cluster.perceptions()}
    assert all(found[seq] == f"{batch}" for batch, seq in answered)
    assert len(found) == len(answered)  # and nothing was taken in that was not answered


async def test_it_never_stands_and_its_end_leaves_the_mind_alone(cluster):
    host = cluster.keeper("one")
    front = cluster.front()
    async with MindClient(front.grpc, retry_for=30) as client:
        await client.perceive([said("before")])
    front.process.kill()
    front.process.wait()
    another = cluster.front("--http", "none")
    async with MindClient(another.grpc, retry_for=30) as client:
        (receipt,) = await client.perceive([replace(said("after"), key="k")])
    assert receipt.seq == 2
    assert not host.report()["standing_by"]
