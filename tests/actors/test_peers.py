"""The directory answers as a plain search over all peers would."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chance import Chance
from actors.peers import Peer, PeerDirectory
from tests.actors.making import unit

NAMES = [f"n{i}" for i in range(12)]
LISTENS = [True, False, False]


def peer(i, seed):
    return Peer(NAMES[i], LISTENS[seed % 4 % 3], "goal", unit(seed % 5))


steps = st.lists(st.tuples(st.booleans(), st.integers(0, 11), st.integers(0, 30)), max_size=40)
names = st.sets(st.sampled_from([*NAMES, "nobody"]))


@given(steps, st.integers(0, 9), st.integers(0, 14), names)
def test_whatever_came_and_went_it_lists_who_is_there(steps, seed, k, exclude):
    directory, known = PeerDirectory([peer(0, 0), peer(1, 1)]), {NAMES[0]: peer(0, 0), NAMES[1]: peer(1, 1)}
    for add, i, other in steps:
        if add:
            directory = directory.adding(peer(i, other))
            known[NAMES[i]] = peer(i, other)
        else:
            directory = directory.without(NAMES[i])
            known.pop(NAMES[i], None)
    assert [p.name for p in directory] == sorted(known)
    assert len(directory) == len(known)
    assert all((name in directory) == (name in known) and directory.get(name) == known.get(name) for name in NAMES)
    vector = unit(100 + seed)
    listening = [p for p in known.values() if p.listens and p.name not in exclude]
    best = sorted((round(float(p.vector @ vector), 4) for p in listening), reverse=True)[:k]
    found = directory.nearest(vector, k, exclude)
    assert [round(float(p.vector @ vector), 4) for p in found] == best
    assert len({p.name for p in found}) == len(found)
    assert {p.name for p in found} <= {p.name for p in listening}
    chance, again = Chance(seed, "x"), Chance(seed, "x")
    found = directory.stranger(chance, exclude)
    others = sorted(p.name for p in listening)
    assert (found and found.name) == (others[again.below(len(others))] if others else None)


def test_who_knows_the_same_shares_it_whichever_way_it_came_to_know():
    begun = PeerDirectory([peer(0, 0)])
    one = begun.adding(peer(3, 3)).adding(peer(4, 4))
    other = begun.adding(peer(4, 4)).adding(peer(5, 5)).adding(peer(3, 3)).without(NAMES[5])
    assert one is other
    assert one.adding(peer(3, 3)) is one
    assert one.without("nobody") is one


def test_nobody_learns_what_another_was_told():
    one = other = PeerDirectory([peer(0, 0), peer(3, 3)])
    one = one.adding(replace(peer(3, 3), vector=unit(77))).adding(peer(6, 0))
    assert one.nearest(unit(77), 1)[0].name == NAMES[3]
    assert (NAMES[6] in one, NAMES[6] in other) == (True, False)
    assert np.array_equal(other.get(NAMES[3]).vector, peer(3, 3).vector)


def test_of_many_all_are_drawn_alike():
    directory = PeerDirectory(Peer(name, True, "", unit(1)) for name in NAMES)
    chance = Chance(1, "x")
    drawn = [directory.stranger(chance, {"n3", "n7"}).name for _ in range(5000)]
    assert set(drawn) == set(NAMES) - {"n3", "n7"}
    assert all(drawn.count(name) == pytest.approx(500, rel=0.3) for name in set(drawn))


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 30), st.integers(-1, 11)), max_size=12),
    st.integers(0, 6),
    names,
)
def test_apart_are_the_best_of_each_line(made, k, exclude):
    """Lines of descent, in circles as well, for nobody here may hang."""
    known = {}
    for i, seed, parent in made:
        known[NAMES[i]] = replace(peer(i, 4 * seed), parent=NAMES[parent] if parent >= 0 else "")
    directory, vector = PeerDirectory(known.values()), unit(7)
    found = directory.apart(vector, k, exclude)
    lines = [directory.line(p.name) for p in found]
    closed = {directory.line(name) for name in exclude}
    assert len(set(lines)) == len(lines)
    assert not closed & set(lines)
    open_lines = {directory.line(name) for name in set(known) - exclude} - closed
    assert len(found) == min(k, len(open_lines))
    for one in found:
        rivals = [p for n, p in known.items() if directory.line(n) == directory.line(one.name) and n not in exclude]
        assert float(one.vector @ vector) >= max(float(p.vector @ vector) for p in rivals) - 1e-6


def test_a_line_goes_back_to_who_was_configured_as_far_as_all_are_listed():
    child, grandchild = Peer("b", True, "g", unit(1), "a"), Peer("c", True, "g", unit(1), "b")
    directory = PeerDirectory([Peer("a", True, "g", unit(1)), child, grandchild, Peer("d", True, "g", unit(1))])
    assert [directory.line(name) for name in "abcde"] == ["a", "a", "a", "d", "e"]
    directory = directory.without("b")
    assert directory.line("c") == "b"
