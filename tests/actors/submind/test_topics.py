import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.settings import TopicSettings
from actors.snapshots import pack, unpack
from actors.submind.topics import Centre, SavedTopics, Topics
from tests.actors.making import DIM, unit


def topics(dim=DIM, **given):
    return Topics(dim, TopicSettings(**given))


AXES = np.eye(DIM, dtype=np.float32)


def around(region, chance, spread=0.1):
    vector = AXES[region % DIM] + spread * np.array([chance.gauss(0, 1) for _ in range(DIM)], np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def restored(one, **given):
    again = topics(**given)
    again.load(unpack(pack(one.dump()), SavedTopics))
    return again


def test_separate_regions_are_separate_topics_with_telling_labels():
    chance, it = random.Random(1), topics()
    words = {0: ["compressor", "fan-22b"], 1: ["bank", "transfer"], 2: ["letter", "portal"], 3: ["van", "door"]}
    keys = {}
    for _ in range(400):
        seed = chance.randrange(4)
        keys.setdefault(seed, []).append(it.assign(around(seed, chance), words[seed]).key)
    late = {seed: set(used[-30:]) for seed, used in keys.items()}
    assert all(len(used) == 1 for used in late.values())
    assert len(set.union(*late.values())) == 4
    for seed, used in late.items():
        assert set(it.label(next(iter(used))).split(", ")) == set(words[seed])
    assert it.nearest(AXES[2]).key in late[2]
    assert it.label("gone") == "gone"


def test_looking_learns_nothing():
    chance, it = random.Random(1), topics()
    for _ in range(50):
        it.assign(around(chance.randrange(3), chance), ["x"])
    before = pack(it.dump())
    for i in range(50):
        it.nearest(unit(i))
        it.centred(unit(i))
    assert pack(it.dump()) == before


def test_the_common_part_says_nothing():
    centre = Centre(DIM, 100)
    base, chance = unit(5), random.Random(2)
    vectors = [base * 3 + around(i, chance) for i in range(60)]
    vectors = [(v / np.linalg.norm(v)).astype(np.float32) for v in vectors]
    for v in vectors:
        centre.learn(v)
    raw = np.mean([a @ b for a, b in pairwise(vectors)])
    centred = [centre.remove(v) for v in vectors]
    assert raw > 0.8
    assert abs(np.mean([a @ b for a, b in pairwise(centred)])) < 0.15
    assert all(np.linalg.norm(c) == pytest.approx(1, abs=1e-5) for c in centred)
    assert np.array_equal(centre.remove(centre.mean), centre.mean)


vectors = st.lists(st.integers(0, 40), min_size=1, max_size=250)


@settings(max_examples=60)
@given(vectors, st.integers(2, 12), st.sampled_from([0.3, 0.6, 0.9]))
def test_topics_are_bounded_and_every_one_that_goes_is_named(seeds, capacity, merge):
    it = topics(capacity=capacity, merge=merge, threshold=0.3)
    alive = set()
    for seed in seeds:
        topic = it.assign(unit(seed), [f"w{seed}"])
        gone = {g for g, _ in it.merged} | set(it.dropped)
        alive = (alive | {topic.key}) - gone
        assert topic.key not in gone
        assert all(kept in alive or kept in gone for _, kept in it.merged)
        it.merged.clear()
        it.dropped.clear()
        assert {t.key for t in it._topics} == alive
        assert len(it) <= capacity
        assert len(it.labels) == len(it)
        norms = np.linalg.norm(it._matrix[: len(it)], axis=1)
        assert norms == pytest.approx(np.ones(len(it)), abs=1e-3)


def test_the_thought_whose_topic_has_just_merged_is_placed_in_what_is_left():
    """The caller would otherwise speak along a topic that is gone."""
    chance, merged = random.Random(4), 0
    for trial in range(20):
        it = topics(threshold=0.7, merge=0.5)
        for _ in range(200):
            topic = it.assign(around(trial, chance, 0.3), ["x"])
            assert any(t is topic for t in it._topics)
        merged += len(it.merged)
    assert merged


def test_the_one_used_once_and_longest_ago_makes_room():
    it = topics(capacity=4)
    first = it.assign(AXES[0], ["a"]).key
    it.assign(AXES[0], ["a"])
    keys = [it.assign(AXES[i], ["x"]).key for i in range(1, 4)]
    it.assign(AXES[5], ["y"])
    assert it.dropped == [keys[0]]
    assert any(t.key == first for t in it._topics)


def test_nothing_to_say_belongs_somewhere_harmlessly():
    it = topics()
    for i in range(20):
        it.assign(unit(i), [])
        assert it.assign(np.zeros(DIM, np.float32), []).label
    assert np.isfinite(it._matrix[: len(it)]).all()


@settings(max_examples=50)
@given(vectors, st.integers(0, 250))
def test_a_snapshot_continues_the_same(seeds, cut):
    def run(it, part):
        out = []
        for seed in part:
            topic = it.assign(unit(seed), [f"w{seed}", f"v{seed % 3}"])
            out.append((topic.key, topic.label, topic.traffic, tuple(it.merged), tuple(it.dropped)))
            it.merged.clear()
            it.dropped.clear()
        return out

    given_ = {"capacity": 8, "merge": 0.5, "threshold": 0.3}
    whole = run(topics(**given_), seeds)
    it = topics(**given_)
    first = run(it, seeds[:cut])
    assert first + run(restored(it, **given_), seeds[cut:]) == whole


def test_a_smaller_capacity_keeps_the_latest_and_another_embedder_starts_anew():
    it = topics(capacity=10)
    keys = [it.assign(AXES[i], ["x"]).key for i in range(10)]
    smaller = restored(it, capacity=4)
    assert {t.key for t in smaller._topics} == set(keys[-4:])
    assert set(smaller.dropped) == set(keys[:-4])
    other = restored(it, dim=2 * DIM)
    assert len(other) == 0
    assert set(other.dropped) == set(keys)
    assert other.assign(unit(1, 2 * DIM), ["y"]).key not in keys
