"""What is unexpected where it comes from, against what p-values and rates are known to be."""

import math
import random

import pytest

from actors.perception.severity import CRITICAL, DEBUG, EMERGENCY, ERROR, WARNING, severity
from actors.perception.surprise import Surprise, Tempo


def test_a_p_value_is_as_rare_as_it_says():
    chance = random.Random(1)
    kind = Surprise(memory=5000, sources=10)
    found = []
    for _ in range(6000):
        step = min(31, int(chance.expovariate(0.3)))
        found.append(kind.of("log", step))
        kind.learn("log", step)
    for p in (0.1, 0.02):
        share = sum(nats >= -math.log(p) for nats in found[1000:]) / 5000
        assert 0.3 * p < share < 1.3 * p


def test_who_knows_nothing_is_not_surprised_but_by_what_it_was_told():
    assert Surprise(100, 10).of("log", 31) == 0.0
    assert Surprise(100, 10).of("log", 31, prior=0.01) == pytest.approx(-math.log(0.01))


def test_a_source_is_compared_with_itself_and_a_new_one_with_all():
    kind = Surprise(5000, 10)
    kind.learn("quiet", 0, 500)
    kind.learn("loud", 20, 500)
    assert kind.of("quiet", 20) > 2.5
    assert kind.of("loud", 20) < 0.1
    assert 0.5 < kind.of("new", 20) < 1.0


def test_memory_fades_and_unused_sources_go_first():
    kind = Surprise(memory=64, sources=3)
    for i in range(10):
        kind.learn(f"s{i}", 1)
    assert len(kind.dump()[1]) == 3
    kind.learn("s9", 0, 1000)
    kind.learn("s9", 30, 200)
    assert kind.of("s9", 30) < 0.5


def test_tempo_is_how_much_more_is_said_than_usual():
    tempo = Tempo()
    usual = [tempo.take(10.0, 60.0 * i) for i in range(60)]
    assert max(map(abs, usual[5:])) < 0.3
    burst = [tempo.take(30.0, 3600.0 + 10 * i) for i in range(6)]
    assert burst[-1] > 1.2
    later = [tempo.take(10.0, 4000.0 + 60.0 * i) for i in range(60)]
    assert abs(later[-1]) < 0.3


def test_a_clock_that_was_years_ahead_leaves_no_usual_behind():
    tempo = Tempo()
    for i in range(10):
        tempo.take(10.0, 4e9 + 60.0 * i)
    assert [tempo.take(10.0, 60.0 * i) for i in range(10)][-1] < 0.5


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("<0>1 2026-03-04T04:53:43Z db kernel - - - machine check", EMERGENCY),
        ("<2>1 2026-03-04T04:53:43Z db kernel - - - I/O error", CRITICAL),
        ("<30>1 2026-03-04T04:53:43Z db systemd 1 - - Started. ERROR log opened", DEBUG),
        ("E0304 04:53:43.1 1 oom.go:269] System OOM encountered", ERROR),
        ("I0304 04:53:43.1 1 a.go:1] no error", DEBUG),
        ('{"ts":1,"level":"fatal","msg":"x"}', EMERGENCY),
        ("time=1 level=warning msg=slow", WARNING),
        ('10.0.0.1 - - [x] "POST /checkout HTTP/1.1" 502 157', ERROR),
        ('10.0.0.1 - - [x] "GET /error HTTP/1.1" 404 157', DEBUG),
        ("2026-03-04 05:03:23 UTC [3365] PANIC:  could not write", EMERGENCY),
        ("2026/03/04 05:03:23 [crit] 7#7: open() failed", CRITICAL),
        ("we panic about the error rate", DEBUG),
        ("", DEBUG),
    ],
)
def test_a_line_declares_how_severe_it_is(text, level):
    assert severity(text) == level
