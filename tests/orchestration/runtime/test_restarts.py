"""When an actor is brought back, and when no more."""

import random

from hypothesis import given
from hypothesis import strategies as st

from orchestration.runtime.settings import SupervisionSettings
from orchestration.runtime.worker.restarts import RestartPolicy

SETTINGS = SupervisionSettings(deaths=3, singleton_deaths=7, window=60)


def policy(**more):
    return RestartPolicy(SETTINGS, random.Random(1), **more)


def test_it_is_given_up_after_too_many_deaths_and_the_reason_says_so():
    one = policy()
    verdicts = [one.died(float(at), "boom") for at in range(4)]
    assert [verdict.again for verdict in verdicts] == [True, True, True, False]
    assert verdicts[-1].reason == "died 4 times within 60 s, the last time of: boom"
    assert one.restarts == 3


def test_a_singleton_has_more_lives():
    one = policy(essential=True)
    assert [one.died(float(at), "boom").again for at in range(8)].count(True) == 7


@given(st.lists(st.floats(20.1, 1e4), max_size=40))
def test_one_that_dies_seldom_lives_for_ever(gaps):
    one, now = policy(), 0.0
    for gap in gaps:
        now += gap
        assert one.died(now, "boom").again


def test_pauses_grow_with_recent_deaths_and_are_forgotten():
    one = RestartPolicy(SupervisionSettings(deaths=20, backoff=0.2, backoff_most=5), random.Random(1))
    pauses = [one.died(float(at), "boom").after for at in range(10)]
    assert pauses[0] <= 0.2
    assert 2.5 <= pauses[-1] <= 5.0
    assert one.died(1000.0, "boom").after <= 0.2
