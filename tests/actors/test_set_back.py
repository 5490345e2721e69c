"""A machine was hours ahead, years perhaps, for the time of one thought; then its clock was set right."""

import random
from dataclasses import replace

import pytest

from actors.attention.core import AttentionCore
from actors.attention.pacing import RatePace
from actors.attention.settings import AttentionSettings
from actors.chance import Chance
from actors.effects import Commit, Send
from actors.environment.core import EnvironmentCore
from actors.events import Conscious, Observation, Observed, Post, Salient, Started, Tick
from actors.growth import GrowthRefused, Pressure
from actors.metacognition.control import ControlCore
from actors.metacognition.settings import MetacognitionSettings
from actors.peers import PeerDirectory
from actors.settings import ConnectionSettings, ShellSettings
from actors.shell import ActorShell
from actors.snapshots import pack, unpack
from actors.submind.budget import Allowance
from actors.submind.connection_registry import ConnectionRegistry, SavedConnections
from actors.submind.load import LoadState
from actors.substrate.budget import DAY, HOUR, Ledger, Limits
from actors.substrate.errors import BudgetSpent
from environment.clocks import ClockSetBack, redated
from environment.index.shard import Shard
from environment.messages import ChangeKind, Perception
from environment.salience import at as level_at
from environment.settings import EnvironmentSettings
from environment.subliminal import SubliminalEnvironment
from tests.actors.making import DIM, thought, trace, unit
from tests.actors.shells import Plain
from tests.actors.submind.submind_growth import fed, pressed, submind

NOW = 1_800_000_000.0
AHEAD = [8 * HOUR, 365 * DAY]
ahead = pytest.mark.parametrize("ahead", AHEAD)


@ahead
def test_what_was_spent_counts_as_long_as_it_would_and_no_longer(ahead):
    ledger = Ledger(Limits(tokens_per_hour=100))
    ledger.hold(60, 0, NOW + ahead - 1800)
    ledger.hold(40, 0, NOW + ahead)
    later = Ledger(Limits(tokens_per_hour=100))
    later.restore(ledger.snapshot())
    with pytest.raises(BudgetSpent):
        later.hold(60, 0, NOW)
    with pytest.raises(BudgetSpent):
        later.hold(60, 0, NOW + 1799)
    later.hold(60, 0, NOW + 1800 + 120)
    with pytest.raises(BudgetSpent):
        later.hold(40, 0, NOW + 3599)
    later.hold(40, 0, NOW + 3600 + 120)


@ahead
def test_a_ledger_that_is_taken_over_is_dated_as_well(ahead):
    gone, heir = Ledger(Limits(tokens_per_hour=100)), Ledger(Limits(tokens_per_hour=100))
    gone.hold(70, 0, NOW + ahead)
    heir.absorb("gone", gone.snapshot(), NOW)
    with pytest.raises(BudgetSpent):
        heir.hold(40, 0, NOW + 3599)
    heir.hold(40, 0, NOW + 3600 + 120)


def again(core, reborn):
    """The next life of a core, in which it is ``NOW``."""
    reborn.restore(redated(core.snapshot(), core.saved, NOW))
    return reborn


def attention() -> AttentionCore:
    settings = AttentionSettings(per_hour=6, hold=30)
    return AttentionCore("attention", DIM, RatePace(6, 24, 500), Allowance(12.0), PeerDirectory(), [], settings)


def lived(core, start, count, seed, apart=60.0):
    """What becomes conscious of so many traces, one a minute."""
    chance, found, offered = random.Random(seed), [], set()
    for n in range(count):
        now = start + n * apart
        held = trace(time=now, salience=chance.random() * 0.8, vector=unit(seed * 1000 + n))
        offered.add(held.id)
        effects = [*core.handle(Salient((held,)), now), *core.handle(Tick(), now + 40.0)]
        sent = [effect.event for effect in effects if isinstance(effect, Send)]
        found += [event.candidate.focus.id for event in sent if isinstance(event, Conscious)]
    return offered & set(found)


@ahead
def test_attention_does_not_fall_silent(ahead):
    usual = attention()
    expected = len(lived(usual, NOW, 600, 1))
    core = attention()
    lived(core, NOW + ahead, 600, 2)
    core.handle(Salient((trace(time=NOW + ahead + 36_000, salience=0.84),)), NOW + ahead + 36_000)  # and is held
    reborn = again(core, attention())
    assert len(lived(reborn, NOW, 600, 1)) >= 0.8 * expected


@ahead
def test_traces_evaporate_and_are_swept(ahead):
    settings = EnvironmentSettings()

    def born() -> tuple[SubliminalEnvironment, EnvironmentCore]:
        environment = SubliminalEnvironment(settings, Shard(DIM))
        return environment, EnvironmentCore("environment", environment, settings, Chance(1, "environment"))

    environment, core = born()
    core.handle(Started(), NOW + ahead)
    core.handle(Post("text", (thought(salience=0.8, time=NOW + ahead),)), NOW + ahead)
    (left,) = environment.live()
    environment, core = born()
    environment.load([left])
    effects = core.handle(Started(), NOW)
    (held,) = environment.live()
    assert level_at(held.level, NOW + settings.half_life.percept) == pytest.approx(0.4)
    assert [e.write.level for e in effects if isinstance(e, Commit)] == [held.level], "and the store knows"
    core.handle(Tick(), NOW + 2 * DAY)
    assert not len(environment)


@ahead
def test_connections_fade_and_uses_expire_as_they_would_have(ahead):
    settings = ConnectionSettings(half_life=DAY, credit_window=1800.0)
    weights = []
    for began in (NOW + ahead, NOW):
        registry, reborn = ConnectionRegistry("own", settings), ConnectionRegistry("own", settings)
        registry.open("t", "topic", "idle", began, "test")
        registry.open("t", "topic", "used", began, "test")
        registry.use("t", "used", began)
        reborn.load(unpack(redated(pack(registry.dump()), SavedConnections, NOW), SavedConnections))
        for later in (5.0, 1799.0, 1801.0, DAY):
            reborn.tend(NOW + later)
        weights.append({link.peer: link.weight for link in reborn.peers("t")})
        _, _, changes = reborn.drain()
        assert [each.at for each in changes if each.kind is ChangeKind.UNREWARDED] == [NOW + 1801.0]
    assert weights[0] == pytest.approx(weights[1], rel=1e-3)


@ahead
def test_a_submind_divides_no_later_than_it_would_have(ahead):
    core = submind()
    division, at = pressed(core, fed(core, NOW + ahead))
    core.handle(GrowthRefused(division.growth, "ceiling", at + 60.0), at)
    core.handle(Pressure(0.9, 0), at + 15.0)
    core = again(core, submind())
    other, then = pressed(core, NOW, seconds=120.0)
    assert other is not None
    assert then == NOW + 15.0 + 45.0, "since it looked: it was refused for a minute, of which a quarter had passed"


@ahead
def test_only_what_lies_ahead_is_dated_anew(ahead):
    core = ControlCore("control", "care", MetacognitionSettings())
    core.handle(Observed(Observation.LOOP, over=False, reason="so"), NOW - 10)
    assert redated(core.snapshot(), core.saved, NOW) == core.snapshot()
    assert redated(core.snapshot(), core.saved, NOW - 500) == core.snapshot(), "clocks of two machines differ by that"
    load = LoadState(NOW - 50, NOW + ahead + 90, 1, NOW + ahead, {"t": (1.0, NOW + ahead - 30)}, NOW + 20)
    anew = unpack(redated(pack(load), LoadState, NOW), LoadState)
    assert anew == LoadState(NOW - 50, NOW + 90, 1, NOW, {"t": (1.0, NOW - 30)}, NOW + 20 - ahead)


@ahead
async def test_a_life_ends_when_the_clock_is_set_back_for_long(ahead):
    shell = ActorShell(Plain(), None, None, ShellSettings(), embedder=None)
    shell.offer(Started(), 1.0, NOW + ahead)
    shell._vitals_at = float("inf")  # nobody is told
    await shell.step(NOW + ahead)
    await shell.step(NOW + ahead - 500)
    with pytest.raises(ClockSetBack, match=f"set back by {ahead:.0f} s"):
        await shell.step(NOW)


@ahead
async def test_what_was_received_by_the_wrong_clock_is_perceived_now(ahead):
    shell = ActorShell(Plain(), None, None, ShellSettings(), embedder=None)
    shell._vitals_at = float("inf")
    told = Perception(source="a", time=NOW + ahead - 60, received=NOW + ahead, text="so", id="p-1", seq=1)
    await shell.perceive([told, replace(told, time=NOW + 9, received=NOW)], NOW)
    ((_, heard),) = shell.core.told
    assert [(each.time, each.received) for each in heard.perceptions] == [(NOW - 60, NOW), (NOW + 9, NOW)]
