"""An index that was kept in a file is the same index."""

import random

import numpy as np

from environment.episodes.index import Episode, EpisodeIndex
from environment.episodes.kept import IndexStamp, load, save
from environment.episodes.recall import Cue, recall
from tests.environment.episodes.test_index import line

STAMP = IndexStamp(500, ("ops*",), 2, 700, 12.5, 8)


def grown(index, first, last):
    chance = random.Random(first)
    for seq in range(first, last):
        words = " ".join(f"word{chr(97 + chance.randrange(26))}" for _ in range(8))
        index.add([line(seq, words, chance.choice(["ada", "ben", "ci"]), 9.0 * seq)])
    place, lacking = index.lacking(1000)
    index.give(place, np.array([[len(set(text)), *map(ord, (text * 8)[:7])] for text in lacking], np.float32))
    return index


def told(index, text):
    return recall(index, Cue.of(text, index, 9000.0), np.ones(8, np.float32), 10)


def test_it_goes_on_as_if_nothing_had_been(tmp_path):
    section, file = Episode(0, 0.0, "book", "gates stick", 0.9, id="d-1"), tmp_path / "episodes.index"
    index = grown(EpisodeIndex(500), 1, 700)
    index.pin({section.id: section})
    save(index, STAMP, file)
    (stamp, again), (_, words) = load(file, 500, 8), load(file, 500, 0)
    assert stamp == STAMP
    for first in (701, 800):
        assert told(again, "worda wordb ada") == told(index, "worda wordb ada") != []
        grown(again, first, first + 99)
        grown(index, first, first + 99)
    assert "gates stick" in [one.text for one in told(again, "gates")]
    again.pin({})
    assert "gates stick" not in [one.text for one in told(again, "gates")]
    assert len(words.lacking(1000)[1]) == len(words)


def test_what_is_broken_or_not_there_is_none(tmp_path):
    file = tmp_path / "episodes.index"
    assert load(file, 500, 8) is None
    save(grown(EpisodeIndex(500), 1, 400), STAMP, file)
    assert file.stat().st_mode & 0o77 == 0
    whole = file.read_bytes()
    for broken in (whole[:-200], whole[:9000] + b"\0" * 64 + whole[9064:], b""):
        file.write_bytes(broken)
        assert load(file, 500, 8) is None
