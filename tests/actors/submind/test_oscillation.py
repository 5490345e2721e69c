"""Divide, merge, divide: an adversary that wants it gets it less and less often."""

import itertools

from actors.effects import Retire
from actors.events import Tick
from actors.growth import Divided, Inherited
from actors.settings import ApoptosisSettings, CognitiveSettings, DivisionSettings
from actors.submind.newborn import first_state
from tests.actors.submind.submind_growth import fed, pressed, submind

DAYS = 86400.0


def oscillated(damping: float, days: float) -> list[float]:
    """When a submind divided whose load is high just when it is alone, and whose child never hears anything."""
    settings = CognitiveSettings(
        division=DivisionSettings(sustained=60.0, cooldown=1800.0, damping=damping),
        apoptosis=ApoptosisSettings(idle_for=6 * 3600.0),
    )
    core, now, times, born = submind(settings=settings), 0.0, [], 0
    while now < days * DAYS:
        now = fed(core, now, 32)
        proposal, now = pressed(core, now, seconds=120)
        if proposal is None:
            now += 300
            continue
        born += 1
        times.append(now)
        name = f"own-{born}"
        child = submind(name, settings=settings, goals=list(proposal.handover.goals))
        child.restore(first_state(name, proposal.handover, settings, now))
        core.handle(Divided(proposal.growth, name, tuple(t.key for t in proposal.handover.topics), 0.5), now)
        ends: list[Retire] = []
        while not ends and now < days * DAYS:
            now += 1800
            ends = [e for e in child.handle(Tick(), now) if isinstance(e, Retire)]
        if ends:
            core.handle(Inherited(name, ends[0].handover, 1.0), now)
    return times


def test_an_adversary_is_damped():
    days = 8
    undamped, damped = oscillated(1.0, days), oscillated(2.0, days)
    assert len(undamped) > 3 * days, "undamped it goes on at the same pace"
    assert len(damped) <= 6
    gaps = [b - a for a, b in itertools.pairwise(damped)]
    assert all(later > 1.7 * earlier for earlier, later in itertools.pairwise(gaps))
