"""Perceptions from a front to a leader: a real gateway over real stores, and what may come between."""

import asyncio

import grpc
import pytest

from environment.errors import StoreFull
from environment.messages import Image, NewPerception
from orchestration.access.errors import Forbidden
from orchestration.front.asking import forwarded
from orchestration.front.errors import LeaderFailed, NoLeader
from orchestration.gateway.errors import OverQuota, TooLarge
from orchestration.gateway.settings import IntakeSettings
from orchestration.pb.submind.v1.nodes_pb2 import ListNodesRequest
from orchestration.schema.errors import InvalidRequest
from tests.environment.stores.making import NOON
from tests.orchestration.front.relaying import relaying, said
from tests.orchestration.gateway.conftest import serve  # noqa: F401 - a fixture
from tests.orchestration.membership.cable import Cable
from tests.orchestration.until import until


async def test_the_leader_gives_trust_and_receiving_time_and_the_rest_arrives_as_it_was(serve):  # noqa: F811
    async with serve(intake=IntakeSettings(trust={"ops": 0.9})) as leader, relaying(leader.target) as way:
        leader.now[0] = NOON + 5
        batch = [
            NewPerception("ops", NOON - 60, NOON, text="a", labels={"room": "2"}, trust=0.1),
            NewPerception("probe", NOON, NOON, telemetry={"celsius": 4.5}, key="t"),
            NewPerception("cam", NOON, NOON, image=Image(b"\x89PNG", "image/png")),
        ]
        await way.intake.submit(batch)
        text, telemetry, image = await leader.stores.perceptions.read(0, 9)
        assert (text.time, text.received, text.trust, dict(text.labels)) == (NOON - 60, NOON + 5, 0.9, {"room": "2"})
        assert (telemetry.telemetry, telemetry.key, telemetry.trust) == ({"celsius": 4.5}, "t", 0.4)
        assert image.image == Image(b"\x89PNG", "image/png")


async def test_equal_perceptions_without_a_key_are_two_and_nobody_can_take_the_name_of_the_next(serve):  # noqa: F811
    async with serve() as leader, relaying(leader.target) as way:
        receipts = [*await way.tell("same", "same"), *await way.tell("same")]
        assert [(each.seq, each.new) for each in receipts] == [(1, True), (2, True), (3, True)]
        keys = [each.key for each in await leader.stores.perceptions.read(0, 9)]
        assert len(set(keys)) == 3
        assert len({key.partition(".")[0] for key in keys}) == 2  # a token for each batch


async def test_what_was_taken_in_before_the_answer_was_lost_is_there_once_and_new(serve):  # noqa: F811
    async with serve() as leader, Cable(leader.target) as cable:
        log = leader.log
        async with relaying(cable.endpoint, hold=20.0) as way:
            await way.tell("before")
            log.go.clear()
            keyless = asyncio.create_task(way.tell("a", "b"))
            await asyncio.sleep(0)
            given = way.intake.submit([said("c", "mine"), said("d")])
            await until(lambda: log.made == 2)  # durable, and nobody knows
            cable.pull()
            log.go.set()
            await until(lambda: way.relay.why)
            cable.plug()
            assert [(each.seq, each.new) for each in await keyless] == [(2, True), (3, True)]
            confirmed = list(await given)
            assert {each.seq for each in confirmed} == {4, 5}
            assert confirmed[1].new
            assert way.relay.figures()["front_batches_resent_total"] >= 1
        assert await leader.texts() == ["before", "a", "b", "c", "d"]


async def test_many_callers_over_a_cable_that_is_pulled_again_and_again(serve):  # noqa: F811
    async with serve() as leader, Cable(leader.target) as cable, relaying(cable.endpoint, hold=30.0) as way:

        async def caller(name):
            return [receipt for n in range(40) for receipt in await way.tell(f"{name} {n}", f"{name} {n}'")]

        async def mischief():
            while True:
                await asyncio.sleep(0.05)
                cable.pull()
                cable.plug()

        pulling = asyncio.create_task(mischief())
        told = await asyncio.gather(*(caller(f"caller {n}") for n in range(8)))
        pulling.cancel()
        receipts = [receipt for each in told for receipt in each]
        assert all(receipt.new for receipt in receipts)
        assert sorted(receipt.seq for receipt in receipts) == list(range(1, 641))
        texts = await leader.texts()
        assert len(texts) == len(set(texts)) == 640
        for n in range(8):  # and each caller's in its order
            mine = [text for text in texts if text.startswith(f"caller {n} ")]
            assert mine == [text for m in range(40) for text in (f"caller {n} {m}", f"caller {n} {m}'")]


async def test_what_the_leader_alone_refuses_is_refused_and_its_neighbours_are_not(serve):  # noqa: F811
    async with serve(intake=IntakeSettings(text_bytes=10)) as leader, relaying(leader.target) as way:
        good, bad, also = await asyncio.gather(
            way.tell("short"), way.tell("short", "much too long for it"), way.tell("brief"), return_exceptions=True
        )
        assert (good[0].new, also[0].new) == (True, True)
        assert isinstance(bad, InvalidRequest)
        assert bad.field == "perceptions[1].text"
        assert "10 allowed" in bad.why
        assert await leader.texts() == ["short", "brief"]


async def test_without_a_leader_callers_are_held_for_a_while_and_then_told(serve):  # noqa: F811
    async with relaying("", hold=0.3) as way:
        began = asyncio.get_running_loop().time()
        with pytest.raises(NoLeader, match="send it again"):
            await way.tell("nobody")
        assert asyncio.get_running_loop().time() - began >= 0.3
    async with relaying("", hold=20.0) as way:
        held = asyncio.create_task(way.tell("held"))
        await asyncio.sleep(0.1)
        async with serve() as leader:
            way.elect(leader.target)
            assert (await held)[0].new  # the leader came in time
            assert await leader.texts() == ["held"]


async def test_it_goes_to_whoever_leads_next(serve, tmp_path):  # noqa: F811
    from tests.orchestration.gateway.conftest import serving

    async with serve() as one, serving(tmp_path / "two") as two, relaying("", hold=10.0) as way:
        way.elect(one.target)
        await way.tell("to one")
        way.elect(two.target)
        await until(lambda: way.leaders.address == two.target)
        await way.tell("to two")
        assert (await one.texts(), await two.texts()) == (["to one"], ["to two"])
        way.elect("")
        await until(lambda: not way.leaders.address)
        held = asyncio.create_task(way.tell("to one again"))
        await asyncio.sleep(0.05)
        way.elect(one.target)
        await held
        assert await one.texts() == ["to one", "to one again"]


async def test_a_leader_that_answers_nothing_is_hung_up_on(serve):  # noqa: F811
    async with serve() as leader:
        async with relaying(leader.target, hold=1.5, answer_within=1.5) as way:
            leader.log.go.clear()
            with pytest.raises(NoLeader, match="answered nothing for"):
                await way.tell("kept, unanswered")
            leader.log.go.set()
            await way.tell("later")
        assert await leader.texts() == ["kept, unanswered", "later"]


@pytest.mark.parametrize(
    ("failure", "kind", "told"),
    [
        (OverQuota("gateway.intake.per_second", 3.0, 1.5), OverQuota, "allows 7 on average: try again in 1.5 s"),
        (StoreFull("the disk is full", 2.0), StoreFull, "the disk is full"),
    ],
)
async def test_what_nobody_may_do_now_is_told_at_once(serve, failure, kind, told):  # noqa: F811
    async with serve() as leader:
        async with relaying(leader.target, hold=30.0) as way:
            leader.log.fails = [failure]
            with pytest.raises(kind, match=told) as refused:
                await way.tell("too much")
            assert refused.value.retry_after == failure.retry_after
            await way.tell("later")
        assert await leader.texts() == ["later"]


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        (RuntimeError("a fault"), LeaderFailed, "INTERNAL"),
        (Forbidden("front", "operate", "speaking as 'me'"), Forbidden, "the scope `operate`, which 'the token of this"),
    ],
)
async def test_a_batch_that_the_leader_fails_at_does_not_hold_up_the_others(serve, fault, kind, told):  # noqa: F811
    async with serve() as leader:
        async with relaying(leader.target, hold=30.0) as way:
            leader.log.fails = [fault]
            with pytest.raises(kind, match=told):
                await way.tell("unlucky")
            assert (await way.tell("lucky"))[0].new
        assert await leader.texts() == ["lucky"]


@pytest.mark.parametrize("failure", [OverQuota("gateway.intake.per_second", 3.0, 1.5), StoreFull("no room", 2.0)])
async def test_who_was_taken_in_is_told_so_whatever_became_of_a_neighbour(serve, failure):  # noqa: F811
    narrow = IntakeSettings(commit=1)
    async with serve(intake=narrow) as leader:
        async with relaying(leader.target, hold=30.0) as way:
            leader.log.fails = [None, failure]
            one, two = await asyncio.gather(way.tell("first"), way.tell("second"), return_exceptions=True)
            assert [(each.seq, each.new) for each in one] == [(1, True)]
            assert isinstance(two, type(failure))
        assert await leader.texts() == ["first"]


async def test_nothing_is_taken_in_behind_what_is_to_be_sent_again(serve):  # noqa: F811
    async with relaying("", hold=0.4) as way:
        first = asyncio.create_task(way.tell("first"))
        await asyncio.sleep(0.3)
        second = asyncio.create_task(way.tell("second"))
        failed = await asyncio.gather(first, second, return_exceptions=True)
        assert [type(each) for each in failed] == [NoLeader, NoLeader]
        async with serve() as leader:
            way.elect(leader.target)
            await way.tell("third")
            assert await leader.texts() == ["third"]


async def test_what_the_leader_would_find_too_large_is_not_sent(serve):  # noqa: F811
    async with serve(message_bytes=64 * 1024) as leader, relaying(leader.target, message_bytes=64 * 1024) as way:
        with pytest.raises(TooLarge, match=r"gateway\.message_bytes"):
            await way.tell("x" * 66_000)
        await way.tell("y" * 65_000)
        assert [len(text) for text in await leader.texts()] == [65_000]


async def test_whoever_is_no_mind_is_named():
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with relaying(f"127.0.0.1:{port}", hold=1.5) as way:
            with pytest.raises(NoLeader, match="is it the gRPC address of the mind's host"):
                await way.tell("to a stranger")
    finally:
        await server.stop(0)


async def test_a_host_that_stands_by_takes_nothing_and_callers_are_told_why(serve):  # noqa: F811
    from orchestration.host.appenders import HostAppender

    async with serve(log=lambda inner: HostAppender(inner, 0.1)) as leader, relaying(leader.target, hold=1.5) as way:
        with pytest.raises(NoLeader, match="stands by"):
            await way.tell("to the wrong one")
        assert way.relay.figures()["front_given_up_total"] == 1
        assert await leader.texts() == []


async def test_what_a_leader_of_an_older_version_does_not_know_is_asked_of_it_again_later(serve):  # noqa: F811
    async with serve() as leader, relaying(leader.target) as way:
        nodes = forwarded(way.upstream, "submind.v1.NodeService")  # which this leader does not offer
        with pytest.raises(NoLeader, match="does not know ListNodes") as told:
            await nodes["/submind.v1.NodeService/ListNodes"](ListNodesRequest())
        assert told.value.retry_after == 5.0
