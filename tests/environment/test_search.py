"""Search finds by meaning what its filters let through."""

import pytest

from environment.index.shard import Shard
from environment.messages import Level, PerceptionRef, ThoughtKind, Trace
from environment.search import SearchFilters, search
from environment.severity import salience_of
from tests.environment.worlds import DIM, NOON, thought, unit

TRACES = [
    Trace(thought(0, vector=unit(1)), 1, Level(0.5, NOON, 1800.0), authors=("text",)),
    Trace(thought(1, vector=unit(1, 0.1)), 2, Level(0.9, NOON, 1800.0), authors=("text", "causes")),
    Trace(
        thought(2, vector=unit(1, 0.2), kind=ThoughtKind.INSIGHT, perceptions=(PerceptionRef("p-x", NOON, "feed"),)),
        1,
        Level(0.7, NOON, 1800.0),
        live=False,
        authors=("text",),
    ),
    Trace(thought(3, vector=unit(0, 1)), 1, Level(0.1, NOON, 1800.0), authors=("text",)),
]


def found(k: int = 10, now: float = NOON, **filters: object) -> list[int]:
    shard = Shard(DIM)
    held = {trace.id: trace for trace in TRACES}
    for trace in TRACES:
        shard.add(trace.id, trace.thought.vector)
    hits = search(shard, held, unit(1), k, SearchFilters(**filters), now)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [TRACES.index(hit.trace) for hit in hits]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [0, 1, 2, 3]),
        ({"k": 2}, [0, 1]),
        ({"k": 0}, []),
        ({"live_only": True}, [0, 1, 3]),
        ({"source": "feed"}, [2]),
        ({"source": "nobody"}, []),
        ({"author": "causes"}, [1]),
        ({"kind": ThoughtKind.INSIGHT}, [2]),
        ({"since": NOON + 1}, [1, 2, 3]),
        ({"until": NOON + 1}, [0]),
        ({"since": NOON + 1, "until": NOON + 2}, [1]),
        ({"min_salience": 0.4}, [0, 1, 2]),
        ({"min_salience": 0.4, "now": NOON + 1800}, [1]),
    ],
)
def test_a_filter_lets_through_what_it_says(filters, expected):
    assert found(**filters) == expected


def test_a_hit_says_how_salient_it_was_when_asked():
    shard = Shard(DIM)
    shard.add(TRACES[0].id, TRACES[0].thought.vector)
    (hit,) = search(shard, {TRACES[0].id: TRACES[0]}, unit(1), 3, SearchFilters(), NOON + 1800)
    assert hit.salience == pytest.approx(salience_of(0.25))
    assert hit.score == pytest.approx(1)


def told(number, text, score, *refs, level=0.5):
    refs = tuple(PerceptionRef(ref, NOON, "ops") for ref in refs)
    made = thought(number, vector=unit(1, score), text=text, author=f"a{number}", perceptions=refs)
    return Trace(made, 1, Level(level, NOON, 1800.0), authors=(made.author,))


def test_what_several_say_of_the_same_perceptions_is_one_hit():
    traces = [
        told(0, "warm", 0.0, "p-1", "p-2"),
        told(1, "warm", 0.0, "p-2", "p-1", level=0.9),
        told(2, "warm", 0.0, "p-3"),  # at another time
        told(3, "warm, and the door open", 0.1, "p-1", "p-2"),  # in other words
        told(4, "warm", 0.2, "p-1", "p-2", level=0.99),  # the same, but not as near
        told(5, "cold", 0.3, "p-4"),
    ]
    held = {trace.id: trace for trace in traces}
    shard = Shard(DIM)
    for trace in traces:
        shard.add(trace.id, trace.thought.vector)
    name = [trace.id for trace in traces]

    def found(k, **filters):
        hits = search(shard, held, unit(1), k, SearchFilters(**filters), NOON)
        return [(name.index(hit.trace.id), {name.index(other) for other in hit.also}) for hit in hits]

    every = found(10)
    assert sorted(every[:2]) == [(1, {0, 4}), (2, set())]
    assert every[2:] == [(3, set()), (5, set())]
    assert found(3) == every[:3]
    assert found(10, author="a4") == [(4, set())]


def test_as_many_are_found_as_are_asked_for_however_often_one_is_repeated():
    traces = [told(n, "warm", 0.0, "p-1") for n in range(200)] + [told(200 + n, str(n), 0.5, "p-1") for n in range(5)]
    held = {trace.id: trace for trace in traces}
    shard = Shard(DIM)
    for trace in traces:
        shard.add(trace.id, trace.thought.vector)
    hits = search(shard, held, unit(1), 3, SearchFilters(), NOON)
    assert [hit.trace.thought.text == "warm" for hit in hits] == [True, False, False]
    assert len({*hits[0].also, hits[0].trace.id}) == 200


def test_what_the_index_holds_and_nobody_knows_is_no_hit():
    shard = Shard(DIM)
    shard.add("t-gone", unit(1))
    assert search(shard, {}, unit(1), 3, SearchFilters(), NOON) == []
