"""What was perceived is found by words, meaning, time and person, each hit with its reasons."""

from datetime import UTC, datetime

import numpy as np
import pytest

from actors.substrate.embedding import WordLlamaEmbedder
from environment.episodes.index import EpisodeIndex
from environment.episodes.recall import Cue, RecallFilters, recall
from environment.identity import perception_id
from environment.messages import Perception

DAY = 86_400.0
NOON = datetime(2026, 8, 19, 12, tzinfo=UTC).timestamp()
EMBEDDER = WordLlamaEmbedder()
FILLER = [
    f"the {thing} was {done} again" for thing in ("gate", "sign", "lamp", "cart") for done in ("wet", "new", "red")
]


def kept(*lines):
    """Lines of (source, time, text) between others that are of nothing."""
    every = [("yard", NOON - 60 * DAY + n * 3600, text) for n, text in enumerate(FILLER)] + list(lines)
    index = EpisodeIndex(1000)
    index.add(
        Perception(source=source, time=time, received=time, text=text, id=perception_id(n), seq=n, trust=0.4)
        for n, (source, time, text) in enumerate(every, 1)
    )
    return index


def embedded(index, most):
    place, lacking = index.lacking(most)
    index.give(place, EMBEDDER.embed_now(lacking))
    return lacking


def ask(index, text, k=10, filters=None, *, meant=True):
    while meant and embedded(index, 5):
        pass
    cue = Cue.of(text, index, NOON)
    return recall(index, cue, EMBEDDER.embed_now([cue.gist])[0] if meant else None, k, filters)


def test_a_hit_tells_its_reasons_and_what_stands_around():
    talk = [(who, NOON - (15 - n) * DAY + at, "hello") for n in range(9) for who, at in (("ada", 0), ("ben", 20))]
    index = kept(
        *talk, ("ada", NOON - DAY, "did anybody order the pumps?"), ("ben", NOON - DAY + 20, "yes, from Norvane")
    )
    best, second = ask(index, "which pump did Ada order?")[:2]
    assert best.text == "did anybody order the pumps?"
    assert set(best.words) == {"pump", "Ada", "order"}
    assert best.who == "Ada"
    assert [one.text for one in best.around] == ["yes, from Norvane"]
    assert second.text == "yes, from Norvane"
    assert set(second.near) == {"pump", "order"}
    assert (second.who, second.trust) == ("", 0.4)


def test_what_has_none_of_the_words_is_found_by_its_meaning():
    index = kept(("ada", NOON - DAY, "the physician prescribed antibiotics"))
    assert ask(index, "doctor medicine")[0].text == "the physician prescribed antibiotics"
    assert ask(index, "doctor medicine")[0].meaning > 0.2
    assert ask(index, "doctor medicine", meant=False) == []


def test_the_time_that_is_asked_for_decides_between_equals():
    index = kept(("ada", NOON - DAY, "the valve stuck on Tuesday morning"), ("ada", NOON - 9 * DAY, "the valve stuck"))
    assert ask(index, "which valve stuck yesterday?")[0].perception.time == NOON - DAY
    best = ask(index, "which valve stuck on 10 August 2026?")[0]
    assert (best.perception.time, best.when) == (NOON - 9 * DAY, "10 August 2026")
    assert [one.perception.time for one in ask(index, "yesterday")] == [NOON - DAY]


def test_filters_hold_and_a_budget_bounds_what_is_told():
    index = kept(("ada", NOON - DAY, "the valve stuck"), ("ben", NOON - 2 * DAY, "the other valve leaks"))
    assert {one.perception.source for one in ask(index, "valve", filters=RecallFilters(source="ben"))} == {"ben"}
    assert [one.perception.source for one in ask(index, "valve", filters=RecallFilters(since=NOON - 1.5 * DAY))] == [
        "ada"
    ]
    assert [one.perception.source for one in ask(index, "valve", filters=RecallFilters(until=NOON - 1.5 * DAY))] == [
        "ben"
    ]
    told = ask(index, "valve", filters=RecallFilters(budget=20))
    assert sum(len(one.text) + sum(len(b.text) for b in one.around) for one in told) <= 20
    assert len(told) == 1
    told = ask(index, "leaks", filters=RecallFilters(budget=16))
    assert [one.text for one in told] == ["the other valve "]


def test_what_says_the_same_is_told_once():
    index = kept(*[("door", NOON - n * 3600, f"the door stood open for {n} minutes") for n in range(1, 30)])
    found = ask(index, "door open", k=3)
    assert [one.text.split(" for ")[0] for one in found].count("the door stood open") == 1
    assert found[0].also >= 3


def test_vectors_go_with_their_lines():
    index = EpisodeIndex(200)
    for n in range(1, 1001):
        text = f"line {n} of the {'zebra' if n == 950 else 'yard'}"
        index.add([Perception(source="a", time=60.0 * n, received=0.0, text=text, id=perception_id(n), seq=n)])
        if n % 7 == 0:
            embedded(index, 100)
    embedded(index, 100)
    index.forget(901)
    cosines = index.cosines(EMBEDDER.embed_now(["line 950 of the zebra"])[0])
    assert len(cosines) == len(index) == 100
    assert index.episode(int(np.argmax(cosines))).seq == 950
    assert cosines.max() == pytest.approx(1.0, abs=0.01)
    assert len(index._vectors) < 600


def test_an_empty_index_and_empty_words_find_nothing():
    assert ask(EpisodeIndex(5), "anything") == []
    assert ask(kept(), "???", meant=False) == []


def test_what_happened_is_a_time_before_or_after_which_things_were_said():
    index = EpisodeIndex(100)
    kinds = ("lids", "caps", "rings", "discs", "pins", "caps", "bolts", "hooks", "studs", "plugs")
    lines = [(n, f"press four makes {kind} as parts number {n}") for n, kind in enumerate(kinds)]
    lines.insert(5, (4.5, "there was an outage in the north hall"))
    given = [(NOON + at * 3600.0, text) for at, text in lines]
    index.add(Perception("desk", at, at, text, id=perception_id(n), seq=n) for n, (at, text) in enumerate(given, 1))

    def told(asked):
        hits = recall(index, Cue.of(asked, index, NOON + DAY), None, 5)
        return [hit.text for hit in hits if "press" in hit.text], {hit.when for hit in hits}

    found, why = told("how many parts did press four make after the outage in the hall?")
    assert set(found) <= {text for at, text in lines if at > 4.5}
    assert len(found) >= 4
    assert "after the outage in the hall" in why
    found, _ = told("how many parts did press four make before the outage in the hall?")
    assert set(found) <= {text for at, text in lines if at < 4.5}
    assert Cue.of("parts since the great fire of Aldingham", index, NOON).period is None
    assert Cue.of("parts after the outage last Tuesday", index, NOON).period.event == ""
