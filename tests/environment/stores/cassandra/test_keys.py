"""Hashes of keys, and a filter that never says of a known key that it is new."""

import random

import pytest

from environment.stores.cassandra.log.keys import KEY, NO_KEY, SEGMENT, SEGMENT_BYTES, KeyFilter, each_key, hash_keys


def hashes(*numbers):
    return hash_keys("m", ["s"] * len(numbers), [str(n) for n in numbers])


def test_no_key_has_no_hash():
    assert hash_keys("m", ["s", "s"], [None, None]) == b""
    first, second = each_key(hash_keys("m", ["s", "s"], [None, "k"]))
    assert first == NO_KEY != second


def test_what_was_put_in_is_never_called_new_and_little_else_is_called_known():
    known = KeyFilter(8)
    known.begin(5)
    known.extend(hashes(*range(100_000)), 100_000)
    assert (known.first, known.last) == (6, 100_005)
    assert known.maybe(hashes(*range(100_000))).all()
    assert known.maybe(hashes(*range(200_000, 300_000))).mean() < 0.001


def test_a_full_segment_errs_as_seldom_as_it_says():
    known = KeyFilter(1)
    known.begin(0)
    drawn = random.Random(3)
    known.extend(drawn.randbytes((SEGMENT - 1) * KEY), SEGMENT - 1)
    assert len(known) == 1
    assert known.maybe(drawn.randbytes(200_000 * KEY)).mean() < 1 / 1500
    assert SEGMENT_BYTES == 2 << 20


def test_the_filter_holds_what_follows_and_what_precedes_its_beginning():
    known = KeyFilter(4)
    known.begin(3 * 1024 - 1)
    assert not known.holds(0)
    assert known.holds(3 * 1024 - 1)
    known.extend(hashes(7), 1)
    assert known.precede(2 * 1024, hashes(1, 2))
    assert known.precede(1024, b"")
    assert not known.holds(0)
    assert known.holds(1023)
    assert known.precede(1, hashes(3))
    assert known.holds(0)
    assert known.maybe(hashes(1, 2, 3, 7)).all()


@pytest.mark.parametrize("room", [0, 1, 2])
def test_memory_is_bounded_and_the_oldest_go(room):
    known = KeyFilter(room)
    known.begin(SEGMENT - 11)
    known.extend(hashes(*range(20)), 20)
    most = max(1, room)
    assert len(known) == min(2, most)
    assert known.first == (SEGMENT if most == 1 else SEGMENT - 10)
    assert known.maybe(hashes(*range(10, 20))).all()
    assert known.precede(SEGMENT - 1024, hashes(50)) == (most > 1)
    known.extend(b"", 2 * SEGMENT)
    assert len(known) == most
    assert known.holds(known.last - (most - 1) * SEGMENT - 10)
    assert not known.holds(0)


def test_what_is_forgotten_leaves_memory():
    known = KeyFilter(4)
    known.begin(0)
    known.extend(b"", 2 * SEGMENT + 5)
    assert len(known) == 3
    known.drop(SEGMENT - 1)
    assert len(known) == 3
    known.drop(SEGMENT)
    assert len(known) == 2
    assert known.holds(SEGMENT)
