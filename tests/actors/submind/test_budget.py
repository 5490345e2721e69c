import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.submind.budget import Allowance

HOUR = 3600.0


def most_beyond(per_hour, granted):
    """The most that any span, from one of these times to another, has beyond its share."""
    most, before = 0.0, math.inf
    for n, at in enumerate(granted):
        share = per_hour * (at - granted[0]) / HOUR
        before = min(before, n - share)  # where the span that has the most begins, of those that end here
        most = max(most, n + 1 - share - before)
    return most


@given(st.floats(1, 1000), st.lists(st.floats(0, 600), min_size=1, max_size=200))
def test_no_span_grants_more_than_its_share_and_a_burst(per_hour, gaps):
    allowance = Allowance(per_hour)
    granted, now = [], 1e9
    for gap in gaps:
        now += gap
        while allowance.take(now):
            granted.append(now)
    assert most_beyond(per_hour, granted) <= max(1, per_hour / 4) + 1e-3


def test_in_the_long_run_it_grants_what_it_says():
    allowance = Allowance(60.0)
    granted = sum(allowance.take(float(second)) for second in range(int(10 * HOUR)))
    assert 600 <= granted <= 616


def test_looking_spends_nothing_and_time_does_not_run_back():
    allowance = Allowance(4.0, burst=1)
    assert all(allowance.ready(100.0) for _ in range(5))
    assert allowance.take(100.0)
    assert not allowance.take(100.0)
    assert not allowance.take(50.0)
    assert not allowance.take(100.0 + 899)
    assert allowance.take(100.0 + 901)


@pytest.mark.parametrize("seed", range(30))
def test_a_family_has_no_more_than_one_alone_however_it_divides_and_ends(seed):
    """What is divided is put by, asked for or refused, and comes back with who retires."""
    chance, now, whole = random.Random(seed), 0.0, 960.0
    family, grants = [(Allowance(whole), 1.0)], []
    for _ in range(400):
        now += chance.choice([0.0, 0.0, 0.5, 3.0, 60.0, 900.0])
        one, share = family.pop(chance.randrange(len(family)))
        match chance.choice(["take"] * 4 + ["divide", "refused", "retire"]):
            case "take":
                grants += [now for _ in range(chance.randint(1, 30)) if one.take(now)]
            case "divide" if share > 1 / 16:
                saved, child = one.put_by(0.5, now), Allowance(whole)
                grants += [now for _ in range(chance.randint(0, 3)) if one.take(now)]  # while it waits for the answer
                one.configure(whole * share / 2, now)
                child.configure(whole * share / 2, now)
                child.begin(saved, now)
                share /= 2
                family.append((child, share))
            case "refused":
                one.add(one.put_by(0.5, now), now)
            case "retire" if family:
                heir, has = family.pop(chance.randrange(len(family)))
                heir.configure(whole * (has + share), now)
                heir.add(one.put_by(1.0, now), now)
                family.append((heir, has + share))
                continue
        family.append((one, share))
        assert sum(share for _, share in family) == 1.0
    assert len(grants) > 100
    assert most_beyond(whole, grants) <= whole / 4 + 1e-6
