"""The mind's state as JSON, from real stores."""

import asyncio
import json
from dataclasses import replace

from actors.matters.matter import LOOPS, MATTERS, Matter, MatterLine, MatterState, OpenLoop
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.errors import SubstrateUnavailable
from environment.errors import StoreUnavailable
from environment.messages import Level, PerceptionRef
from environment.ports import WriteEntries
from environment.severity import Severity
from orchestration.schema.times import rfc3339
from orchestration.view.settings import ViewSettings
from tests.environment.stores.making import NOON, entry, perception, trace

EMBEDDER = WordLlamaEmbedder()


def said(number, text, value=0.8, **changes):
    made = trace(number)
    thought = replace(made.thought, text=text, vector=EMBEDDER.embed_now([text])[0], **changes)
    return replace(made, thought=thought, level=Level(value, NOON, 3600.0), live=True, conscious=None)


async def get(feed, path, status=200, **params):
    query = {name.rstrip("_"): value for name, value in params.items()}
    answer = await feed.client.get(path, params=query or None)
    assert answer.status_code == status, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


async def test_the_stream_by_pages(feed):
    await feed.stores.commit([WriteEntries(tuple(entry(n) for n in range(1, 251)))])
    newest = await get(feed, "/v1/stream")
    assert [each["seq"] for each in newest["entries"]] == list(range(151, 251))
    assert newest["head"] == 250
    seen, after = [], 1
    while page := (await get(feed, "/v1/stream", from_=after, limit=37))["entries"]:
        seen += [each["seq"] for each in page]
        after = seen[-1] + 1
    assert seen == list(range(1, 251))


async def test_an_empty_mind_has_empty_answers(feed):
    assert await get(feed, "/v1/stream") == {"entries": [], "head": 0}
    assert await get(feed, "/v1/traces") == {"traces": []}
    assert await get(feed, "/v1/search", q="pump") == {"hits": []}
    assert await get(feed, "/v1/connections") == {"connections": [], "next_page_token": "", "total": None}
    assert await get(feed, "/v1/connections/history") == {"changes": [], "older": ""}


async def test_what_is_away_is_said_with_when_to_come_back(feed, monkeypatch):
    async def away(*_):
        raise SubstrateUnavailable("embedding server: refused", 7.0)

    async def locked(*_):
        raise StoreUnavailable("perceptions.db is busy", 2.0)

    await feed.stores.perceptions.append([perception(1, text="the boiler hums")])
    monkeypatch.setattr(WordLlamaEmbedder, "embed", away)
    problem = await get(feed, "/v1/search", 503, q="boiler")
    assert (problem["type"], problem["retry_after"]) == ("urn:submind:problem:substrate-unavailable", 7.0)
    assert len((await get(feed, "/v1/recall", q="boiler"))["episodes"]) == 1
    monkeypatch.setattr(feed.stores.perceptions, "head", locked)
    problem = await get(feed, "/v1/recall", 503, q="boiler")
    assert (problem["type"], problem["detail"]) == ("urn:submind:problem:store-unavailable", "perceptions.db is busy")


ABSENT = ["/v1/explain/9", "/v1/explain/t-00000000000000000000", "/v1/explain/x", "/v1/traces/t-0"]


async def test_what_is_not_there_is_not_found(feed):
    for path in ABSENT:
        problem = await get(feed, path, 404)
        assert problem["status"] == 404
        assert problem["type"] == "urn:submind:problem:unknown-id"
        assert path.rpartition("/")[2] in problem["detail"]


async def test_a_question_is_answered_from_what_is_kept_and_keeps_its_subject(feed):
    texts = ["the pump in hall 3 leaks", "Ada: I fixed the pump with a new seal at 11:40"]
    await feed.stores.perceptions.append([perception(n, text=text) for n, text in enumerate(texts)])

    async def ask(**asked):
        told = await feed.client.post("/v1/ask", json=asked)
        assert told.status_code == 200
        return told.json()

    told = await ask(question="who fixed the pump?")
    assert (told["known"], told["state"]) == (True, "running")
    assert "Ada" in told["text"]
    assert told["parts"][0]["perception"]["source"] == "ops"
    assert not (await ask(question="and when?"))["known"]
    assert "11:40" in (await ask(question="and when?", earlier=["who fixed the pump?"]))["text"]
    assert not (await ask(question="who fixed the boiler?"))["known"]
    await feed.stores.perceptions.append([perception(7, text="Ben: I fixed the boiler")])
    assert "Ben" in (await ask(question="who fixed the boiler?"))["text"]
    head = await feed.stores.perceptions.head()
    await feed.stores.perceptions.forget(NOON * 2, head)
    assert not (await ask(question="who fixed the boiler?"))["known"]
    assert (await feed.client.post("/v1/ask", json={"question": ""})).status_code == 422


async def test_an_answer_that_comes_in_parts_is_told_as_events_or_as_what_there_is_soon(serve):
    waits = [0.0]

    async def words(question, found):
        await asyncio.sleep(waits[0])
        return replace(found, text=f"{question} Ada.", worded_by="small")

    async with serve(words=words) as feed:
        await feed.stores.perceptions.append([perception(1, text="Ada: I fixed the pump")])
        asked = {"json": {"question": "Who fixed the pump?"}}
        told = (await feed.client.post("/v1/ask", **asked)).json()
        assert (told["text"], told["worded_by"], told["progress"]) == ("Who fixed the pump? Ada.", "small", "")
        events = await feed.client.post("/v1/ask", **asked, headers={"Accept": "text/event-stream"})
        assert events.headers["content-type"].startswith("text/event-stream")
        first, last = [json.loads(line[6:]) for line in events.text.splitlines() if line.startswith("data: ")]
        assert "I fixed the pump" in first["text"]
        assert first["progress"]
        assert last == told
        waits[0] = 60.0
        soon = (await feed.client.post("/v1/ask", **asked)).json()
        assert soon | {"progress": ""} == first | {"progress": ""}
        assert soon["progress"] == "the model is slow"
        wrong = await feed.client.post("/v1/ask", json={"question": ""}, headers={"Accept": "text/event-stream"})
        assert wrong.status_code == 422


async def test_questions_have_a_quota_of_their_own(serve):
    async with serve(view=ViewSettings(questions_per_second=0.2)) as feed:
        told = [await feed.client.post("/v1/ask", json={"question": "who?"}) for _ in range(3)]
        assert [each.status_code for each in told] == [200, 200, 429]
        assert "view.questions_per_second" in told[2].text
        assert float(told[2].headers["Retry-After"]) == 5
        limits = (await get(feed, "/v1/status"))["limits"]
        assert [each["hits"] for each in limits if each["name"] == "view.questions_per_second"] == [1]


async def test_status_and_subminds(feed):
    status = await get(feed, "/v1/status")
    told = "mind state version uptime_s perceptions stream traces tokens substrate limits subminds reasons now lineage"
    assert list(status) == told.split()
    assert (status["mind"], status["state"], status["version"]) == ("alpha", "running", "1.2.3")
    assert list(status["tokens"]) == ["in", "out", "cost", "budget_left"]
    (told,) = (await get(feed, "/v1/subminds"))["subminds"]
    assert (told["name"], told["state"]) == ("causes", "running")


WRONG = [
    ("/v1/stream?from=0", "from"),
    ("/v1/stream?limit=10001", "limit"),
    ("/v1/search", "q"),
    ("/v1/search?q=", "q"),
    ("/v1/search?q=pump&k=1001", "k"),
    ("/v1/search?q=pump&kind=dream", "kind"),
    ("/v1/search?q=pump&since=yesterday", "since"),
    ("/v1/search?q=pump&min_salience=nan", "min_salience"),
    (f"/v1/search?q={'x' * 16385}", "q"),
    (f"/v1/explain/{'1' * 65}", "id"),
    ("/v1/stream?from_seq=3", "from_seq"),
    ("/v1/search?q=pump&sourc=web-1", "sourc"),
    ("/v1/status?x=1", "x"),
]


async def test_a_wrong_field_is_named(feed):
    for path, field in WRONG:
        problem = await get(feed, path, 422)
        assert [error["field"] for error in problem["errors"]] == [field]
        assert problem["errors"][0]["why"]
    misspelt = await get(feed, "/v1/search?q=pump&sourc=web-1", 422)
    assert "did you mean 'source'? this path takes author, k, kind, min_salience" in misspelt["detail"]
    assert (await feed.client.get("/healthz?verbose=1")).status_code == 200


async def test_json_is_compressed_for_whoever_takes_it_and_events_never(feed):
    await feed.stores.commit([WriteEntries(tuple(entry(n) for n in range(1, 60)))])
    large = await feed.client.get("/v1/stream", headers={"Accept-Encoding": "gzip"})
    assert large.headers["content-encoding"] == "gzip"
    async with feed.client.stream("GET", "/v1/stream/events?from=1", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "content-encoding" not in answer.headers


async def test_the_interface_is_described_whole(feed):
    described = (await feed.client.get("/openapi.json")).json()
    paths = described["paths"]
    assert {
        "/v1/stream", "/v1/stream/events", "/v1/ask", "/v1/explain/{id}", "/v1/search", "/v1/recall",
        "/v1/traces", "/v1/traces/{id}",
        "/v1/subminds", "/v1/connections", "/v1/connections/history", "/v1/connections/events",
        "/v1/matters", "/v1/matters/{id}", "/v1/matters/events", "/v1/marks", "/v1/marks/undo",
        "/v1/know/{entity}", "/v1/believe/{entity}", "/v1/correct", "/v1/contradictions", "/v1/sleeps", "/v1/goals",
        "/v1/entities", "/v1/neighbourhood/{entity}", "/v1/packs", "/v1/packs/{name}/remove",
        "/v1/status", "/v1/perceptions", "/v1/session", "/metrics", "/healthz", "/readyz",
    } == set(paths)  # fmt: skip
    refs = set(_refs(described))
    assert refs <= {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    for path, methods in paths.items():
        for method in methods.values():
            assert method["description"], path
            ok = method["responses"]["200"]["content"]
            assert any(content.get("schema") for content in ok.values()), path
            if path.startswith("/v1/"):
                assert "application/problem+json" in method["responses"]["503"]["content"]


def _refs(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _refs(value)
    elif isinstance(node, list):
        for value in node:
            yield from _refs(value)


async def test_matters_and_what_is_owed(feed):
    ref = PerceptionRef("p-1", NOON, "guard")
    lines = [MatterLine(f"t-{n}", f"line {n}", ref, 0.5, 0.4, "names pump") for n in range(5)]
    wet = Matter(
        "m-1", "brine on the floor", MatterState.GROWING, NOON, feed.now[0], 0.8, lines, 7, ["guard"], ["pump"], [3]
    )
    old = replace(wet, id="m-2", changed=feed.now[0] - 7200, severity=Severity.CRITICAL)
    over = replace(wet, id="m-3", state=MatterState.SETTLED, settled_by=lines[4], severity=Severity.CRITICAL)
    loop = OpenLoop("l-1", "i'll send it by 15:00", ref, NOON + 3600, asked=False)
    done = replace(loop, id="l-2", closed_by=ref)
    writes = [MATTERS.write(one.id, one) for one in (wet, old, over)] + [
        LOOPS.write(one.id, one) for one in (loop, done)
    ]
    await feed.stores.commit(writes)
    told = await get(feed, "/v1/matters")
    assert [(one["id"], one["state"]) for one in told["matters"]] == [
        ("m-2", "steady"),
        ("m-1", "growing"),
        ("m-3", "settled"),
    ]
    assert [one["severity"] for one in told["matters"]] == ["critical", "info", "critical"]
    assert [line["text"] for line in told["matters"][1]["lines"]] == ["line 3", "line 4"]
    assert told["matters"][2]["settled_by"]["perception"]["source"] == "guard"
    assert [one["text"] for one in told["loops"]] == ["i'll send it by 15:00"]
    recent = await get(feed, "/v1/matters", since=rfc3339(feed.now[0] - 60), open=True)
    assert [one["id"] for one in recent["matters"]] == ["m-1"]
    assert len((await get(feed, "/v1/matters/m-1"))["lines"]) == 5
    await get(feed, "/v1/matters/m-9", status=404)
