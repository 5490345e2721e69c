"""A flood competes with itself: what it would drown is judged as if it had not come."""

import random

import msgspec
import pytest

from actors.attention.contest import Loudness
from actors.attention.core import AttentionCore
from actors.attention.pacing import RatePace
from actors.attention.settings import AttentionSettings
from actors.events import Salient, Tick
from actors.peers import PeerDirectory
from actors.submind.budget import Allowance
from environment.erasure import Redactor, ScopeKind, ScopeMatcher, scope_of
from tests.actors.attention.test_attention import handed
from tests.actors.making import DIM, trace, unit


def attention(pace=None):
    settings = AttentionSettings(bind=0)
    ceiling = None if pace else Allowance(settings.ceiling_per_hour, settings.ceiling_burst)
    pace = pace or RatePace(settings.per_hour, settings.horizon, settings.memory)
    return AttentionCore("attention", DIM, pace, ceiling, PeerDirectory(), [], settings)


def said(source, at, salience):
    return trace(time=at, salience=salience, vector=unit(int(at * 100)), source=source)


def flood(core, begins, seconds, apart=0.5):
    """One source says a lot, most of it the same, and all more salient than what others say; what became conscious."""
    found, chance = [], random.Random(begins)
    for number in range(int(seconds / apart)):
        at = begins + number * apart
        found += handed(
            core.handle(Salient((said("printer", at, 0.7 + 0.2 * chance.random()),), sources={"printer": 500}), at)
        )
    return found


def sources(candidates):
    return {one.focus.thought.perceptions[0].source for one in candidates}


@pytest.mark.parametrize("before", [20.0, 4000.0])
def test_a_source_that_a_flood_drowns_is_heard_though_the_flood_is_more_salient(before):
    core = attention()
    flood(core, 0.0, before)
    core.handle(Salient((said("hall", before, 0.6),)), before)
    assert "hall" in sources(flood(core, before, 600.0))


def test_the_ceiling_holds_for_all_of_them_together():
    core, hours = attention(), 2.0
    found = []
    for number in range(int(hours * 360)):
        at = number * 10.0
        found += flood(core, at, 5.0)
        found += handed(core.handle(Salient((said(f"s{number}", at + 5, 0.6),)), at + 5))
    assert len(found) <= AttentionSettings().ceiling_per_hour * hours + AttentionSettings().ceiling_burst
    assert {"printer"} < sources(found)


def test_the_strongest_waits_for_room_though_a_weaker_one_comes():
    core = attention()
    flood(core, 0.0, 20.0)
    core._ceiling.left = 0.0
    core.handle(Salient((said("hall", 20.0, 0.99),)), 20.0)
    core.handle(Salient((said("yard", 30.0, 0.6),)), 30.0)
    told = [one for at in range(100, 700, 10) for one in handed(core.handle(Tick(), float(at)))]
    assert sources(told) & {"hall", "yard"} == {"hall"}


def test_what_waits_for_room_survives_a_crash():
    core = attention()
    flood(core, 0.0, 20.0)
    core._ceiling.left = 0.0
    core.handle(Salient((said("hall", 20.0, 0.6),)), 20.0)
    assert "hall" not in sources(handed(core.handle(Tick(), 90.0)))
    born = attention()
    born.restore(core.snapshot())
    told = [one for at in range(100, 700, 10) for one in handed(born.handle(Tick(), float(at)))]
    assert "hall" in sources(told)


def test_nobody_is_drowned_by_few_or_by_equals():
    loudness = Loudness()
    loudness.hear("chat", 999)
    assert not loudness.drowns("hall")
    loudness.hear("chat")
    assert loudness.drowns("hall")
    loudness.hear("hall", 11)
    assert not loudness.drowns("hall")
    loudness.hear("people", 500)
    assert not loudness.drowns("somebody"), "a third of all is no flood"


def test_several_floods_drown_as_one_does_and_pass():
    loudness = Loudness()
    for number in range(100_000):
        loudness.hear(f"printer {number % 4}")
    assert loudness.drowns("hall")
    assert not loudness.drowns("printer 1")
    for number in range(20_000):
        loudness.hear(f"chat {number % 50}")
    assert not loudness.drowns("hall")
    again = Loudness()
    again.load(loudness.dump())
    assert again.dump() == loudness.dump()


def test_what_is_forgotten_goes_out_of_a_contest_that_stays():
    scope = scope_of(ScopeKind.PERSON, ["Quorvex"], "salt")
    for text, stays in (("Quorvex: the pump is dry", 0), ("Ann: the pump is dry", 1)):
        core, held = attention(), trace(text=text, salience=0.9)
        core.handle(Salient((held,)), 0.0)
        cleaned, _ = Redactor(ScopeMatcher(scope), set()).clean(msgspec.msgpack.decode(core.snapshot()))
        assert sorted(len(one["held"]) for one in cleaned["contests"]) == [0, stays]
        attention().restore(msgspec.msgpack.encode(cleaned))
