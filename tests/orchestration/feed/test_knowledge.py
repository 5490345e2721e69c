"""What is known, why, what is denied and what is right, over HTTP."""

from actors.effects import Commit
from actors.events import Marked, Perceived
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import CONTRADICTIONS, ENTITIES, FACTS, NAMES, PROGRESS, Progress
from actors.knowledge.settings import KnowledgeSettings
from environment.marks import MARKS
from environment.messages import NewPerception
from orchestration.schema.times import instant, rfc3339
from tests.environment.stores.making import NOON
from tests.orchestration.feed.test_reads import get

SAID = (
    ("Ana: I'm on call for press 4", 0.0),
    ("press 4 is in hall 2", 60.0),
    ("Bo: press 4 is in bay 3", 120.0),
    ("Bo takes over on call for press 4 from Ana", 7200.0),
)


async def living(feed):
    """The core as it is built from what the stores hold."""
    kept = feed.stores.collections
    facts, entities = await FACTS.all_of(kept), await ENTITIES.all_of(kept)
    names, denied = await NAMES.all_of(kept), await CONTRADICTIONS.all_of(kept)
    progress = await PROGRESS.get(kept, "progress") or Progress()
    return KnowledgeCore("knowledge", facts, entities, names, denied, progress, KnowledgeSettings())


async def told(feed, event):
    effects = (await living(feed)).handle(event, feed.now[0])
    await feed.stores.commit([effect.write for effect in effects if isinstance(effect, Commit)])


async def lived(feed):
    said = [NewPerception("chat", NOON + at, NOON, text=text, key=text) for text, at in SAID]
    await feed.stores.perceptions.append(said)
    await told(feed, Perceived(tuple(await feed.stores.perceptions.read(0, 10)), {}))
    feed.now[0] = NOON + 86_400


def values(facts, relation):
    return [fact["value"] for fact in facts if fact["relation"] == relation]


async def test_everything_of_an_entity_now_and_then(feed):
    await lived(feed)
    page = await get(feed, "/v1/know/the Press 4")
    assert (page["name"], values(page["facts"], "on call"), values(page["others"], "on call")) == (
        "press 4",
        ["Bo"],
        ["Ana"],
    )
    assert {one["name"] for one in page["neighbours"]} >= {"Ana", "Bo"}
    assert page["contradictions"][0]["values"] == ["hall 2", "bay 3"]
    before = await get(feed, "/v1/know/press 4", at=rfc3339(NOON + 3600))
    assert values(before["facts"], "on call") == ["Ana"]
    assert instant(before["others"][0]["since"]) == NOON + 7200
    nothing = await feed.client.get("/v1/know/press 5")
    assert nothing.status_code == 404


async def test_why_it_is_believed_down_to_what_was_said(feed):
    await lived(feed)
    beliefs = (await get(feed, "/v1/believe/press 4", relation="on call"))["beliefs"]
    assert [(one["fact"]["value"], one["evidence"][0]["text"]) for one in beliefs] == [
        ("Bo", "Bo takes over on call for press 4 from Ana"),
        ("Ana", "Ana: I'm on call for press 4"),
    ]
    assert beliefs[1]["fact"]["reason"].startswith("changed: p-")


async def test_an_operator_says_what_is_right_and_takes_it_back(feed):
    await lived(feed)
    assert len((await get(feed, "/v1/contradictions"))["contradictions"]) == 1
    said = {"entity": "press 4", "relation": "location", "value": "bay 3", "by": "ann"}
    answer = await feed.client.post("/v1/correct", json=said)
    assert answer.status_code == 200, answer.text
    mark = answer.json()
    assert (mark["kind"], mark["by"], mark["value"]) == ("correct", "ann", "bay 3")
    await told(feed, Marked(tuple((await MARKS.all_of(feed.stores.collections)).values())))
    page = await get(feed, "/v1/know/press 4")
    assert values(page["facts"], "location") == ["bay 3"]
    assert (await get(feed, "/v1/contradictions"))["contradictions"] == []
    (settled,) = (await get(feed, "/v1/contradictions", all=True))["contradictions"]
    assert settled["how"] == f"corrected: {mark['id']}"
    assert (await feed.client.post("/v1/marks/undo", json={"mark": mark["id"]})).status_code == 200
    await told(feed, Marked(tuple((await MARKS.all_of(feed.stores.collections)).values())))
    page = await get(feed, "/v1/know/press 4")
    assert sorted(values(page["facts"], "location")) == ["bay 3", "hall 2"]
    assert len((await get(feed, "/v1/contradictions"))["contradictions"]) == 1
    said["entity"] = "press 5"
    assert (await feed.client.post("/v1/correct", json=said)).status_code == 404
    assert (await feed.client.post("/v1/marks", json={"target": "1", "kind": "correct"})).status_code == 422
