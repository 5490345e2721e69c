"""A mind seen through its stores: status, search, live traces, from another process's writes."""

import asyncio
import random
from dataclasses import replace

import numpy as np
import pytest

from actors.substrate.embedding import WordLlamaEmbedder
from environment.errors import StoreUnavailable
from environment.index.shard import Shard
from environment.messages import Level, SubmindState
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteTrace
from environment.severity import salience_of
from orchestration.view.mind import MindView, ViewContext
from orchestration.view.settings import ViewSettings
from orchestration.view.status import MindState, ProcessState
from tests.environment.stores.making import NOON, connection, entry, perception, report, trace

EMBEDDER = WordLlamaEmbedder()


class Clock:
    def __init__(self, now=NOON):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def view(stores, clock, **around):
    return MindView(
        stores,
        EMBEDDER,
        ViewSettings(stale_after=30, offload_above=4),
        mind="alpha",
        clock=clock,
        wall=clock,
        surroundings=ViewContext(version="1", **around),
    )


def said(number, text, value=0.8, **changes):
    made = trace(number)
    thought = replace(made.thought, text=text, vector=EMBEDDER.embed_now([text])[0], **changes)
    return replace(made, thought=thought, level=Level(value, NOON, 3600.0), live=True, conscious=None)


async def found(looking, text, k=3):
    return [hit.trace.thought.text for hit in await looking.search(text, k)]


async def test_search_forgets_what_sank_and_follows_revisions(stores, clock):
    looking = view(stores, clock)
    leak, lunch = said(1, "the cooling pump leaks"), said(2, "lunch is at noon")
    await stores.commit([WriteTrace(leak), WriteTrace(lunch)])
    assert len(await found(looking, "pump")) == 2
    await stores.commit([WriteLevel(leak.id, Level(0.01, NOON, 60.0), live=False, conscious=None)])
    assert await found(looking, "pump") == ["lunch is at noon"]
    text = "the turbine bearing is hot"
    thought = replace(lunch.thought, text=text, vector=EMBEDDER.embed_now([text])[0])
    await stores.commit([WriteTrace(replace(lunch, thought=thought, version=2))])
    (hit,) = await looking.search("bearing temperature of the turbine", 3)
    assert (hit.trace.version, hit.trace.thought.text) == (2, text)
    assert hit.score > 0.4


async def test_live_traces_come_most_salient_first_as_of_now(stores, clock):
    looking = view(stores, clock)
    slow = replace(said(1, "slow"), level=Level(0.5, NOON, 36000.0))
    quick = replace(said(2, "quick"), level=Level(0.9, NOON, 600.0))
    await stores.commit([WriteTrace(slow), WriteTrace(quick)])
    assert [each.thought.text for each, _ in await looking.live(10)] == ["quick", "slow"]
    clock.now += 3600
    ranked = await looking.live(10)
    assert [each.thought.text for each, _ in ranked] == ["slow", "quick"]
    assert ranked[1][1] == pytest.approx(salience_of(0.9 * 0.5**6))
    assert len(await looking.live(1)) == 1


async def test_the_index_is_rebuilt_the_same_whatever_the_order_of_events(stores, clock):
    early = view(stores, clock)
    await early.live(1)
    draw = np.random.default_rng(3)
    traces = [said(n, f"thing {n} happened in room {n % 7}") for n in range(60)]
    for start in range(0, 60, 5):
        await stores.commit([WriteTrace(each) for each in traces[start : start + 5]])
        gone = traces[int(draw.integers(0, start + 1))]
        await stores.commit([WriteLevel(gone.id, Level(0.01, NOON, 60.0), live=False, conscious=None)])
        if draw.random() < 0.5:
            await early.live(1)
    late = view(stores, clock)
    for text in ("thing 7", "room 3", "happened"):
        ours = {hit.trace.id: pytest.approx(hit.score, abs=1e-5) for hit in await early.search(text, 100)}
        assert {hit.trace.id: hit.score for hit in await late.search(text, 100)} == ours
        assert len(ours) > 40
    assert {each.id for each, _ in await early.live(100)} == {each.id for each, _ in await late.live(100)}


async def test_a_store_that_fails_leaves_the_index_to_be_caught_up_later(stores, clock):
    shards = []

    def shard():
        shards.append(Shard(EMBEDDER.dim))
        return shards[-1]

    looking = MindView(stores, EMBEDDER, mind="alpha", clock=clock, wall=clock, shard=shard)
    await stores.commit([WriteTrace(said(1, "the pump leaks"))])
    assert len(await found(looking, "pump")) == 1
    changes = stores.traces.changes

    async def refuse(after, limit):
        raise StoreUnavailable("mind.db is busy")

    stores.traces.changes = refuse
    await stores.commit([WriteTrace(said(2, "the pump is mended"))])
    with pytest.raises(StoreUnavailable):
        await found(looking, "pump")
    stores.traces.changes = changes
    assert len(await found(looking, "pump")) == 2
    assert len(shards) == 1


async def test_many_questions_at_once_read_the_log_once_and_questions_answer_nothing(stores, clock):
    told = ["Ada: the pump leaks", "who fixed the pump?", "Ben fixed the pump"]
    sources = ["ops", "operator-page", "operator-page"]
    batch = [
        perception(n, text=text, source=source) for n, (text, source) in enumerate(zip(told, sources, strict=True))
    ]
    await stores.perceptions.append(batch)
    looking = view(stores, clock, interlocutors=("operator-*",))
    reads, read = [], stores.perceptions.read

    async def counted(after, limit, modality=None):
        reads.append((after, limit))
        return await read(after, limit, modality)

    stores.perceptions.read = counted

    async def ask():
        (told,) = [reply async for reply in looking.ask("Who fixed the pump?")]
        return told

    answers = await asyncio.gather(*(ask() for _ in range(50)))
    assert {answer.parts[0].text for answer in answers} == {"Ben fixed the pump"}
    assert all(told[1] not in part.text for answer in answers for part in answer.parts)
    assert sum(limit > 1 for _, limit in reads) == 1


def alive(name="causes", at=NOON, state=SubmindState.RUNNING, reason="", mailbox=0, **metrics):
    return WriteReport(replace(report(name), at=at, state=state, reason=reason, mailbox=mailbox, metrics=metrics))


def running(clock):
    return lambda: ProcessState(MindState.RUNNING, since=NOON - 3600)


async def test_status_adds_up_what_the_actors_report(stores, clock):
    looking = view(
        stores,
        clock,
        process=running(clock),
        limits={"shell.mailbox": 100.0},
        limit_hits=lambda: {"feed.streams": 2.0},
        substrate={"fast": "small"},
    )
    figures = {"limit_hits:shell.mailbox": 4, "fallback_causes_total:budget": 1, "fallbacks_total": 1}
    await stores.commit(
        [
            alive(
                "causes",
                generations_total=3,
                worded_total=3,
                tokens_in_total=100,
                tokens_out_total=10,
                cost_total=0.5,
                budget_left=7,
            ),
            alive("people", reason="words by rule: budget spent", generations_total=1, **figures),
            WriteTrace(said(1, "one")),
            WriteTrace(replace(said(2, "two"), live=False)),
            WriteEntries(tuple(replace(entry(n), at=NOON - 10) for n in (1, 2, 3))),
        ]
    )
    told = await looking.status()
    assert told.state is MindState.RUNNING
    assert told.reasons == ()
    assert told.subminds["running"] == 2
    assert (told.tokens.input, told.tokens.output, told.tokens.cost, told.tokens.budget_left) == (100, 10, 0.5, 7)
    assert told.substrate == {
        "fast": "small",
        "generations": 4,
        "cached": 0,
        "fallbacks": 1,
        "share_of_model": 0.75,
        "fallbacks_budget": 1,
        "last_fallbacks": "people: words by rule: budget spent",
    }
    assert [(hit.name, hit.limit, hit.hits) for hit in told.limits] == [
        ("feed.streams", None, 2),
        ("shell.mailbox", 100.0, 4),
    ]
    assert (told.traces.live, told.traces.total) == (1, 2)
    assert (told.stream.head, told.stream.per_hour) == (3, 3.0)


async def test_status_counts_arrivals_a_minute(stores, clock):
    looking = view(stores, clock)
    await looking.status()
    for _ in range(10):
        clock.now += 10
        await stores.perceptions.append([perception(int(clock.now) + n) for n in range(5)])
        told = await looking.status()
    assert told.perceptions.per_minute == pytest.approx(30)
    assert (told.perceptions.head, told.perceptions.acknowledged) == (50, 50)


@pytest.mark.parametrize(
    ("reports", "process", "state", "reason"),
    [
        ([], None, MindState.DOWN, "no actor has reported yet"),
        ([], MindState.RUNNING, MindState.STARTING, "no actor has reported yet"),
        ([alive()], MindState.DOWN, MindState.DOWN, "killed by signal 9"),
        ([alive()], MindState.STARTING, MindState.STARTING, "killed by signal 9"),
        ([alive(at=NOON - 999)], None, MindState.DOWN, "no actor has reported for 999 s"),
        ([alive(at=NOON - 999)], MindState.RUNNING, MindState.RUNNING, ""),
        (
            [alive(at=NOON - 999, mailbox=7), alive("people")],
            MindState.RUNNING,
            MindState.DEGRADED,
            "causes has not reported for 999 s with 7 events waiting",
        ),
        (
            [alive(state=SubmindState.QUARANTINED, reason="it died 5 times in a minute"), alive("people")],
            MindState.RUNNING,
            MindState.DEGRADED,
            "causes is quarantined: it died 5 times in a minute",
        ),
        ([alive(state=SubmindState.STARTING)], MindState.RUNNING, MindState.STARTING, "causes is starting"),
        ([alive(state=SubmindState.STOPPED), alive("people")], MindState.RUNNING, MindState.RUNNING, ""),
    ],
)
async def test_status_judges_a_mind(stores, clock, reports, process, state, reason):
    told = process and (lambda: ProcessState(process, since=NOON, reason="killed by signal 9"))
    await stores.commit(reports)
    status = await view(stores, clock, process=told).status()
    assert status.state is state
    assert " ".join(status.reasons) == reason


async def test_perceptions_that_nobody_takes_make_a_mind_degraded(stores, clock):
    looking = view(stores, clock, process=running(clock))
    await stores.commit([alive()])
    clock.now += 100
    assert (await looking.status()).state is MindState.RUNNING  # idle: there is nothing to report
    await stores.perceptions.append([perception(1)])
    clock.now += 1
    told = await looking.status()
    assert told.state is MindState.DEGRADED
    assert told.subminds["silent"] == 1


async def test_a_status_names_some_reasons_and_counts_the_others(stores, clock):
    starting = [report(f"scout-{number:02}", state=SubmindState.QUARANTINED, reason="it died") for number in range(30)]
    await stores.commit([WriteReport(one) for one in starting])
    told = await view(stores, clock).status()
    assert len(told.reasons) == 21
    assert told.reasons[-1] == "and 10 more, which `submind subminds` lists"
    assert told.subminds["quarantined"] == 30


async def test_the_reports_of_many_are_added_up_once_for_all_who_ask(stores, clock):
    settings = ViewSettings(summary_above=2, summary_every=10.0)
    seen = MindView(stores, EMBEDDER, settings, mind="alpha", clock=clock, wall=clock)
    await stores.commit([WriteReport(report("a")), WriteReport(report("b"))])
    assert (await seen.status()).subminds["running"] == 2
    await stores.commit([WriteReport(report("c"))])
    assert (await seen.status()).subminds["running"] == 3, "few are read at each look"
    await stores.commit([WriteReport(report("d"))])
    assert (await seen.status()).subminds["running"] == 3
    clock.now += 10
    assert (await seen.status()).subminds["running"] == 4


async def test_what_stays_is_on_one_page_whatever_happens_between_them(stores, clock):
    seen = MindView(stores, EMBEDDER, ViewSettings(page=4), mind="alpha", clock=clock, wall=clock)
    chance, stays = random.Random(1), {}
    for owner in ("a", "b", "c"):
        for topic in ("k1", "k2", "k3"):
            stays[owner, topic] = connection(owner=owner, topic=topic, weight=chance.random())
        await stores.commit([WriteConnections(owner, tuple(c for c in stays.values() if c.owner == owner), (), ())])
    found, token = [], ""
    while True:
        page = await seen.connections_page(token=token)
        assert [c.weight for c in page.items] == sorted((c.weight for c in page.items), reverse=True)
        found += [(c.owner, c.topic) for c in page.items if (c.owner, c.topic) in stays]
        if not (token := page.next):
            break
        moved = [connection(owner=o, topic=t, weight=chance.random()) for o, t in stays]
        came = [connection(owner=f"{o}+", topic=f"k{chance.random()}") for o in "abc"]
        for one in (*moved, *came):
            await stores.commit([WriteConnections(one.owner, (one,), (), ())])
    assert sorted(found) == sorted(stays)
