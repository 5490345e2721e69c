from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.perception.appraisal import Appraiser, valences
from actors.perception.settings import AppraisalSettings
from actors.perception.wording import read
from actors.snapshots import pack, unpack
from tests.actors.perception.perceiving import DIM, EMBEDDER

WORDS = "pump valve room door van order bank letter meal fridge alarm light truck road coast depot".split()


def ordinary(n, seed=1):
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=6)) for _ in range(n)]


def appraise(appraiser, texts, surprise=0.0):
    vectors = EMBEDDER.embed_now(texts)
    return [appraiser.appraise(t, read(t).words, v, surprise) for t, v in zip(texts, vectors, strict=True)]


@settings(max_examples=60)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=40), st.floats(0, 1))
def test_salience_and_its_parts_stay_in_range(texts, surprise):
    for appraisal in appraise(Appraiser(DIM, AppraisalSettings()), texts, surprise):
        assert 0 <= appraisal.salience <= 1
        assert all(0 <= p <= 1 for p in appraisal.parts.values())
        assert -1 <= appraisal.valence <= 1


def unending(n, seed, length):
    """Words by Zipf's law, so that new ones never cease."""
    chance = random.Random(seed)
    return [" ".join(f"{WORDS[r % 16]}{r}" if r > 15 else WORDS[r] for r in ranks) for ranks in zipf(chance, n, length)]


def zipf(chance, n, length):
    for _ in range(n):
        yield [int(min(1e6, chance.paretovariate(0.8))) for _ in range(length)]


@pytest.mark.parametrize("length", [3, 30])
def test_salience_calibrates_itself_to_the_stream(length):
    appraisals = appraise(Appraiser(DIM, AppraisalSettings()), unending(800, 1, length))[200:]
    values = sorted(a.salience for a in appraisals)
    assert 0.4 < sum(values) / len(values) < 0.6
    assert values[60] < 0.4
    assert values[-60] > 0.6


def test_what_is_unlike_the_stream_stands_out():
    appraiser = Appraiser(DIM, AppraisalSettings())
    usual = [a.salience for a in appraise(appraiser, ordinary(500))]
    (odd,) = appraise(appraiser, ["Terrible explosion in the laboratory, people are injured!"])
    assert odd.salience > 0.9
    assert odd.salience > max(usual[200:])
    assert odd.valence < -0.3
    (again,) = appraise(appraiser, ["Terrible explosion in the laboratory, people are injured!"])
    assert again.salience < odd.salience


def test_surprise_raises_and_never_beyond_one():
    text = ["pump valve room"]
    plain, raised, sure = (appraise(Appraiser(DIM, AppraisalSettings()), text, s)[0].salience for s in (0.0, 0.5, 1.0))
    assert plain < raised < sure == 1.0


def test_opposite_feelings_do_not_cancel():
    energies = [
        a.parts["emotion"]
        for a in appraise(
            Appraiser(DIM, AppraisalSettings()), [*ordinary(60), "wonderful disaster", "the pump", "lovely"]
        )
    ]
    assert energies[-3] > energies[-1] > energies[-2]


def test_the_lexicon_is_the_published_one():
    assert len(valences()) > 7000
    assert valences()["catastrophe"] < -2 < 2 < valences()["wonderful"]


def test_memory_is_bounded():
    given_ = AppraisalSettings(words=100, pairs=100, rank_window=16, novelty_window=8)
    appraiser = Appraiser(8, given_)
    vector = np.ones(8, np.float32) / np.sqrt(8).astype(np.float32)
    sizes = []
    for i in range(3000):
        appraiser.appraise(f"word{i} other{i}", (f"word{i}", f"other{i}"), vector)
        if i % 500 == 499:
            sizes.append(len(pack(appraiser.dump())))
    assert max(sizes[1:]) < 1.5 * sizes[0]


def test_a_snapshot_of_another_embedder_or_window_is_learned_anew():
    appraiser = Appraiser(DIM, AppraisalSettings())
    appraise(appraiser, ordinary(50))
    other = Appraiser(8, AppraisalSettings(novelty_window=16))
    other.load(unpack(pack(appraiser.dump()), dict[str, object]))
    assert 0 <= other.appraise("pump", ("pump",), np.ones(8, np.float32)).salience <= 1
