"""Marks on entries and matters over HTTP: what is refused and why, what stands, and what it holds against."""

import pytest

from actors.attention.taste import template_of
from actors.matters.matter import MATTERS, Matter, MatterLine, MatterState
from environment.marks import MARKS, FeedbackMark
from environment.messages import PerceptionRef, ThoughtKind
from environment.ports import WriteEntries, WriteTrace
from environment.stores.sqlite import open_stores
from orchestration.schema.times import instant
from orchestration.view.settings import ViewSettings
from tests.environment.stores.making import NOON, entry
from tests.orchestration.feed.test_reads import get, said

REF, OTHER = PerceptionRef("p-1", NOON, "nginx"), PerceptionRef("p-2", NOON, "chat")


async def lived(feed):
    """Two entries, the first of a matter with two lines."""
    base = said(1, "disk 7 is 81 % full", kind=ThoughtKind.PERCEPT, perceptions=(REF,), parents=(REF.id,))
    lines = [MatterLine("t-1", "disk 7", REF, 0.5), MatterLine("t-2", "lunch?", OTHER, 0.2, link="names 7")]
    matter = Matter("m-1a", "disk 7", MatterState.GROWING, NOON, NOON, 0.8, lines, 2, ["nginx", "chat"], [], [1])
    changes = {"focus": base.id, "lineage": (base.id,), "perceptions": (REF, OTHER)}
    entries = WriteEntries((entry(1, **changes), entry(2, lineage=(base.id,))))
    await feed.stores.commit([WriteTrace(base), entries, MATTERS.write(matter.id, matter)])
    return base


async def mark(feed, status=200, path="/v1/marks", **said):
    answer = await feed.client.post(path, json=said)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_a_mark_stands_until_it_is_undone_or_over_and_survives(feed, tmp_path):
    base = await lived(feed)
    muted = await mark(feed, target="1", kind="mute", until="2h", by="ann")
    assert (muted["of"], muted["value"], muted["by"], muted["text"]) == ("source", "nginx", "ann", entry(1).text)
    assert instant(muted["until"]) == feed.now[0] + 7200
    form = await mark(feed, target="#1", kind="mute", of="template", until="3 days")
    assert form["value"] == template_of(base.thought.text)
    await mark(feed, target="m-1", kind="mute", of="matter", until="1h")
    wrong = await mark(feed, target="1", kind="wrong")
    feed.now[0] += 1
    useful = await mark(feed, target="1", kind="useful")
    assert await mark(feed, target="1", kind="useful") == useful, "said again it is one"
    told = (await get(feed, "/v1/marks"))["marks"]
    assert len(told) == 5
    assert told[0]["kind"] == "useful"
    (kept,) = [each for each in await kept_marks(tmp_path) if each.kind == "wrong"]
    assert (kept.id, kept.traces, kept.sources) == (wrong["id"], ("t-2",), ("nginx", "chat"))
    assert (await mark(feed, path="/v1/marks/undo", mark="1"))["kind"] == "useful", "the latest one"
    assert (await mark(feed, path="/v1/marks/undo", mark=wrong["id"]))["id"] == wrong["id"]
    feed.now[0] += 4000
    assert {each["of"] for each in (await get(feed, "/v1/marks"))["marks"]} == {"source", "template"}
    await mark(feed, 404, "/v1/marks/undo", mark="m-1")


async def kept_marks(directory) -> list[FeedbackMark]:
    """As another process finds them."""
    stores = await open_stores(directory, "alpha")
    try:
        return list((await MARKS.all_of(stores.collections)).values())
    finally:
        await stores.close()


async def test_what_is_marked_as_settled_is_at_once_and_open_again_when_that_is_undone(feed):
    await lived(feed)
    await mark(feed, target="1", kind="settled")
    assert (await get(feed, "/v1/matters/m-1a"))["state"] == "settled"
    assert (await get(feed, "/v1/matters", open=True))["matters"] == []
    await mark(feed, path="/v1/marks/undo", mark="1")
    assert (await get(feed, "/v1/matters/m-1a"))["state"] == "growing"


WRONG = [
    ({"target": "1"}, "kind"),
    ({"kind": "useful"}, "target"),
    ({"target": "1", "kind": "loud"}, "kind"),
    ({"target": "1", "kind": "mute"}, "until"),
    ({"target": "1", "kind": "mute", "until": "soonish"}, "until"),
    ({"target": "1", "kind": "remind", "until": "2001-01-01T00:00:00Z"}, "until"),
    ({"target": "1", "kind": "mute", "until": "900 weeks"}, "until"),
    ({"target": "1", "kind": "useful", "until": "2h"}, "until"),
    ({"target": "1", "kind": "useful", "of": "source"}, "of"),
    ({"target": "m-1", "kind": "mute", "until": "2h"}, "of"),
    ({"target": "m-1", "kind": "mute", "of": "template", "until": "2h"}, "of"),
    ({"target": "m-1", "kind": "wrong"}, "line"),
    ({"target": "2", "kind": "settled"}, "target"),
    ({"target": "2", "kind": "mute", "of": "matter", "until": "2h"}, "target"),
]


async def test_a_mark_that_cannot_be_made_says_why(feed):
    await lived(feed)
    for asked, field in WRONG:
        problem = await mark(feed, 422, **asked)
        assert [each["field"] for each in problem["errors"]] == [field], asked
        assert problem["errors"][0]["why"]
    for target in ("9", "x", "m-9", "-1", "9" * 40):
        await mark(feed, 404, target=target, kind="useful")
    assert (await get(feed, "/v1/marks"))["marks"] == []


@pytest.mark.parametrize("most", [3])
async def test_so_many_marks_are_kept_and_the_oldest_go(serve, most):
    async with serve(view=ViewSettings(marks=most)) as feed:
        await lived(feed)
        for kind in ("useful", "not_useful", "settled", "wrong"):
            feed.now[0] += 1
            await mark(feed, target="1", kind=kind)
        told = (await get(feed, "/v1/marks"))["marks"]
        assert [each["kind"] for each in told] == ["wrong", "settled", "not_useful"]
