"""A model's judgement of candidates: what it moves, what it may not, and how far it is believed."""

import json
import random

import pytest

from actors.attention.core import AttentionCore
from actors.attention.judge import Judge
from actors.attention.marks import StandingMutes
from actors.attention.pacing import Budget, BudgetPace, RatePace
from actors.attention.settings import AttentionSettings
from actors.effects import Count, Generate
from actors.events import Generated, Marked, Pursued, Salient, Started, Tick
from actors.peers import PeerDirectory
from actors.substrate.ports import Act, Generation, Role
from environment.marks import FeedbackMark, MarkKind
from environment.messages import Level
from environment.severity import Severity
from tests.actors.attention.test_attention import handed
from tests.actors.making import DIM, trace, unit


def attention(*, model=True, goals=(), marks=(), pace=None, **given) -> AttentionCore:
    settings, mutes = AttentionSettings(**{"judge": 4.0} | given), StandingMutes(marks)
    judge = Judge("attention", goals, settings, mutes, model=model)
    pace = pace or RatePace(60, 24, 500)
    return AttentionCore("attention", DIM, pace, None, PeerDirectory(), [], settings, mutes, judge=judge)


def line(number, salience, **more):
    return trace(time=60.0 * number, text=f"line {number}", vector=unit(1000 + number), salience=salience, **more)


def asked(effects):
    return [e for e in effects if isinstance(e, Generate) and e.request.act is Act.JUDGE]


def answer(ask, rate, why="it matters"):
    events = [m.text for m in ask.request.materials if m.role is Role.EVENT]
    said = {str(n): {"want": rate(text), "why": why} for n, text in enumerate(events, 1)}
    return Generated(ask.token, Generation(json.dumps(said), "m"), unit(1))


def missing(effects):
    return [e.metric.partition(":")[2] for e in effects if isinstance(e, Count) and "missing" in e.metric]


def live(core, traces, rate):
    """Lines a minute apart, each moment judged; what became conscious."""
    found = []
    for each in traces:
        effects = [*core.handle(Tick(), each.thought.at), *core.handle(Salient((each,)), each.thought.at)]
        for ask in asked(effects):
            effects += core.handle(answer(ask, rate), each.thought.at + 1)
        found += handed(effects)
    return found


def weight(core):
    return core.describe().figures["judge_weight"]


def believed(rate, n=150, seed=3, **more) -> AttentionCore:
    """Attention that has lived with a judge: every fifth line is wanted, and mostly more salient."""
    chance, traces, wanted = random.Random(seed), [], set()
    for number in range(n):
        if chance.random() < 0.2:
            wanted.add(f"line {number}")
        traces.append(
            line(number, chance.uniform(0.35, 0.65) if f"line {number}" in wanted else chance.uniform(0, 0.45))
        )
    core = attention(**more)
    core.told = live(core, traces, lambda text: rate(text in wanted))
    return core


def test_the_few_best_of_a_moment_are_asked_about_in_one_question_in_the_order_of_time():
    core = attention(goals=("keep it cold",))
    core.handle(Pursued({"the pump": 1.0}), 0.0)
    salient = [line(0, s, author=f"a-{s}") for s in (0.3, 0.5, 0.4, 0.1, 0.45)]
    for n, each in enumerate(salient):
        core.handle(Salient((each,)), float(n))
    effects = core.handle(Tick(), 20.0)
    (ask,) = asked(effects)
    assert not handed(effects)
    of = {role: [m.text for m in ask.request.materials if m.role is role] for role in Role}
    assert (of[Role.GOAL], len(of[Role.EVENT])) == (["keep it cold", "the pump"], 4)


def test_what_it_wants_passes_and_says_why_in_its_words():
    core = believed(lambda wanted: 3 if wanted else 0)
    assert weight(core) > 1
    at = 60.0 * 200
    dull, lifted = line(200, 0.3), line(200, 0.29)
    core.handle(Salient((dull, lifted)), at)
    (ask,) = asked(core.handle(Tick(), at + 30))
    lifts = [m.text for m in ask.request.materials if m.role is Role.EVENT]
    said = {str(n): {"want": 3 * (n == 2), "why": "it matters"} for n in (1, 2)}
    effects = core.handle(Generated(ask.token, Generation(json.dumps(said), "m"), unit(1)), at + 31)
    (candidate,) = handed(effects)
    assert len(lifts) == 2
    assert candidate.why.parts["judge"] > 0.5
    assert (candidate.why.judged, candidate.why.judged_by) == ("it matters", "m")
    assert "m judged it: “it matters”" in candidate.why.words
    assert candidate.why.beaten in {dull.id, lifted.id}
    assert Count("judgements_total", 2) in effects


def test_nothing_critical_is_lowered_and_nothing_moves_by_more_than_the_bound():
    core = believed(lambda wanted: 3 if wanted else 0, judge=1.0)
    at = 60.0 * 200
    alarm = line(200, 0.5, evidence={"threat": 1.6})
    other = line(200, 0.48)
    core.handle(Salient((alarm, other)), at)
    (ask,) = asked(core.handle(Tick(), at + 30))
    (candidate,) = handed(core.handle(answer(ask, lambda _: 0), at + 31))
    assert candidate.severity is Severity.CRITICAL
    assert "judge" not in candidate.why.parts
    assert candidate.why.beaten_salience < 0.5
    parts = [c.why.parts["judge"] for c in core.told if "judge" in c.why.parts]
    assert parts
    assert max(map(abs, parts)) <= 1.0


@pytest.mark.parametrize("seed", range(3))
def test_who_rates_all_alike_or_at_random_has_hardly_a_weight(seed):
    chance = random.Random(seed)
    assert weight(believed(lambda _: chance.randrange(4), seed=seed)) < 0.4
    alike = believed(lambda _: 2, seed=seed)
    assert not [c for c in alike.told if "judge" in c.why.parts]
    assert weight(believed(lambda wanted: 0 if wanted else 3, seed=seed)) == 0, "contrary to all that is known"


def test_what_people_found_useful_weighs_more_than_the_rule():
    fair = believed(lambda wanted: 2 if wanted else 1)
    seen = [name for name, _, want in fair._judge.dump().seen if want == 2]
    marks = [
        FeedbackMark(f"k-{n}", "1", MarkKind.NOT_USEFUL, 0.0, "operator", "line", traces=(name,))
        for n, name in enumerate(seen)
    ]
    before = weight(fair)
    fair.handle(Marked(tuple(marks)), 0.0)
    restored = attention(marks=marks)
    restored.restore(fair.snapshot())
    assert weight(restored) < before / 2


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Generation("no idea", "m"), "form"),
        (Generation("line", "rule", fallback="budget spent", cause="budget"), "budget"),
        (Generation('{"1": {"want": 3}}', "rule", fallback="HTTP 500", cause="server"), "server"),
    ],
)
def test_without_a_usable_answer_the_order_stands_and_the_reason_is_counted(said, reason):
    core, best = attention(), line(0, 0.6)
    core.handle(Salient((line(0, 0.5), best)), 0.0)
    (ask,) = asked(core.handle(Tick(), 20.0))
    effects = core.handle(Generated(ask.token, said, unit(1)), 21.0)
    assert [c.focus.id for c in handed(effects)] == [best.id]
    assert missing(effects) == [reason]


def test_who_waits_in_vain_goes_without_and_a_late_answer_does_nothing():
    core, best = attention(judge_patience=30.0), line(0, 0.6)
    core.handle(Salient((best,)), 0.0)
    (ask,) = asked(core.handle(Tick(), 20.0))
    assert not handed(core.handle(Tick(), 49.0))
    effects = core.handle(Tick(), 50.0)
    assert ([c.focus.id for c in handed(effects)], missing(effects)) == ([best.id], ["late"])
    assert core.handle(answer(ask, lambda _: 3), 51.0) == []


def test_only_so_many_are_asked_an_hour_and_beyond_them_the_rule_decides_at_once():
    core = attention(judgements_per_hour=4.0)
    core.handle(Salient((line(0, 0.6),)), 0.0)
    (ask,) = asked(core.handle(Tick(), 20.0))
    core.handle(answer(ask, lambda _: 2), 21.0)
    core.handle(Salient((second := line(1, 0.62),)), 60.0)
    effects = core.handle(Tick(), 90.0)
    assert (asked(effects), missing(effects)) == ([], ["limit"])
    assert second.id in {c.focus.id for c in handed(effects)}


def test_none_is_asked_without_a_model_or_a_bound_or_where_it_could_change_nothing():
    for core in (attention(model=False), attention(judge=0.0)):
        core.handle(Salient((line(0, 0.6),)), 0.0)
        effects = core.handle(Tick(), 20.0)
        assert (asked(effects), missing(effects), len(handed(effects))) == ([], [], 1)
    core = attention()
    core.handle(Salient((line(0, 0.0001),)), 0.0)
    assert not asked(core.handle(Tick(), 20.0))
    core = attention(pace=BudgetPace(Budget(0, 100, 1000.0)))
    core.handle(Salient((line(0, 0.6),)), 0.0)
    assert not asked(core.handle(Tick(), 300.0))


def test_what_breaks_in_waits_for_nobody_and_is_said_once():
    core = attention(break_in=0.9)
    slow = line(0, 0.6)
    core.handle(Salient((slow,)), 0.0)
    (ask,) = asked(core.handle(Tick(), 20.0))
    risen = trace(slow.thought)
    risen = type(slow)(slow.thought, 1, Level(0.95, 25.0, 3600.0), True, None, slow.authors)
    assert [c.focus.id for c in handed(core.handle(Salient((risen,)), 25.0))] == [slow.id]
    assert not handed(core.handle(answer(ask, lambda _: 3), 26.0))


def test_a_snapshot_keeps_what_was_learned_and_those_who_wait():
    core = believed(lambda wanted: 3 if wanted else 0)
    at = 60.0 * 200
    core.handle(Salient((line(200, 0.6),)), at)
    assert asked(core.handle(Tick(), at + 30))
    restored = attention()
    restored.restore(core.snapshot())
    assert weight(restored) == weight(core)
    (again,) = asked(restored.handle(Started(), at + 60))
    assert len(handed(restored.handle(answer(again, lambda _: 3), at + 61))) == 1
