"""Recalling follows the log, and goes by words while there are no vectors."""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from actors.answering.episodes import EpisodeFollower
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.errors import SubstrateUnavailable
from environment.episodes.recall import RecallFilters
from environment.erasure import FORGOTTEN, ForgetRecord, ScopeKind, scope_of
from environment.goals import GOALS, GoalLayer, StandingGoal
from environment.packs import PackSection, keep_packs
from environment.stores.sqlite import open_stores
from tests.environment.stores.making import NOON, perception


@pytest.fixture
async def stores(tmp_path):
    stores = await open_stores(tmp_path, "alpha")
    texts = ["the physician prescribed antibiotics", "the boiler hums", "lunch is at noon", "a van left", "rain again"]
    texts += [f"gate {n} shut" for n in range(10, 20)]
    await stores.perceptions.append([perception(n, text=text, time=NOON + n) for n, text in enumerate(texts)])
    yield stores
    await stores.close()


class Away:
    """An embedder whose server is away."""

    dim = 256

    async def embed(self, texts):
        raise SubstrateUnavailable("away")


class Slow:
    """One that takes its time, and counts what it is given."""

    dim = 256

    def __init__(self):
        self.given = []

    async def embed(self, texts):
        self.given += texts
        await asyncio.sleep(0.001)
        return WordLlamaEmbedder().embed_now(texts)


class Hung(Away):
    """An embedder whose server never answers."""

    async def embed(self, texts):
        await asyncio.Event().wait()


async def texts(follower, asked):
    return [one.text for one in await follower.recall(asked, 1, NOON)]


async def test_while_the_embedder_is_away_words_find_it(stores):
    follower = EpisodeFollower(stores, 100, (), Away())
    assert await texts(follower, "boiler") == ["the boiler hums"]
    assert await texts(follower, "doctor medicine") == []


async def test_what_bears_on_a_goal_comes_first_of_what_fits(stores):
    follower = EpisodeFollower(stores, 100, ())
    assert await texts(follower, "gate") != ["gate 14 shut"]
    goal = StandingGoal("v-1", "the 14 boilers", layer=GoalLayer.GOAL, weight=0.5)
    for one in (goal, replace(goal, id="v-2", text="gate 12", layer=GoalLayer.NONE)):
        await stores.commit([GOALS.write(one.id, one)])
    assert await texts(follower, "gate") == ["gate 14 shut"]
    found = [*await follower.recall("gate", 1, NOON), *await follower.recall("physician", 1, NOON)]
    assert [one.goal for one in found] == ["the 14 boilers", ""]
    assert "gate 14 shut" not in [one.text for one in await follower.recall("physician", 99, NOON)]


async def test_meaning_counts_from_the_first_time_that_somebody_asks(stores):
    embedder = Slow()
    follower = EpisodeFollower(stores, 100, ("operator",), embedder)
    await follower.answer("what hums?", (), NOON)
    assert embedder.given == []
    assert await texts(follower, "doctor medicine") == ["the physician prescribed antibiotics"]
    await stores.perceptions.append(
        [perception(30, text="is the nurse here?", source="operator"), perception(31, text="a nurse came")]
    )
    assert await texts(follower, "nurse") == ["a nurse came"]
    assert len(embedder.given) == len(set(embedder.given)) == 15 + 1 + 2
    assert np.isfinite(follower._index.cosines(np.ones(256, np.float32))).all()


async def test_an_embedder_that_hangs_holds_up_no_question(stores, monkeypatch):
    monkeypatch.setattr("actors.answering.episodes._PATIENCE", 0.2)
    follower = EpisodeFollower(stores, 100, (), Hung())
    assert await texts(follower, "boiler") == ["the boiler hums"]
    keeping = asyncio.create_task(follower.keep(0.01))
    try:
        await asyncio.sleep(0.1)
        async with asyncio.timeout(5):
            assert "hums" in (await follower.answer("what hums?", (), NOON)).text
    finally:
        keeping.cancel()


async def test_who_is_cancelled_leaves_the_index_whole(stores, monkeypatch):
    follower = EpisodeFollower(stores, 100, ())
    add, threads = follower._index.add, []

    def slow(told):
        threads.append(len(threads))
        assert len(threads) == 1
        time.sleep(0.2)
        add(told)
        threads.pop()

    monkeypatch.setattr(follower._index, "add", slow)
    gone = asyncio.create_task(follower.answer("what hums?", (), NOON))
    await asyncio.sleep(0.1)
    gone.cancel()
    await stores.perceptions.append([perception(40, text="a nurse came")])
    assert await texts(follower, "nurse") == ["a nurse came"]
    assert await texts(follower, "boiler") == ["the boiler hums"]
    assert gone.cancelled()


async def test_what_else_runs_is_not_held_up_while_lines_are_given_vectors(stores):
    await stores.perceptions.append([perception(n, text=f"gate {n} shut", time=NOON) for n in range(100, 1000)])
    follower = EpisodeFollower(stores, 2000, (), WordLlamaEmbedder())
    recalling = asyncio.create_task(texts(follower, "doctor medicine"))
    turns = 0
    while not recalling.done():
        turns += 0 < len(follower._index._scales) < len(follower._index)
        await asyncio.sleep(0)
    assert turns > 5
    assert await recalling == ["the physician prescribed antibiotics"]


async def test_what_packs_say_is_found_and_cited_with_its_section_and_gone_with_it(stores):
    first = PackSection("book.md", "Rooms / Boiler", "Boiler\nBleed it when it gurgles, from the red tap.", 0.9)
    other = PackSection("book.md", "Gates", "Gates\nA gate that sticks wants graphite.", 0.9)
    await keep_packs(stores, [first, other], 0)
    follower = EpisodeFollower(stores, 4, ())  # fewer than there are lines, so that they fall out and come back
    told = await follower.answer("what does a gate that sticks want?", (), NOON)
    assert told.known
    assert "(pack book.md: Gates)" in told.text
    assert (told.parts[0].perception.id, told.parts[0].perception.source) == (other.id, other.source)
    for n in range(200):
        await stores.perceptions.append([perception(100 + n, text=f"hour {n} passed", time=NOON + 100 + n)])
        if n % 20 == 0:
            assert await texts(follower, "gurgles") == [first.text]
    assert len(follower._index) <= 4 + 2 + 64
    assert sorted(hit.perception.source for hit in await follower.recall("gate red tap", 5, NOON))[:2] == [
        "pack book.md: Gates",
        "pack book.md: Rooms / Boiler",
    ]
    await keep_packs(stores, [other], 0)
    assert await texts(follower, "gurgles red tap") == []
    assert await texts(follower, "graphite") == [other.text]


async def keeping(follower):
    with suppress(TimeoutError):
        await asyncio.wait_for(follower.keep(0.001), 0.5)


async def test_the_next_process_goes_on_from_the_index_that_this_one_kept(stores, tmp_path):
    file, asked = tmp_path / "episodes.index", ForgetRecord("r", scope_of(ScopeKind.SOURCE, ["x"], "salt"), NOON, "ops")
    first = EpisodeFollower(stores, 100, ("boss",), WordLlamaEmbedder(), kept=file)
    while not file.exists():
        await keeping(first)
    await stores.perceptions.append([perception(20_000, text="a nurse came")])
    for patterns, embedder, goes_on in (
        (("boss",), WordLlamaEmbedder(), True),
        (("boss",), None, True),
        ((), None, False),  # of other lines, so it is made anew
    ):
        later = EpisodeFollower(stores, 100, patterns, embedder, kept=file)
        assert await texts(later, "nurse") == ["a nurse came"]
        assert await texts(later, "boiler") == ["the boiler hums"]
        assert (later._written == first._written) is goes_on
    file.unlink()
    await stores.commit([FORGOTTEN.write("r", asked)])
    later = EpisodeFollower(stores, 100, (), WordLlamaEmbedder(), kept=file)
    await keeping(later)
    assert later._cursor
    assert not file.exists()


async def test_a_pack_is_of_no_time(stores):
    section = PackSection("book.md", "Gates", "Gates\nA gate that sticks wants graphite.", 0.9)
    await keep_packs(stores, [section], 0)
    follower = EpisodeFollower(stores, 100, ())
    found = [one.text for one in await follower.recall("what happened before today", 20, NOON + 86_400.0)]
    assert "rain again" in found
    assert section.text not in found
    (hit,) = await follower.recall("graphite", 1, NOON, RecallFilters())
    assert hit.perception.time == 0.0
    assert await follower.recall("graphite", 1, NOON, RecallFilters(since=0.0)) == []
