"""Vectors from a real server, on its good days and its bad ones."""

import asyncio
import json
import random

import numpy as np
import pytest

from actors.substrate.build import build_embedder
from actors.substrate.errors import SubstrateUnavailable
from actors.substrate.settings import BudgetSettings, EmbedderSettings, ServerSettings, SubstrateSettings
from environment.stores.sqlite.answer_cache import open_answers


@pytest.fixture
async def make(server):
    made = []

    def build(*, cache=None, budget=None, embedder=None, **server_settings):
        settings = SubstrateSettings(
            server=ServerSettings(
                **{"base_url": server.url, "backoff": 0.01, "max_backoff": 0.3, "timeout": 5, **server_settings}
            ),
            budget=BudgetSettings(**(budget or {})),
            embedder=EmbedderSettings(
                **{"kind": "openai", "model": "vectors", "dim": 8, "batch": 3, **(embedder or {})}
            ),
        )
        made.append(build_embedder(settings, lambda: 1e6, cache, chance=random.Random(1)))
        return made[-1]

    yield build
    for embedder in made:
        await embedder.close()


async def test_a_good_day(make, server):
    embedder = make()
    texts = ["one", "two", "", "one", "!!", "four", "five"]
    vectors = await embedder.embed(texts)
    assert vectors.shape == (7, embedder.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0, 1, 0, 1, 1], atol=1e-6)
    expected = np.array(server.vector("two"))
    np.testing.assert_allclose(vectors[1], expected / np.linalg.norm(expected), atol=1e-6)
    assert [b["input"] for b in server.bodies("/v1/embeddings")] == [["one", "two", "four"], ["five"]]


async def test_a_text_is_paid_for_once_even_at_the_same_time(make, server, day, tmp_path):
    server.always = day(delay=0.05)
    cache = await open_answers(tmp_path, "m")
    embedder = make(cache=cache)
    first, second = await asyncio.gather(embedder.embed(["one", "two"]), embedder.embed(["two", "one"]))
    assert (first == second[::-1]).all()
    again = await make(cache=cache).embed(["one"])
    assert (again[0] == first[0]).all()
    assert len(server.seen) == 1
    await cache.close()


async def test_nothing_to_ask(make, server):
    assert (await make().embed([])).shape == (0, 8)
    assert not (await make().embed(["", "\x00"])).any()
    assert server.seen == []


async def test_it_recovers(make, server, day):
    server.plan(day(status=503), day(status=429, headers={"retry-after": "0"}))
    assert (await make().embed(["one"])).any()
    assert len(server.seen) == 3


async def test_a_failing_server_is_said_to_be_unavailable(make, server, day):
    server.always = day(status=500)
    with pytest.raises(SubstrateUnavailable, match="embedding server: HTTP 500") as caught:
        await make().embed(["one"])
    assert caught.value.retry_after > 0


def answer(*rows, **more):
    return json.dumps({"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)], **more}).encode()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"nonsense", "not JSON"),
        (b"{}", "does not hold 1 vectors"),
        (answer(), "does not hold 1 vectors"),
        (answer([1.0] * 8, [1.0] * 8), "does not hold 1 vectors"),
        (answer([1.0] * 7), "7 numbers, not the 8"),
        (answer("AAAA"), "no numbers, not the 8"),
        (answer(["1"] * 8), "no number"),
        (answer([None] * 8), "no number"),
        (answer([True] * 8), "no number"),
        (answer([float("nan")] * 8), "no number"),
        (answer([1e300] * 8), "no number"),
        (answer([10**400] * 8), "not JSON|no number"),
        (json.dumps({"data": [{"index": 5, "embedding": [1.0] * 8}]}).encode(), "not numbered"),
        (json.dumps({"data": [{"index": "a", "embedding": [1.0] * 8}]}).encode(), "not numbered"),
    ],
)
async def test_nonsense_is_not_a_vector(make, server, day, raw, why):
    server.always = day(raw=raw)
    with pytest.raises(SubstrateUnavailable, match=why):
        await make(attempts=1).embed(["one"])


async def test_the_budget_holds_for_vectors_as_well(make, server):
    with pytest.raises(SubstrateUnavailable, match="budget spent") as caught:
        await make(budget={"tokens_per_hour": 5}).embed(["one"])
    assert caught.value.retry_after == 3600
    assert server.seen == []


async def test_a_shorter_vector_can_be_asked_for(make, server):
    await make(embedder={"send_dim": True}).embed(["one"])
    assert server.bodies("/v1/embeddings")[0]["dimensions"] == 8
