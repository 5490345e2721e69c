"""A machine was hours ahead, years perhaps, for the time of one thought; then its clock was set right."""

from __future__ import annotations

import random

import pytest

from actors.attention.core import AttentionCore
from actors.attention.pacing import RatePace
from actors.attention.settings import AttentionSettings
from actors.chance import Chance
from actors.core import Description, Inward
from actors.effects import Commit, Send, WakeAt
from actors.environment.core import EnvironmentCore
from actors.events import Conscious, Crawl, Observation, Observed, Post, Propose, Salient, Started, Tick
from actors.growth import GrowthRefused, Pressure
from actors.metacognition.control import ControlCore
from actors.metacognition.settings import MetacognitionSettings
from actors.peers import PeerDirectory
from actors.settings import ApoptosisSettings, CognitiveSettings, ConnectionSettings, DivisionSettings, ShellSettings
from actors.shell import ActorShell
from actors.stream.core import StreamCore
from actors.stream.settings import StreamSettings
from actors.submind.apoptosis import Apoptosis
from actors.submind.budget import Allowance
from actors.submind.connection_registry import ConnectionRegistry
from actors.submind.load import Load
from actors.submind.retransmit import RetransmitBuffer
from actors.substrate.budget import DAY, HOUR, Ledger, Limits
from actors.substrate.errors import BudgetSpent
from environment.index.shard import Shard
from environment.messages import ChangeKind
from environment.ports import WriteEntries
from environment.salience import at as level_at
from environment.settings import EnvironmentSettings
from environment.subliminal import SubliminalEnvironment
from tests.actors.making import DIM, thought, trace, unit
from tests.actors.stream.test_stream import candidate
from tests.actors.submind.submind_growth import fed, pressed, submind

NOW = 1_800_000_000.0
AHEAD = [8 * HOUR, 365 * DAY]
ahead = pytest.mark.parametrize("ahead", AHEAD)


@ahead
def test_an_allowance_goes_on_from_there(ahead):
    allowance = Allowance(4.0, burst=1)
    assert allowance.take(NOW + ahead)
    assert not allowance.take(NOW), "what was spent stays spent"
    assert not allowance.take(NOW + 899)
    assert allowance.take(NOW + 901)


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
    reborn = attention()
    reborn.restore(core.snapshot())
    assert len(lived(reborn, NOW, 600, 1)) >= 0.8 * expected


@ahead
def test_the_stream_waits_for_no_thought_of_those_years(ahead):
    stream = StreamCore("stream", DIM, [], StreamSettings(reorder=5.0, segue_below=-1.0))
    stream.handle(Conscious(candidate(10.0)), NOW + ahead)
    written = [e for e in stream.handle(Tick(), NOW) if isinstance(e, Commit) and isinstance(e.write, WriteEntries)]
    assert len(written) == 1


@ahead
def test_a_post_is_repeated_and_control_proposes(ahead):
    buffer = RetransmitBuffer("text")
    buffer.post([thought()], NOW + ahead)
    assert [e for e in buffer.tend(NOW) if isinstance(e, Send)]
    control = ControlCore("control", "care", MetacognitionSettings())
    for now, kind in ((NOW + ahead, Observation.LOOP), (NOW, Observation.BUDGET)):
        effects = control.handle(Observed(kind, over=False, reason="so"), now)
        assert [e for e in effects if isinstance(e, Send) and isinstance(e.event, Propose)]


@ahead
@pytest.mark.parametrize("restarted", [False, True])
def test_traces_evaporate_and_are_swept(ahead, restarted):
    settings = EnvironmentSettings()

    def born() -> tuple[SubliminalEnvironment, EnvironmentCore]:
        environment = SubliminalEnvironment(settings, Shard(DIM))
        return environment, EnvironmentCore("environment", environment, settings, Chance(1, "environment"))

    environment, core = born()
    core.handle(Started(), NOW + ahead)
    core.handle(Post("text", (thought(salience=0.8, time=NOW + ahead),)), NOW + ahead)
    (left,) = environment.live()
    if restarted:
        environment, core = born()
        environment.load([left])
    effects = core.handle(Started() if restarted else Tick(), NOW)
    (held,) = environment.live()
    assert level_at(held.level, NOW + settings.half_life.percept) == pytest.approx(0.4)
    assert [e.write.level for e in effects if isinstance(e, Commit)] == [held.level], "and the store knows"
    core.handle(Tick(), NOW + 2 * DAY)
    assert not len(environment)


@ahead
def test_connections_fade_and_uses_expire_as_they_would_have(ahead):
    settings = ConnectionSettings(half_life=DAY, credit_window=1800.0)
    registry, other = ConnectionRegistry("own", settings), ConnectionRegistry("own", settings)
    for one, began in ((registry, NOW + ahead), (other, NOW)):
        one.open("t", "topic", "idle", began, "test")
        one.open("t", "topic", "used", began, "test")
        one.use("t", "used", began)
        for later in (5.0, 1700.0, 1900.0, DAY):
            one.tend(NOW + later)
    weights = [{link.peer: link.weight for link in one.peers("t")} for one in (registry, other)]
    assert weights[0] == pytest.approx(weights[1], rel=1e-3)
    _, _, changes = registry.drain()
    assert [each.at for each in changes if each.kind is ChangeKind.UNREWARDED] == [NOW + 1900.0]


@ahead
def test_a_submind_goes_on_wandering(ahead):
    core = submind(settings=CognitiveSettings(wander_every=900.0, random_share=1.0))

    def crawls(effects):
        return [e for e in effects if isinstance(e, Send) and isinstance(e.event, Crawl)]

    core.handle(Tick(), NOW + ahead)
    assert crawls(core.handle(Tick(), NOW + ahead + 900))
    assert not crawls(core.handle(Tick(), NOW)), "not at once"
    assert not crawls(core.handle(Tick(), NOW + 890))
    assert crawls(core.handle(Tick(), NOW + 910))


@ahead
@pytest.mark.parametrize("restarted", [False, True])
def test_a_submind_divides_no_later_than_it_would_have(ahead, restarted):
    core = submind()
    division, at = pressed(core, fed(core, NOW + ahead))
    core.handle(GrowthRefused(division.growth, "ceiling", at + 60.0), at)
    core.handle(Pressure(0.9, 0), at + 15.0)
    if restarted:
        state, core = core.snapshot(), submind()
        core.restore(state)
    again, then = pressed(core, NOW, seconds=120.0)
    assert again is not None
    assert then == NOW + 15.0 + 45.0, "since it looked: it was refused for a minute, of which a quarter had passed"


@ahead
def test_a_submind_that_was_idle_ends_no_later_than_it_would_have(ahead):
    load = Load(DivisionSettings(), idle_for=3600.0)
    idle = Apoptosis(ApoptosisSettings(idle_for=3600.0), load)
    idle.born, idle.last_work = True, NOW - 3600.0
    assert idle.ends_at(NOW) == NOW
    idle.ends_at(NOW + ahead)
    idle.refused(NOW + ahead + 1800.0)
    assert idle.ends_at(NOW + 60.0) == NOW + 1860.0
    idle.last_work = NOW + ahead
    assert idle.ends_at(NOW + 120.0) == NOW + 3720.0


class Waking(Inward):
    """Wants to be woken in a minute, always."""

    name = "own"

    def __init__(self) -> None:
        self.woken: list[float] = []

    def handle(self, event, now):
        self.woken += [now] if isinstance(event, Tick) else []
        return [WakeAt(now + 60.0)]

    def describe(self) -> Description:
        return Description("cognitive", "wake")

    def snapshot(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        raise AssertionError(state)


@ahead
async def test_nobody_sleeps_until_then(ahead):
    core = Waking()
    shell = ActorShell(core, None, None, ShellSettings(), embedder=None)
    shell.offer(Started(), 1.0, NOW + ahead)
    shell._vitals_at = float("inf")  # nobody is told
    await shell.step(NOW + ahead)
    await shell.step(NOW + 5)
    assert core.woken == [NOW + 5]
    assert shell.wake_at == NOW + 65
