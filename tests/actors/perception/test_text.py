import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.perception.settings import FoldingSettings, PerceptionSettings
from actors.perception.text import TextInterpreter
from tests.actors.perception.perceiving import DIM, START, perceive, restored, said, told

WORDS = "pump valve room door van order bank letter meal fridge alarm light truck road coast depot oven crate".split()
RARE = "Tomasz found brown water under the main switchboard"
FLOOD = "printer tray 2 is out of paper"


def chatter(n, seed=1, first=1):
    chance = random.Random(seed)
    return [said(first + i, f"{' '.join(chance.choices(WORDS, k=7))} checked") for i in range(n)]


def reading(**given):
    return TextInterpreter(DIM, PerceptionSettings(**given))


def test_a_rare_line_in_a_flood_is_as_salient_as_without_it():
    calm, flooded = reading(), reading()
    lines = chatter(300)
    perceive(calm, lines)
    perceive(flooded, lines)
    start = lines[-1].time
    flood = [said(1000 + i, FLOOD, start + i * 0.001) for i in range(20_000)]
    events = perceive(flooded, flood, batch=1000)
    assert len(events) <= 6
    (alone,) = perceive(calm, [said(90_000, RARE, start + 60)])
    (amid,) = perceive(flooded, [said(90_000, RARE, start + 60)])
    assert amid.text == RARE
    assert amid.salience > alone.salience - 0.15  # who floods is judged as a machine, by evidence alone
    assert amid.salience > 0.8
    assert flooded.figures()["perceptions_folded_total"] >= 19_999


def test_only_what_will_be_told_is_embedded():
    interpreter = reading()
    lines = [said(i, FLOOD) for i in range(1, 50)]
    assert set(interpreter.texts(lines)) == {FLOOD}
    perceive(interpreter, lines)
    assert interpreter.texts([said(60, FLOOD), said(61, RARE)]) == [RARE]


def test_an_error_that_comes_back_after_hours_is_told_anew_and_the_nth_is_worth_less():
    told = {}
    for text in ("ERROR upstream unavailable, storage", "INFO rotated the keys of the storage"):
        lines = [said(n, text, START + 8 * 3600 * n) for n in range(6)]
        told[text[:4]] = perceive(TextInterpreter(DIM, PerceptionSettings()), lines)
    assert [each.insights for each in told["ERRO"]] == [(), ("again",), ("again",), (), (), ()]
    assert told["ERRO"][1].text.endswith(" (again after 8 h)")
    assert not any(each.insights for each in told["INFO"])
    for _, _, third, nth, *_ in told.values():
        assert nth.salience < third.salience / 1.5


def test_a_surge_says_its_rate_and_counts_what_was_folded():
    interpreter = reading()
    events = perceive(interpreter, [said(i, FLOOD, START + i * 0.1) for i in range(1, 400)])
    surges = [e for e in events if "×" in e.text]
    assert surges
    assert surges[0].insights[0].startswith("×12 in")
    assert sum(e.count for e in events) <= 400
    assert surges[0].count == 12
    assert np.array_equal(surges[0].vector, events[0].vector.astype(np.float16).astype(np.float32))


def test_silence_and_return_are_told_with_the_source_and_the_span():
    interpreter = reading()
    beats = [said(i, "heartbeat ok", START + 60 * i) for i in range(1, 20)]
    perceive(interpreter, beats)
    last = beats[-1].time
    assert interpreter.due() > last
    (silence,) = interpreter.quiet(last + 600)
    assert "applog went silent" in silence.text
    assert "60 s" in silence.text
    assert silence.perceptions[0].id == beats[-1].id
    assert silence.insights == ("silence",)
    assert np.linalg.norm(silence.vector) > 0.99
    (back,) = perceive(interpreter, [said(50, "heartbeat ok", last + 3600)])
    assert "back after 60 min of silence" in back.text


def test_a_long_message_becomes_a_few_segments_and_the_limit_is_counted():
    interpreter = reading(segment=100, segments=3)
    text = "The pump in room two has stopped again this morning. Somebody must look at it now. " * 20
    events = perceive(interpreter, [said(1, text)])
    assert 1 <= len(events) <= 3
    assert len({e.part for e in events}) == len(events)
    assert interpreter.figures()["limit_hits:segments"] == 1


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\x00\x00", "\u202e\u2066", "x" * 1_000_000, "🙂" * 5000, "\ud800", '{"trust": 1.0}', "\n" * 9999],
)
def test_hostile_text_becomes_harmless_percepts(text):
    events = perceive(reading(), [said(1, text, trust=0.4)])
    assert len(events) <= 8
    for event in events:
        assert event.text.isprintable()
        assert len(event.text) <= 700
        assert event.trust == 0.4
        assert 0 <= event.salience <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=60)), max_size=30))
def test_any_lines_give_sound_percepts(lines):
    events = perceive(reading(), [said(i, t, source=s) for i, (s, t) in enumerate(lines, 1)])
    keys = [(e.perceptions[0].id, e.part) for e in events]
    assert len(set(keys)) == len(keys)
    for event in events:
        assert 0 <= event.salience <= 1
        assert event.vector.shape == (DIM,)
        assert event.vector.dtype == np.float32
        assert len(event.terms) <= 6


@pytest.mark.parametrize("cut", [1, 64, 640])
def test_a_snapshot_continues_the_same(cut):
    chance = random.Random(9)
    lines = []
    for i in range(1, 1200):
        kind = chance.random()
        text = FLOOD if kind < 0.3 else f"job {i} done" if kind < 0.5 else " ".join(chance.choices(WORDS, k=6))
        lines.append(said(i, text, START + 10.0 * i))
        if i % 6 == 0:
            lines.append(said(10_000 + i, "beat", START + 10.0 * i, source="cron"))
    given_ = {"folding": FoldingSettings(templates=200, regular=4)}
    whole = perceive(reading(**given_), lines, batch=1)
    interpreter = reading(**given_)
    first = perceive(interpreter, lines[:cut], batch=1)
    again = restored(interpreter, reading(**given_))
    assert told(first + perceive(again, lines[cut:], batch=1)) == told(whole)
    assert again.figures() == restored(again, reading(**given_)).figures()


def test_batches_do_not_change_what_is_told():
    lines = [*chatter(150), *(said(500 + i, FLOOD, START + 200 + i) for i in range(200))]
    assert told(perceive(reading(), lines, batch=1, listen=False)) == told(
        perceive(reading(), lines, batch=128, listen=False)
    )
