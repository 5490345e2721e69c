"""The shard finds what is near: exactly while small, nearly so when it has grown."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from environment.index.shard import Shard

DIM = 64


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def clustered(count: int, seed: int = 0, clusters: int = 60, noise: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = unit(rng.normal(size=(clusters, DIM)))
    return unit(centres[rng.integers(clusters, size=count)] + noise * rng.normal(size=(count, DIM)) / np.sqrt(DIM))


def filled(vectors: np.ndarray, flat_limit: int = 10_000) -> Shard:
    shard = Shard(DIM, flat_limit)
    for number, vector in enumerate(vectors):
        shard.add(str(number), vector)
    return shard


def near(vectors: np.ndarray, count: int, seed: int = 1) -> np.ndarray:
    """Queries such as a crawl makes: beside something that is held."""
    rng = np.random.default_rng(seed)
    chosen = vectors[rng.integers(len(vectors), size=count)]
    return unit(chosen + 0.5 * rng.normal(size=chosen.shape) / np.sqrt(DIM))


def recall(shard: Shard, held: dict[str, np.ndarray], queries: np.ndarray, k: int = 10) -> float:
    names = list(held)
    matrix = np.stack([held[name] for name in names])
    hits = 0
    for query in queries:
        exact = {names[i] for i in np.argsort(-(matrix @ query), kind="stable")[:k]}
        hits += len(exact & {name for name, _ in shard.search(query, k)})
    return hits / (k * len(queries))


def test_a_small_shard_is_exact():
    vectors = clustered(500)
    shard = filled(vectors)
    assert shard.cells == 0
    query = clustered(1, seed=9)[0]
    found = shard.search(query, 7)
    order = np.argsort(-(vectors @ query))[:7]
    assert [name for name, _ in found] == [str(i) for i in order]
    assert [cosine for _, cosine in found] == pytest.approx(vectors[order] @ query, abs=1e-5)


def test_a_grown_shard_is_divided_and_still_finds_what_is_near():
    vectors = clustered(16_000, clusters=200)
    shard = filled(vectors, flat_limit=1000)
    assert shard.cells > 100
    assert len(shard) == 16_000
    held = {str(i): v for i, v in enumerate(vectors)}
    assert recall(shard, held, near(vectors, 100)) >= 0.95
    assert recall(shard, held, clustered(100, seed=9)) >= 0.5  # beside nothing that is held


def test_what_was_removed_is_never_found_and_what_is_new_is_found_at_once():
    vectors = clustered(3000)
    shard = filled(vectors, flat_limit=1000)
    rng = random.Random(3)
    held = {str(i): v for i, v in enumerate(vectors)}
    fresh = clustered(2000, seed=4)
    for number, vector in enumerate(fresh):
        gone = rng.choice(list(held)) if number % 10 == 0 else next(iter(held))
        shard.remove(gone)
        del held[gone]
        shard.add(f"new-{number}", vector)
        held[f"new-{number}"] = vector
        if number % 50 == 0:
            found = shard.search(vector, 3)
            assert found[0][0] == f"new-{number}"
            assert {name for name, _ in found} <= set(held)
    assert len(shard) == len(held)
    assert all(name in shard for name in held)
    assert recall(shard, held, near(np.stack(list(held.values())), 100)) >= 0.95


def test_it_becomes_exact_again_when_it_has_shrunk():
    vectors = clustered(2000)
    shard = filled(vectors, flat_limit=1000)
    assert shard.cells
    for number in range(1600):
        shard.remove(str(number))
    assert shard.cells == 0
    assert recall(shard, {str(i): vectors[i] for i in range(1600, 2000)}, clustered(50, seed=2)) == 1


def test_a_vector_is_replaced_under_its_id():
    vectors = clustered(1500)
    for limit in (1000, 10_000):
        shard = filled(vectors, flat_limit=limit)
        other = clustered(1, seed=8)[0]
        shard.add("7", other)
        assert len(shard) == 1500
        assert shard.search(other, 1)[0][0] == "7"
        shard.add("7", np.zeros(DIM, np.float32))
        assert "7" not in shard
        assert len(shard) == 1499


@pytest.mark.parametrize("limit", [1000, 10_000])
def test_rebuilding_gives_what_adding_gave(limit):
    vectors = clustered(1800)
    shard = filled(vectors, flat_limit=limit)
    twin = Shard(DIM, limit)
    twin.add("old", vectors[0])
    names, rows = shard.contents()
    twin.rebuild(names, rows)
    assert "old" not in twin
    held = {str(i): v for i, v in enumerate(vectors)}
    assert sorted(names) == sorted(held)
    assert recall(twin, held, near(vectors, 50)) >= 0.95


def test_the_same_calls_give_the_same_answers():
    vectors = clustered(2500)
    queries = clustered(30, seed=7)
    answers = [[filled(vectors, 1000).search(q, 5) for q in queries] for _ in range(2)]
    assert answers[0] == answers[1]


def test_there_is_nothing_near_nothing():
    shard = Shard(DIM)
    query = clustered(1)[0]
    assert shard.search(query, 5) == []
    shard.add("zero", np.zeros(DIM, np.float32))
    assert len(shard) == 0
    shard.add("a", query)
    assert shard.search(np.zeros(DIM, np.float32), 5) == []
    assert shard.search(query, 0) == []
    assert len(shard.search(query, 50)) == 1
    shard.remove("nowhere")
    with pytest.raises(ValueError, match="shape"):
        shard.rebuild(["a", "b"], vectors=clustered(3))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=80))
def test_it_holds_what_a_dictionary_would(acts):
    vectors = clustered(13)
    shard, held = Shard(DIM), {}
    for adding, number in acts:
        if adding:
            shard.add(str(number), vectors[number])
            held[str(number)] = vectors[number]
        else:
            shard.remove(str(number))
            held.pop(str(number), None)
    assert len(shard) == len(held)
    assert {name for name, _ in shard.search(vectors[0], 99)} == set(held)
    names, rows = shard.contents()
    assert {name: row.tobytes() for name, row in zip(names, rows, strict=True)} == {
        name: vector.tobytes() for name, vector in held.items()
    }
