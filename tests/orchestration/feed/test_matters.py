"""Matters over HTTP: listed from what changed since, and followed as server-sent events."""

import json
from dataclasses import replace

import msgspec

from actors.faculty import BuildContext
from actors.matters.faculty import FACULTY
from actors.matters.matter import LOOPS, MATTERS, Matter, MatterLine, MatterState, OpenLoop
from actors.matters.settings import MattersSettings
from actors.peers import PeerDirectory
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.settings import SubstrateSettings
from environment.collections import Document, WriteDocument
from environment.messages import PerceptionRef
from tests.environment.stores.making import NOON
from tests.orchestration.feed.test_reads import get

REF = PerceptionRef("p-1", NOON, "nginx")
LINES = [MatterLine(f"t-{n}", f"disk 7 is {80 + n} % full", REF, 0.5) for n in range(3)]
MATTER = Matter("m-1a", "disk 7", MatterState.GROWING, NOON, NOON, 0.8, LINES, 3, ["nginx"], [])
LOOP = OpenLoop("l-1", "could somebody look?", REF, NOON + 3600, asked=True, dated=False)


async def test_a_list_follows_what_changes_and_what_is_gone(feed):
    first = replace(LOOP, id="l-0", due=NOON + 9e4, dated=True)
    await feed.stores.commit([MATTERS.write("m-1a", MATTER), LOOPS.write("l-1", LOOP), LOOPS.write("l-0", first)])
    told = await get(feed, "/v1/matters")
    assert [one["id"] for one in told["loops"]] == ["l-0", "l-1"], "what has a time first"
    assert [one["dated"] for one in told["loops"]] == [True, False]
    over = replace(MATTER, state=MatterState.SETTLED, changed=NOON + 60)
    other = replace(MATTER, id="m-2b", changed=NOON + 9)
    await feed.stores.commit(
        [MATTERS.write("m-1a", over), MATTERS.write("m-2b", other, expires=feed.now[0] + 600), LOOPS.remove("l-1")]
    )
    told = await get(feed, "/v1/matters")
    assert [(one["id"], one["state"]) for one in told["matters"]] == [("m-2b", "growing"), ("m-1a", "settled")]
    assert [one["id"] for one in told["loops"]] == ["l-0"]
    assert (await get(feed, "/v1/matters/m-2"))["id"] == "m-2b"
    feed.now[0] += 601
    assert await feed.stores.collections.forget(feed.now[0])
    assert [one["id"] for one in (await get(feed, "/v1/matters"))["matters"]] == ["m-1a"]


async def test_changes_are_followed_from_a_mark_on(feed):
    await feed.stores.commit([MATTERS.write("m-1a", MATTER)])
    told = []
    headers = {"Last-Event-ID": "0"}
    async with feed.client.stream("GET", "/v1/matters/events", headers=headers) as answer:
        assert answer.status_code == 200
        events = answer.aiter_lines()
        async for line in events:
            if not line.startswith("data: "):
                continue
            told.append(json.loads(line.removeprefix("data: ")))
            if len(told) == 1:
                settled = replace(MATTER, state=MatterState.SETTLED)
                await feed.stores.commit([LOOPS.write("l-1", LOOP), MATTERS.write("m-1a", settled)])
            if len(told) == 3:
                await feed.stores.commit([LOOPS.remove("l-1")])
            if len(told) == 4:
                break
    assert [(one["kind"], one["id"]) for one in told] == [
        ("matter", "m-1a"),
        ("loop", "l-1"),
        ("matter", "m-1a"),
        ("closed", "l-1"),
    ]
    assert [line["text"] for line in told[0]["matter"]["lines"]] == [line.text for line in LINES[-2:]]
    assert told[2]["matter"]["state"] == "settled"


async def test_what_another_version_wrote_in_a_form_of_its_own_is_left_out(feed):
    """The severity of a matter was a number once: its follower and its readers live on, and one is told."""
    said = msgspec.msgpack.decode(MATTERS.write("m-1a", MATTER).document.body)
    before = Document(MATTERS.name, "m-0", msgspec.msgpack.encode(said | {"severity": 0.7}))
    await feed.stores.commit([WriteDocument(before), MATTERS.write("m-1a", MATTER)])
    assert [one["id"] for one in (await get(feed, "/v1/matters"))["matters"]] == ["m-1a"]
    async with feed.client.stream("GET", "/v1/matters/events", headers={"Last-Event-ID": "0"}) as answer:
        events = (json.loads(line[6:]) async for line in answer.aiter_lines() if line.startswith("data: "))
        told = [await anext(events), await anext(events)]
    assert [(one["kind"], one["id"]) for one in told] == [("closed", "m-0"), ("matter", "m-1a")]
    notes = []
    sections, alone = (MattersSettings(), SubstrateSettings()), PeerDirectory()
    given = WordLlamaEmbedder(), feed.stores, notes.append, 0, alone, lambda _: ()
    core = await FACULTY.build(BuildContext("matters", (), (), sections, *given))
    assert core.describe().figures["matters_open"] == 1
    assert [(note.event, note.fields["count"]) for note in notes] == [("matters_not_read", 1)]
