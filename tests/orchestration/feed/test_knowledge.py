"""What is known, why, what is denied and what is right, over HTTP."""

from actors.effects import Commit
from actors.events import Marked, Perceived
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import CONTRADICTIONS, ENTITIES, FACTS, NAMES, PROGRESS, Progress
from actors.knowledge.settings import KnowledgeSettings
from actors.matters.matter import LOOPS, MATTERS, Matter, MatterLine, MatterState, OpenLoop
from environment.marks import MARKS
from environment.messages import NewPerception, PerceptionRef
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
    assert {one["kind"] for one in page["neighbours"]} == {"on call"}, "what a relation says is not said by with"
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


async def test_entities_are_found_by_words_beginnings_and_age(feed):
    await lived(feed)

    async def names(text, **more):
        return [one["name"] for one in (await get(feed, "/v1/entities", q=text, **more))["entities"]]

    assert await names("is Ana still on call for the Press 4?") == ["press 4", "Ana"]
    assert await names("pre") == ["press 4"]
    assert await names("nobody of that name") == []
    assert sorted(await names("")) == ["Ana", "Bo", "press 4"]
    assert len(await names("", limit=2)) == 2
    assert (await feed.client.get("/v1/entities", params={"limit": 1001})).status_code == 422


async def test_the_neighbourhood_is_bounded_has_each_edge_once_and_goes_along_the_strongest(feed):
    said = [NewPerception("chat", NOON, NOON, text="the flood causes the outage", key="flood")]
    said += [NewPerception("chat", NOON + n, NOON, text=f"Ana is on call for press {n}", key=f"{n}") for n in range(9)]
    said += [NewPerception("chat", NOON + 20, NOON, text="Bo is responsible for press 3", key="bo")] * 2
    await feed.stores.perceptions.append(said)
    await told(feed, Perceived(tuple(await feed.stores.perceptions.read(0, 20)), {}))
    whole = await get(feed, "/v1/neighbourhood/bo")
    called = {one["id"]: one["name"] for one in whole["entities"]}
    assert list(called.values())[:3] == ["Bo", "press 3", "Ana"]
    assert len(called) == 11
    pairs = [frozenset((edge["one"], edge["other"])) for edge in whole["edges"]]
    assert len(pairs) == len(set(pairs)) == 10
    assert {edge["kind"] for edge in whole["edges"]} == {"on call", "responsible"}
    assert all(0 < edge["strength"] <= 1 and edge["evidence"]["source"] == "chat" for edge in whole["edges"])
    few = await get(feed, "/v1/neighbourhood/Bo", limit=3)
    assert [one["name"] for one in few["entities"]] == ["Bo", "press 3", "Ana"]
    assert len(few["edges"]) == 2
    (cause,) = (await get(feed, "/v1/neighbourhood/outage"))["edges"]
    flood = await get(feed, "/v1/know/flood")
    assert (cause["kind"], flood["neighbours"][0]["name"]) == ("causes", "outage")
    assert cause["other"] == next(iter((await get(feed, "/v1/neighbourhood/outage"))["entities"]))["id"]
    assert (await feed.client.get("/v1/neighbourhood/press 99")).status_code == 404
    assert (await feed.client.get("/v1/neighbourhood/bo", params={"limit": 301})).status_code == 422


async def test_a_page_tells_what_is_owed_both_ways_and_what_is_going_on(feed):
    await lived(feed)

    def loop(key, text, source, *, asked):
        return OpenLoop(key, text, PerceptionRef("p-1", NOON, source), NOON + 9e5, asked, terms=["ana", "press 4"])

    loops = [
        loop("l-1", "Ana: i'll grease press 4", "chat", asked=False),
        loop("l-2", "Ana: can somebody look at press 4?", "chat", asked=True),
        loop("l-3", "@ana, the key please", "Bo", asked=True),
        loop("l-4", "i'll bring Ana the key", "Bo", asked=False),
    ]
    line = MatterLine("t-1", "it clicks", PerceptionRef("p-1", NOON, "chat"), 0.7)
    matters = [
        Matter(key, key, MatterState.NEW, NOON, NOON, 0.7, [line], 1, sources, terms)
        for key, sources, terms in (("m-1", ["chat"], ["Press 4"]), ("m-2", ["ana"], ["lag"]), ("m-3", ["bo"], ["lag"]))
    ]
    await feed.stores.commit(
        [*(LOOPS.write(one.id, one) for one in loops), *(MATTERS.write(one.id, one) for one in matters)]
    )
    page = await get(feed, "/v1/know/ana")
    assert [one["id"] for one in page["owes"]] == ["l-1", "l-3"]
    assert [one["id"] for one in page["owed"]] == ["l-2", "l-4"]
    assert [one["id"] for one in page["matters"]] == ["m-2"]
    assert [(one["subject"], one["relation"]) for one in page["elsewhere"]] == [("press 4", "on call")]
    assert page["elsewhere"][0]["until"]
    bo = await get(feed, "/v1/know/bo")
    assert [(one["value"], one["until"]) for one in bo["elsewhere"]] == [("Bo", None)]
    press = await get(feed, "/v1/know/press 4")
    assert (press["owes"], len(press["owed"])) == ([], 4), "what does not speak owes nothing"
    assert [one["id"] for one in press["matters"]] == ["m-1"]
