"""Recalling follows the log, and goes by words while there are no vectors."""

import asyncio

import numpy as np
import pytest

from actors.answering.episodes import EpisodeFollower
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.errors import SubstrateUnavailable
from environment.stores.sqlite import open_stores
from tests.environment.stores.making import NOON, perception


@pytest.fixture
async def log(tmp_path):
    stores = await open_stores(tmp_path, "alpha")
    texts = ["the physician prescribed antibiotics", "the boiler hums", "lunch is at noon", "a van left", "rain again"]
    texts += [f"gate {n} shut" for n in range(10, 20)]
    await stores.perceptions.append([perception(n, text=text, time=NOON + n) for n, text in enumerate(texts)])
    yield stores.perceptions
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


async def texts(follower, asked):
    return [one.text for one in await follower.recall(asked, 1, NOON)]


async def test_while_the_embedder_is_away_words_find_it(log):
    follower = EpisodeFollower(log, 100, (), Away())
    assert await texts(follower, "boiler") == ["the boiler hums"]
    assert await texts(follower, "doctor medicine") == []


async def test_meaning_counts_from_the_first_time_that_somebody_asks(log):
    embedder = Slow()
    follower = EpisodeFollower(log, 100, ("operator",), embedder)
    await follower.answer("what hums?", (), NOON)
    assert embedder.given == []
    assert await texts(follower, "doctor medicine") == ["the physician prescribed antibiotics"]
    await log.append(
        [perception(30, text="is the nurse here?", source="operator"), perception(31, text="a nurse came")]
    )
    assert await texts(follower, "nurse") == ["a nurse came"]
    assert len(embedder.given) == len(set(embedder.given)) == 15 + 1 + 2
    assert np.isfinite(follower._index.cosines(np.ones(256, np.float32))).all()
