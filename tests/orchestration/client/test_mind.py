"""The client against a real server: what it gives back, what it repeats, what it raises."""

import asyncio
import random
from dataclasses import replace

import pytest

from environment.lineage import NodeKind
from environment.messages import EntryKind, Image, SubmindState
from environment.ports import WriteConnections, WriteReport, WriteTrace
from environment.search import SearchFilters
from orchestration.client import Busy, MindClient, Rejected, Unavailable
from orchestration.gateway.settings import IntakeSettings
from orchestration.pb.submind.v1 import mind_pb2
from orchestration.view.changes import ChangeFilter
from orchestration.view.status import MindState
from orchestration.view.tail import EntryFilter
from tests.environment.stores.making import NOON, change, connection, entry, name, perception, report, revision, trace
from tests.orchestration.client.conftest import lines
from tests.orchestration.until import until


async def test_every_modality_arrives_as_it_was(gateway, mind):
    sent = [
        perception(1, labels={"level": "warn"}, key="mine", time=NOON + 0.25),
        perception(2, telemetry={"x": 1.5}, time=NOON),
        perception(3, image=Image(b"\x89PNG", "image/png"), time=NOON),
    ]
    receipts = await mind.perceive(sent)
    kept = await gateway.stores.perceptions.read(0, 10)
    assert [(one.id, one.seq) for one in kept] == [(receipt.id, receipt.seq) for receipt in receipts]
    assert all(receipt.new for receipt in receipts)
    for one, was in zip(kept, sent, strict=True):
        assert (one.source, one.time, one.text, one.telemetry, one.image, one.labels) == (
            was.source,
            was.time,
            was.text,
            was.telemetry,
            was.image,
            was.labels,
        )
    assert {one.received for one in kept} == {NOON}
    assert kept[0].key == "mine"
    assert len({one.key for one in kept}) == 3
    assert [receipt.new for receipt in await mind.perceive(sent)] == [False, True, True]


async def test_nobody_there(free_port):
    async with MindClient(f"127.0.0.1:{free_port}", retry_for=0.2) as mind:
        for question in (
            mind.status(),
            mind.perceive(lines(1)),
            anext(mind.watch(1)),
            anext(mind.perceive_many(lines(1))),
        ):
            with pytest.raises(Unavailable):
                await question


async def test_too_much_at_once_is_told_apart_from_busy(serve):
    async with (
        serve(message_bytes=65536, intake=IntakeSettings(pending=1)) as gateway,
        MindClient(gateway.target, retry_for=0.1) as mind,
    ):
        with pytest.raises(Rejected, match="message_bytes"):
            await mind.perceive([perception(1, text="x" * 70_000)])
        held = asyncio.Event()
        append = gateway.stores.perceptions.append_batches

        async def slowly(batches):
            await held.wait()
            return await append(batches)

        prepare = gateway.stores.perceptions.prepare
        gateway.intake._log = type(
            "Slow", (), {"ahead": 1, "prepare": staticmethod(prepare), "append_batches": staticmethod(slowly)}
        )()
        waiting = asyncio.ensure_future(mind.perceive(lines(1)))
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 1)
        with pytest.raises(Busy) as busy:
            await mind.perceive(lines(1, first=1))
        assert busy.value.retry_after == 0.25
        held.set()
        await waiting


async def test_entries_come_back_as_they_were(gateway, mind):
    await gateway.think(1, 3)
    await gateway.think(4, kind=EntryKind.SEGUE, focus="")
    stream = mind.watch(1)
    assert [await anext(stream) for _ in range(4)] == [
        *(entry(seq) for seq in (1, 2, 3)),
        replace(entry(4), kind=EntryKind.SEGUE, focus=""),
    ]
    await stream.aclose()
    chosen = mind.watch(1, EntryFilter(kinds=frozenset({EntryKind.SEGUE})))
    assert (await anext(chosen)).seq == 4
    await chosen.aclose()


async def test_watching_goes_on_through_restarts_of_the_server(serve, free_port):
    seen = []

    async def read(mind):
        async for one in mind.watch():
            seen.append(one.seq)  # noqa: PERF401 - watched from outside

    listen = f"127.0.0.1:{free_port}"
    async with MindClient(listen, retry_for=5.0, chance=random.Random(3)) as mind:
        reader = None
        for life in range(3):
            async with serve(listen=listen, grace=0.1) as gateway:
                if reader is None:
                    await mind.status()
                    reader = asyncio.ensure_future(read(mind))
                    await until(lambda tail=gateway.tail: tail.waiting == 1)
                await gateway.think(life * 4 + 1, 2)
                await until(lambda upto=life * 4 + 2: seen and seen[-1] == upto)
                await gateway.server.stop()
                await gateway.think(life * 4 + 3, 2)  # while nobody can see it
        assert seen == list(range(1, 11))
        reader.cancel()


async def test_reads_come_back_as_messages(gateway, mind):
    one = trace(1)
    two = revision(one, "people", "built on")
    told = replace(report("causes"), at=NOON)
    await gateway.stores.commit(
        [WriteTrace(one), WriteReport(told), WriteConnections("causes", (connection(),), (), ())]
    )
    await gateway.stores.commit([WriteTrace(two)])
    await gateway.think(1)
    found = await mind.trace(one.id)
    assert [(back.version, back.level, back.authors, back.conscious) for back in found] == [
        (was.version, was.level, was.authors, was.conscious) for was in (one, two)
    ]
    assert found[1].live
    assert found[1].thought.salience == pytest.approx(two.thought.salience)  # it travelled as a chance
    kept = replace(two.thought, vector=found[1].thought.vector, salience=found[1].thought.salience)
    assert found[1].thought == kept
    assert await mind.subminds() == [told]
    assert await mind.connections("causes") == [connection()]
    assert await mind.connections("x") == []
    explanation = await mind.explain(1)
    assert (explanation.kind, explanation.id) == (NodeKind.ENTRY, name("c", 1))
    assert explanation == await gateway.view.explain("1")
    status = await mind.status()
    assert (status.mind, status.state, status.stream.head) == ("alpha", MindState.RUNNING, 1)
    assert status.subminds[SubmindState.RUNNING] == 1
    assert await mind.search("thought", 5, SearchFilters(author="nobody", since=NOON, until=NOON + 9)) == []


async def test_what_happens_to_connections_is_followed(gateway, mind):
    async def happen(*numbers, owner="causes"):
        await gateway.stores.commit([WriteConnections(owner, (), (), tuple(change(n, owner) for n in numbers))])

    await happen(*range(7))
    await happen(7, owner="people")
    page = await mind.changes(limit=3)
    assert list(page.changes) == [change(7, "people"), change(6), change(5)]
    with pytest.raises(Rejected, match="before"):
        await mind.changes(before="yesterday")
    following = mind.watch_changes(ChangeFilter(owner="causes"), page.changes[1].mark)
    await happen(8, 9)
    told = [await anext(following) for _ in range(2)]
    await happen(10)
    assert [*told, await anext(following)] == [change(8), change(9), change(10)]
    await following.aclose()


async def test_lists_longer_than_a_page_are_read_to_their_end(gateway, mind):
    gateway.view.settings = gateway.view.settings.model_copy(update={"page": 3})
    told = [replace(report(f"scout-{number}"), at=NOON) for number in range(8)]
    held = [connection(owner=one.name, weight=0.1 * number) for number, one in enumerate(told, 1)]
    await gateway.stores.commit([WriteReport(one) for one in told])
    for one in held:
        await gateway.stores.commit([WriteConnections(one.owner, (one,), (), ())])
    assert await mind.subminds() == told
    assert await mind.connections() == held[::-1], "strongest first, whichever page they were on"
    request = mind_pb2.ListSubmindsRequest(page_token="none of ours")  # noqa: S106 - where a page begins
    with pytest.raises(Rejected, match="page_token"):
        await mind.ask("MindService/ListSubminds", request)
