"""When a shell wants to be woken for its core, and by when it has to be."""

from actors.effects import WakeAt
from actors.events import Started, Tick
from actors.settings import CognitiveSettings, ShellSettings
from actors.shell import ActorShell
from tests.actors.shells import Plain
from tests.actors.submind.submind_growth import submind


class Once(Plain):
    """Wants to be woken, and no more once it was."""

    def handle(self, event, now):
        wishes = super().handle(event, now)
        return [] if isinstance(event, Tick) else wishes


def woken(core):
    return [now for now, event in core.told if isinstance(event, Tick)]


async def test_of_several_wake_ups_none_comes_later_than_it_may():
    core = Once(WakeAt(10.0, 5.0), WakeAt(12.0), WakeAt(11.0, 0.5))
    shell = ActorShell(core, None, None, ShellSettings(vitals_every=1e9), embedder=None)
    shell.offer(Started(), 1.0, 0.0)
    await shell.step(0.0)
    assert (shell.wake_at, shell.wake_by) == (10.0, 11.5)
    await shell.step(9.9)
    assert not woken(core)
    await shell.step(10.4)
    assert woken(core) == [10.4]
    assert (shell.wake_at, shell.wake_by) == (None, None)


def test_a_submind_has_time_to_wander():
    settings = CognitiveSettings(wander_every=900.0, wander_leeway=4.0)
    wakes = [
        next(effect for effect in submind(f"s{n}", settings).handle(Started(), 0.0) if isinstance(effect, WakeAt))
        for n in range(900)
    ]
    assert {wake.leeway for wake in wakes} == {4.0}
    together = [sum(at <= wake.at < at + 4.0 for wake in wakes) for at in range(0, 900, 4)]
    assert max(together) < 20, "thousands that begin together do not wander together"
