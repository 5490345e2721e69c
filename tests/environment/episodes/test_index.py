"""What was perceived is found by its words, within a bound."""

import numpy as np

from environment.episodes.index import EpisodeIndex
from environment.episodes.recall import Cue, recall
from environment.episodes.words import stems
from environment.identity import perception_id
from environment.messages import Perception


def line(seq, text, source="chat", time=None):
    at = 60.0 * seq if time is None else time
    return Perception(source=source, time=at, received=at, text=text, id=perception_id(seq), seq=seq)


def found(index, *terms):
    return [match.episode.text for match in index.find({stem: 1.0 for term in terms for stem in stems(term)})]


def test_other_forms_of_a_word_and_other_spellings_are_found():
    index = EpisodeIndex(10)
    index.add([line(1, "muting the cold-store pager"), line(2, "lunch"), line(3, "unit kr4410 ordered", "parts")])
    assert found(index, "muted")[0] == found(index, "coldstore")[0] == "muting the cold-store pager"
    assert found(index, "4410")[0] == "unit kr4410 ordered"


def test_what_was_said_beside_it_helps_to_find_a_line():
    index = EpisodeIndex(10)
    index.add([line(1, "the boiler hums"), line(2, "it was a valve"), line(3, "late word", time=10_000.0)])
    assert found(index, "boiler") == ["the boiler hums", "it was a valve"]
    assert "late word" not in found(index, "valve")


def test_two_sides_of_a_conversation_are_read_as_one_and_machines_that_talk_meanwhile_are_not():
    index, clock = EpisodeIndex(10_000), 0.0
    lines = []
    for turn in range(40):  # every half hour two people speak; a machine logs each minute
        clock = 1800.0 * turn
        lines += [("ada", clock + 10, f"question {turn}"), ("ben", clock + 30, f"reply {turn}")]
    lines += [("ci", 60.0 * minute, f"build {minute} passed") for minute in range(40 * 30)]
    lines += [("web", 60.0 * minute + 20, f"request {minute} served") for minute in range(40 * 30)]
    lines += [("ada", clock + 3600, "where is the zebra?"), ("ci", clock + 3610, "build passed")]
    lines += [("ben", clock + 3620, "in the shed")]
    index.add(line(n, text, source, at) for n, (source, at, text) in enumerate(sorted(lines, key=lambda x: x[1]), 1))
    assert found(index, "zebra") == ["where is the zebra?", "in the shed"]


def test_it_is_bounded_and_forgets_what_the_log_forgot():
    index = EpisodeIndex(100)
    index.add(line(seq, f"order number {seq}") for seq in range(1, 1001))
    assert len(index) == 100
    assert not index.knows("900")
    assert found(index, "901")[0] == "order number 901"
    assert sum(len(held) for held in index._words.values()) < 3 * (100 + 64 + 100)
    index.forget(1000)
    assert found(index, "order") == ["order number 1000"]
    index.add([line(3, "an old one again")])
    assert len(index) == 1


def test_of_what_is_alike_the_first_the_last_and_the_number_stay_and_what_was_said_once_outlives_it():
    index = EpisodeIndex(200)
    for seq in range(1, 2001):
        once = f"the {'ab'[seq % 40 == 0]}{chr(97 + seq // 80)} key hangs by the door"
        index.add([line(seq, f"disk {seq} is {seq % 97}% full" if seq % 40 else once, "ops")])
        place, lacking = index.lacking(9)
        index.give(place, np.array([[1.0, len(text)] for text in lacking], np.float32))
    kept = [index.episode(row) for row in range(len(index))]
    assert (len(kept) <= 200, len(found(index, "key"))) == (True, 50)
    assert [one.seq for one in kept[-50:]] == [*range(1951, 2001)], "the last quarter is whole"
    lengths = index.cosines(np.array([0.0, 1.0], np.float32))
    assert np.abs(lengths - [len(one.text) for one in kept]).max() < 1
    (hit,) = recall(index, Cue.of("disk 1999", index, 9e9), None, 1)
    assert (hit.text, hit.counted) == ("disk 1999 is 59% full", 2000 - len(kept))
