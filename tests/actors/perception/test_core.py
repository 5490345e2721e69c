import random
from dataclasses import replace

import pytest

from actors.chance import Chance
from actors.effects import Read, Send, WakeAt
from actors.events import Perceived, Post, Posted, Started, Tick
from actors.peers import Peer, PeerDirectory
from actors.perception.core import PerceptualCore
from actors.perception.image import ImageInterpreter
from actors.perception.settings import PerceptionSettings
from actors.perception.telemetry import TelemetryInterpreter
from actors.perception.text import TextInterpreter
from actors.settings import ConnectionSettings, TopicSettings
from actors.submind.message_router import MessageRouter
from environment.clocks import believed, redated
from environment.messages import Modality, ThoughtKind
from tests.actors.perception.perceiving import DIM, EMBEDDER, START, read_off, said, shown

WORDS = "pump valve room door van order bank letter meal fridge alarm light truck road coast depot".split()
GOALS = ["keep food cold", "watch payments", "help customers"]


def core(interpreter=TextInterpreter, modality=Modality.TEXT, **given):
    settings = PerceptionSettings(**given)
    vectors = EMBEDDER.embed_now(GOALS)
    peers = [Peer(f"peer{i}", True, g, v) for i, (g, v) in enumerate(zip(GOALS, vectors, strict=True))]
    router = MessageRouter(
        modality.value, DIM, TopicSettings(), ConnectionSettings(), PeerDirectory(peers), Chance(1, modality.value)
    )
    return PerceptualCore(modality.value, "perceive", modality, interpreter(DIM, settings), router, settings)


def feed(core, perceptions, now):
    texts = list(dict.fromkeys(core.texts(perceptions)))
    vectors = dict(zip(texts, EMBEDDER.embed_now(texts), strict=True))
    return core.handle(Perceived(tuple(perceptions), vectors), now)


def posted(effects):
    return [t for e in effects if isinstance(e, Send) and isinstance(e.event, Post) for t in e.event.thoughts]


def arrive(core, effects, now):
    """The environment answers that all of it is durable."""
    return core.handle(Posted("", tuple(t.id for t in posted(effects))), now)


def lines(n, first=1):
    chance = random.Random(first)
    return [said(first + i, " ".join(chance.choices(WORDS, k=6))) for i in range(n)]


def test_it_reads_on_from_where_it_was():
    it = core()
    assert Read(0, 256, Modality.TEXT) in it.handle(Started(), START)
    effects = feed(it, lines(10), START + 20)
    assert Read(10, 256, Modality.TEXT) in effects
    thoughts = posted(effects)
    assert len(thoughts) == 10
    for thought, perception in zip(thoughts, lines(10), strict=True):
        assert thought.kind is ThoughtKind.PERCEPT
        assert thought.parents == (perception.id,)
        assert thought.trust == perception.trust
        assert thought.depth == 0


def test_the_same_perceptions_again_change_nothing():
    it = core()
    feed(it, lines(10), START)
    assert posted(feed(it, lines(10), START + 1)) == []


def test_what_is_not_acknowledged_is_posted_again_under_the_same_names():
    it = core(resend_after=10.0)
    thoughts = posted(feed(it, lines(5), START))
    assert posted(it.handle(Tick(), START + 5)) == []
    assert [t.id for t in posted(it.handle(Tick(), START + 11))] == [t.id for t in thoughts]
    it.handle(Posted("", tuple(t.id for t in thoughts[:4])), START + 12)
    assert [t.id for t in posted(it.handle(Tick(), START + 30))] == [thoughts[4].id]


def test_it_stops_reading_while_too_much_waits():
    it = core(unacknowledged=16)
    effects = feed(it, lines(20), START)
    assert not [e for e in effects if isinstance(e, Read)]
    thoughts = posted(effects)
    effects = it.handle(Posted("", tuple(t.id for t in thoughts)), START + 1)
    assert [e.after for e in effects if isinstance(e, Read)] == [20]


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_after_a_crash_nothing_acknowledged_by_the_log_is_lost_and_nothing_is_twice(cut):
    batches = [lines(4, 1 + 4 * i) for i in range(40)]
    whole = core()
    names = [t.id for i, b in enumerate(batches) for t in posted(feed(whole, b, START + i))]
    it = core()
    seen = [t.id for i, b in enumerate(batches[:cut]) for t in posted(feed(it, b, START + i))]
    saved = it.snapshot()
    lost = [t.id for i, b in enumerate(batches[cut : cut + 3]) for t in posted(feed(it, b, START + cut + i))]
    again = core()
    again.restore(saved)
    assert {t.id for t in posted(again.handle(Started(), START + cut))} == set(seen)
    after = [t.id for i, b in enumerate(batches[cut:]) for t in posted(feed(again, b, START + cut + i))]
    assert seen + after == names
    assert after[: len(lost)] == lost


def test_silence_is_noticed_while_nothing_at_all_is_perceived():
    it = core(TelemetryInterpreter, Modality.TELEMETRY, resend_after=10.0)
    it.handle(Started(), START)
    now = START
    for i in range(1, 30):
        now = START + 60 * i
        arrive(it, feed(it, [read_off(i, {"air_c": 3.0})], now), now)
    effects = feed(it, [read_off(30, {"air_c": 3.0})], now + 60)
    wake = max(e.at for e in effects if isinstance(e, WakeAt))
    assert now + 60 < wake <= now + 60 + 260
    assert posted(it.handle(Tick(), now + 60 + 200)) == []
    (silence,) = posted(it.handle(Tick(), now + 60 + 300))
    assert "went silent" in silence.text
    assert silence.parents == (f"p-{30:020x}",)
    it.handle(Posted("", (silence.id,)), now + 361)
    assert posted(it.handle(Tick(), now + 60 + 9000)) == []


def test_waking_up_late_is_not_taken_for_silence():
    it = core(TelemetryInterpreter, Modality.TELEMETRY)
    for i in range(1, 30):
        arrive(it, feed(it, [read_off(i, {"air_c": 3.0})], START + 60 * i), START + 60 * i)
    again = core(TelemetryInterpreter, Modality.TELEMETRY)
    again.restore(it.snapshot())
    later = START + 60 * 29 + 7200
    again.handle(Started(), later)
    assert posted(again.handle(Tick(), later + 30)) == []
    missed = [read_off(i, {"air_c": 3.0}) for i in range(30, 150)]
    assert posted(feed(again, missed, later + 31)) == []


KINDS = {
    "telemetry": (TelemetryInterpreter, lambda n, time, source: read_off(n, {"air_c": 3.0}, time, source)),
    "text": (TextInterpreter, lambda n, time, source: said(n, "pump valve checked", time, source)),
    "image": (ImageInterpreter, lambda n, time, source: shown(n, b"no picture", time, source)),
}


class Told:
    """A perceptual submind to which sources tell something every minute."""

    def __init__(self, kind):
        self.modality, self.n = Modality(kind), 0
        self.interpreter, self.made = KINDS[kind]
        self.it = core(self.interpreter, self.modality)

    def restart(self, now):
        state, self.it = self.it.snapshot(), core(self.interpreter, self.modality)
        self.it.restore(redated(state, self.it.saved, now))
        self.it.handle(Started(), now)

    def silent(self, effects, now):
        arrive(self.it, effects, now)
        return [t.text.split()[0] for t in posted(effects) if "went silent" in t.text]

    def come(self, time, *sources, received=None):
        """Who is said to be silent by then."""
        found, received = [], time if received is None else received
        for source in sources:
            self.n += 1
            perception = believed(replace(self.made(self.n, time, source), received=received), received)
            found += self.silent(feed(self.it, [perception], received), received)
        return found


@pytest.mark.parametrize("ahead", [8 * 3600.0, 365 * 86_400.0])
@pytest.mark.parametrize("kind", KINDS)
def test_who_falls_silent_once_a_wrong_clock_was_set_right_is_named(kind, ahead):
    """One perception came while it was ahead; then all came as before, for two hours, and then a and b came no more."""
    told = Told(kind)
    for i in range(60):
        told.come(START + 60 * i, "a", "b")
    told.come(START + 3600 + ahead, "a")
    told.restart(START + 3600)
    for i in range(60, 180):
        assert told.come(START + 60 * i, "a", "b") == []
    named = [who for i in range(180, 190) for who in told.come(START + 60 * i, "c")]
    assert sorted(named) == ["a", "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_dated_long_after_it_came_keeps_nobody_waiting(kind):
    told = Told(kind)
    for i in range(60):
        told.come(START + 60 * i, "a", "b")
    assert told.come(START + 3600 + 86_400, "a", received=START + 3600) == []
    for i in range(61, 90):
        assert told.come(START + 60 * i, "a", "b") == []
    named = [who for i in range(90, 100) for who in told.come(START + 60 * i, "c")]
    assert sorted(named) == ["a", "b"]


def test_silence_is_noticed_while_nothing_is_perceived_since_the_clock_was_set_right():
    told = Told("telemetry")
    for i in range(60):
        told.come(START + 86_400 + 60 * i, "a")
    told.restart(START)
    assert told.silent(told.it.handle(Tick(), START), START) == []
    assert told.silent(told.it.handle(Tick(), START + 600), START + 600) == ["a"]


def test_old_recordings_are_not_silent_because_they_are_old():
    it = core(TelemetryInterpreter, Modality.TELEMETRY)
    live = START + 1e7
    it.handle(Started(), live)
    feed(it, [read_off(i, {"air_c": 3.0}) for i in range(1, 30)], live)
    assert not [t for t in posted(it.handle(Tick(), live + 60)) if "silent" in t.text]


def test_only_what_is_salient_is_told_to_peers():
    it = core(speak_at=0.06)
    effects = feed(it, lines(100), START)
    assert all(isinstance(e.event, Post) for e in effects if isinstance(e, Send))
    told = [e.event.thought for e in arrive(it, effects, START + 1) if isinstance(e, Send)]
    assert told
    assert all(t.salience >= 0.06 for t in told)
    assert len({t.id for t in told}) < len(posted(effects))
