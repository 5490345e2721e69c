"""Breeding: bounded, the same by the same seed, and better than chance at what it is asked for."""

import random
from dataclasses import replace

import pytest

from environment.messages import EntryKind, PerceptionRef
from orchestration.simulation.evolution import Gene, MomentLabel, breed, judged, ranked
from tests.environment.stores.making import NOON, entry

GENES = (Gene("a", 0.9, 0.0, 1.0), Gene("b", 9.0, 0.0, 10.0, whole=True))


async def bred(judge, seed=0, generations=8, due=lambda: False):
    told = []
    scores = await breed(
        GENES,
        judge,
        population=8,
        generations=generations,
        chance=random.Random(seed),
        due=due,
        told=told.append,
    )
    return scores, told


async def hill(variant):
    a, b = variant
    return [-((a - 0.3) ** 2), -(((b - 2) / 10) ** 2)]


async def test_it_climbs_within_bounds_and_begins_with_what_is_there():
    scores, told = await bred(hill)
    assert next(iter(scores)) == (0.9, 9.0)
    assert all(0 <= a <= 1 and 0 <= b <= 10 and b == int(b) for a, b in scores)
    first = sum(text.startswith("generation 1,") for text in told)
    assert 0 < first < len(told)
    assert max(scores.values()) > max(list(scores.values())[:first])
    assert max(scores.values()) > -0.01
    assert scores[ranked(scores)[0]] == max(scores.values())
    assert len(told) == len(scores) <= 64


@pytest.mark.parametrize("seed", range(3))
async def test_the_same_seed_breeds_the_same(seed):
    assert await bred(hill, seed) == await bred(hill, seed)
    assert (await bred(hill, seed))[0] != (await bred(hill, seed + 1))[0]


async def test_it_ends_when_it_is_due_and_leaves_out_what_cannot_be():
    count = 0

    async def never_odd(variant):
        nonlocal count
        count += 1
        return None if variant[1] in {1, 3, 5, 7} else await hill(variant)

    scores, told = await bred(never_odd, due=lambda: count >= 5)
    assert count == 5
    assert len(scores) == len(told) < 9
    assert not {1, 3, 5, 7} & {b for _, b in scores}


def said(seq, time, *sources, kind=EntryKind.THOUGHT):
    refs = tuple(PerceptionRef(f"p-{seq}", time, source) for source in sources)
    return replace(entry(seq), time=time, perceptions=refs, kind=kind)


def test_a_moment_is_told_by_what_is_near_it_and_a_line_by_what_rests_on_it():
    entries = [said(1, NOON, "chat"), said(2, NOON + 300, "ops"), said(3, NOON + 900, "ops", kind=EntryKind.SEGUE)]
    moments = [MomentLabel(NOON + 50), MomentLabel(NOON + 400), MomentLabel(NOON + 900)]
    assert judged(entries, moments, 60) == pytest.approx(1 / 3)
    assert judged(entries, moments, 100) == pytest.approx(2 / 3)
    assert judged(entries, [MomentLabel(NOON, source="chat"), MomentLabel(NOON, source="ops")], 60) == 0.5
    assert judged([], moments, 60) == 0


def test_stories_count_once_and_what_is_not_useful_costs():
    entries = [said(1, NOON, "chat"), said(2, NOON + 300, "noise")]
    story = [MomentLabel(NOON, source="chat", story="van"), MomentLabel(NOON + 9, source="chat", story="van")]
    assert judged(entries, story, 60) == 1.0
    noise = MomentLabel(NOON + 300, useful=False, source="noise")
    assert judged(entries, [*story, noise], 60) == pytest.approx(2 / 3)  # all told, half of it useful
    assert judged(entries[:1], [*story, noise], 60) == 1.0
