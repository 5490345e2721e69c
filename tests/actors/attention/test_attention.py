import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.attention.core import AttentionCore
from actors.attention.inhibition import Inhibition
from actors.attention.pacing import Budget, BudgetPace, RatePace
from actors.attention.settings import AttentionSettings
from actors.effects import Count, Generate, Send
from actors.events import Broadcast, Conscious, Generated, Proposal, Propose, Salient, Started, Tick
from actors.peers import PeerDirectory
from actors.substrate.ports import Generation
from environment.decisions import Ground
from environment.messages import Level, PerceptionRef, ThoughtKind
from environment.severity import Severity, salience_of
from tests.actors.making import DIM, entry, thought, trace, unit


def attention(pace=None, ceiling=None, **given) -> AttentionCore:
    return AttentionCore(
        "attention", DIM, pace or RatePace(60, 24, 500), ceiling, PeerDirectory(), [], AttentionSettings(**given)
    )


def handed(effects):
    return [e.event.candidate for e in effects if isinstance(e, Send) and isinstance(e.event, Conscious)]


def feed(core, traces):
    """Offer traces at their own times, ticking on; everything that became conscious."""
    found = []
    for t in traces:
        effects = core.handle(Salient((t,)), t.thought.at)
        for effect in list(effects):
            if isinstance(effect, Generate):
                effects += core.handle(Generated(effect.token, Generation("bound words", "m"), unit(1)), t.thought.at)
        found += handed(effects)
    return found + handed(core.finish(traces[-1].thought.at + 1))


def stream(n, seed, apart=30.0):
    chance = random.Random(seed)
    return [trace(time=i * apart, salience=chance.random() * 0.9, vector=unit(seed * 10_000 + i)) for i in range(n)]


@pytest.mark.parametrize("budget", [1, 7, 40])
def test_a_budget_is_never_exceeded_and_mostly_used(budget):
    traces = stream(800, 3)
    core = attention(BudgetPace(Budget(budget, len(traces), traces[-1].thought.at)))
    found = feed(core, traces)
    assert len(found) <= budget
    assert len(found) >= 0.8 * budget


def test_a_quiet_week_is_not_made_up_for():
    pace, chance = RatePace(6, 24, 500), random.Random(5)

    def picked(begin, hours):
        before = pace.picked
        for minute in range(60 * hours):
            pace.picked += chance.random() < pace.share(begin + 60.0 * minute)
        return (pace.picked - before) / hours

    assert 5 < picked(0.0, 48) < 7
    week = 9 * 24 * 3600.0
    picked(week, 24)  # what is behind within the horizon
    assert 5 < picked(week + 24 * 3600.0, 48) < 7


def test_the_most_salient_are_chosen():
    traces = stream(1000, 5)
    special = set(range(50, 1000, 100))
    traces = [trace(replace(t.thought, salience=0.94)) if i in special else t for i, t in enumerate(traces)]
    found = feed(attention(BudgetPace(Budget(20, len(traces), traces[-1].thought.at))), traces)
    ids = {c.focus.id for c in found}
    assert sum(traces[i].id in ids for i in special) >= 9


def test_room_that_is_left_is_not_filled_with_what_is_dull():
    lively, dull = stream(300, 6), stream(300, 7)
    later = lively[-1].thought.at + 3600.0
    lively = [trace(replace(t.thought, salience=0.5 + t.thought.salience / 3)) for t in lively]
    dull = [
        trace(replace(t.thought, kind=ThoughtKind.INSIGHT, salience=0.2, time=later + 30 * i, at=later + 30.0 * i))
        for i, t in enumerate(dull)
    ]
    traces = [*lively, *dull]
    found = feed(attention(BudgetPace(Budget(400, len(traces), traces[-1].thought.at))), traces)
    assert len(found) > 50
    assert not [c for c in found if c.time >= later]


def test_what_was_conscious_is_not_repeated_and_a_revision_may_return():
    core = attention(break_in=0.9)
    first = trace(salience=0.93)
    assert handed(core.handle(Salient((first,)), 0.0))
    assert not feed(core, [replace(first, thought=replace(first.thought, at=10.0))])
    later = replace(first, version=2)
    assert not handed(core.handle(Salient((later,)), 20.0)), "still refractory"
    told = handed([*core.handle(Salient((later,)), 2000.0), *core.finish(2100.0)])
    assert [c.focus.version for c in told] == [2]


def test_of_a_small_budget_the_first_must_stand_out_as_well():
    for thoughts, told in ((4, False), (24, True)):
        core = attention(BudgetPace(Budget(thoughts, 1000, 100_000.0)))
        assert bool(feed(core, [trace(time=10.0, salience=0.7), trace(time=2000.0, salience=0.1)])) is told
    core = attention(BudgetPace(Budget(4, 1000, 100_000.0)))
    found = feed(core, [trace(time=9000.0 * i, salience=0.6 + 0.02 * i, vector=unit(i)) for i in range(12)])
    assert 2 <= len(found) <= 4


def test_what_a_matter_lifts_within_a_minute_is_judged_again_and_later_is_not():
    for late, told in ((30.0, True), (90.0, False)):
        core, new = attention(break_in=0.9), trace(salience=0.5)
        core.handle(Salient((trace(salience=0.6), new)), new.thought.at)
        lifted = replace(new, level=Level(0.93, now := new.thought.at + late, 3600.0))
        assert (new.id in {c.focus.id for c in handed(core.handle(Salient((lifted,)), now))}) is told


def test_an_entry_says_why_now_what_it_was_weighed_against_and_what_it_beat():
    core = attention(welcome=1)
    evidence = {"threat": 0.9, "tempo": 0.4}
    first, weak = trace(salience=0.7, text="it burns", evidence=evidence), trace(salience=0.3, text="hello")
    (candidate,) = feed(core, [weak, first])
    why = candidate.why
    assert (candidate.salience, candidate.severity) == (pytest.approx(salience_of(0.7)), Severity.CRITICAL)
    assert why.parts == evidence
    assert (why.beaten, why.beaten_text) == (weak.id, "hello")
    assert why.beaten_salience == pytest.approx(salience_of(0.3), rel=0.01), "a little of it evaporated"
    assert (why.quoted, why.among, why.rank) == (True, 1, 0.5)
    assert "it beat “hello”" in why.words
    for n in range(2, 60):
        feed(core, [trace(time=100.0 * n, salience=0.3 + n / 200, vector=unit(n))])
    late = trace(time=9000.0, salience=0.9, vector=unit(90), author="image")
    raised = replace(late, level=Level(0.94, 9000.0, 3600.0))
    (why,) = [c.why for c in feed(core, [raised]) if c.focus.id == late.id]
    assert why.ground is Ground.STOOD_OUT
    assert 0 <= why.needed <= why.rank <= 1
    assert why.among > 40
    assert (why.parts["resonance"] > 0, why.quoted, why.beaten) == (True, False, "")


def test_what_is_about_the_same_is_not_what_it_beat():
    core = attention(welcome=1)
    line, other = trace(salience=0.6), trace(salience=0.5)
    again = trace(replace(line.thought, id="t-again", salience=0.7, author="people"))
    insight = trace(salience=0.8, kind=ThoughtKind.INSIGHT, parents=(line.id,), perceptions=line.thought.perceptions)
    (candidate,) = feed(core, [other, line, again, insight])
    assert (candidate.focus.id, candidate.why.beaten) == (insight.id, other.id)


def test_what_the_mind_says_at_once_of_what_it_was_told_is_notable():
    core = attention()
    effects = core.handle(Salient((trace(time=5.0, salience=0.96, kind=ThoughtKind.RESULT, author="matters"),)), 5.0)
    (candidate,) = handed(effects)
    assert Count("severity_total:notable") in effects
    assert (candidate.severity, candidate.why.quoted) == (Severity.NOTABLE, False)
    assert (candidate.why.ground, candidate.why.worth) == (Ground.BROKE_IN, 0.5)


def test_a_thought_about_the_same_perception_is_suppressed_too():
    core = attention(break_in=0.9)
    percept = trace(salience=0.95)
    assert handed(core.handle(Salient((percept,)), 0.0))
    of = {"id": "t-insight", "parents": (percept.id,), "perceptions": percept.thought.perceptions}
    insight = trace(thought(kind=ThoughtKind.INSIGHT, salience=0.95, **of))
    assert not handed(core.handle(Salient((insight,)), 60.0))


def test_paraphrases_lose_salience():
    core = attention(break_in=0.9)
    first, again, other = trace(salience=0.95), trace(salience=0.8), trace(salience=0.6)
    again = trace(replace(again.thought, vector=first.thought.vector))
    assert handed(core.handle(Salient((first,)), 0.0))
    core.handle(Salient((again, other)), 1.0)
    assert [c.focus.id for c in handed(core.finish(2.0))] == [other.id], "half its salience is gone"


@pytest.mark.parametrize("said", [True, False])
def test_a_revision_does_not_say_once_more_what_another_said(said):
    core = attention(break_in=0.9)
    before, after = (PerceptionRef(f"p-{n}", 1000.0 * n, "scale") for n in (1, 2))
    rose = thought(
        kind=ThoughtKind.INSIGHT, id="t-rose", salience=0.95, at=1000.0, perceptions=(before,), vector=unit(70)
    )
    assert handed(core.handle(Salient((trace(rose),)), 1000.0))
    fell = trace(thought(id="t-fell", salience=0.95, at=2000.0, perceptions=(after,), vector=unit(71)))
    if said:
        assert handed(core.handle(Salient((fell,)), 2000.0))
    revised = replace(rose, parents=(fell.id,), perceptions=(after, before), at=9000.0)
    told = handed([*core.handle(Salient((trace(revised, version=2),)), 9000.0), *core.finish(9100.0)])
    assert [one.focus.id for one in told] == ([] if said else ["t-rose"])


def test_an_answer_to_somebody_is_not_suppressed():
    core = attention(break_in=0.9)
    question = trace(salience=0.95)
    assert handed(core.handle(Salient((question,)), 0.0))
    reply = trace(
        thought(
            kind=ThoughtKind.RESULT, id="t-reply", salience=0.95, parents=(question.id,), vector=question.thought.vector
        )
    )
    assert handed(core.handle(Salient((reply,)), 1.0))


def test_a_thought_stays_handed_over_until_the_stream_confirms():
    core = attention(break_in=0.9, resend_after=20.0)
    (candidate,) = handed(core.handle(Salient((trace(salience=0.95),)), 0.0))
    assert handed(core.handle(Tick(), 25.0)) == [candidate]
    restored = attention(break_in=0.9)
    restored.restore(core.snapshot())
    assert [c.id for c in handed(restored.handle(Started(), 30.0))] == [candidate.id]
    confirmed = entry(1, id=candidate.id)
    assert core.handle(Broadcast(confirmed, None), 31.0) == []
    assert not handed(core.handle(Tick(), 100.0))


def test_metacognition_bends_the_threshold_only_so_far():
    core = attention(bend=2.0)
    for _ in range(50):
        core.handle(Propose("control", Proposal.RAISE_THRESHOLD, "test"), 0.0)
    assert 0.5 <= core.describe().figures["threshold_bend"] < 0.65
    for _ in range(50):
        core.handle(Propose("control", Proposal.LOWER_THRESHOLD, "test"), 0.0)
    assert 1.6 < core.describe().figures["threshold_bend"] <= 2.0


def test_what_metacognition_takes_back_is_taken_back_exactly():
    core = attention()
    for proposal in [Proposal.WIDEN_INHIBITION] * 5 + [Proposal.NARROW_INHIBITION] * 5:
        core.handle(Propose("control", proposal, "test"), 0.0)
    narrow, fresh = attention(), attention()
    narrow.restore(core.snapshot())
    assert narrow._inhibition.strength < fresh._inhibition.strength  # 3 steps up at most, then 5 down
    for _ in range(5):
        core.handle(Propose("control", Proposal.WIDEN_INHIBITION, "test"), 0.0)
    for _ in range(3):
        core.handle(Propose("control", Proposal.NARROW_INHIBITION, "test"), 0.0)
    assert core._inhibition.strength == pytest.approx(fresh._inhibition.strength)


def test_a_thought_whose_words_never_come_goes_with_its_own():
    core = attention(break_in=0.9, wording_patience=120.0)
    near = trace(associations=("a-1", "b-2", "c-3"), salience=0.3, source="oncall", vector=unit(1))
    core.handle(Salient((near,)), 0.0)
    focus = trace(associations=("a-1", "b-2", "c-3"), salience=0.95, vector=unit(1))
    assert not handed(core.handle(Salient((focus,)), 1.0))
    own = [(c.text, c.worded_by) for c in handed(core.handle(Tick(), 130.0))]
    assert own == [(focus.thought.text, focus.thought.worded_by)]


def test_a_focus_is_bound_with_what_is_about_the_same_and_trusted_as_the_least():
    core = attention(break_in=0.9)
    terms = ("db-7", "disk", "raid")
    near = trace(associations=terms, trust=0.2, salience=0.3, source="oncall", vector=unit(1))
    far = trace(associations=("lunch",), trust=0.1, salience=0.3, source="oncall", vector=-unit(1))
    core.handle(Salient((near, far)), 0.0)
    effects = core.handle(Salient((trace(associations=terms, salience=0.95, trust=0.9, vector=unit(1)),)), 1.0)
    (ask,) = [e for e in effects if isinstance(e, Generate)]
    (candidate,) = handed(core.handle(Generated(ask.token, Generation("words", "m"), unit(3)), 2.0))
    assert [t.id for t in candidate.bound] == [near.id]
    assert candidate.trust == 0.2
    assert (candidate.text, candidate.worded_by) == ("words", "m")


def test_a_name_stays_rare_however_often_the_mind_thinks_of_it():
    core = attention(break_in=0.9)
    terms = ("kr-4410", "b31")
    side = unit(2) - (unit(2) @ unit(1)) * unit(1)
    akin = (0.5 * unit(1) + 0.75**0.5 * side / (side @ side) ** 0.5).astype("float32")
    near = trace(associations=terms, salience=0.3, source="feeds", vector=akin)
    echoes = [trace(kind=ThoughtKind.INSIGHT, associations=terms, salience=0.1, vector=unit(50 + i)) for i in range(30)]
    core.handle(Salient((near, *echoes)), 0.0)
    effects = core.handle(Salient((trace(associations=terms, salience=0.95, vector=unit(1)),)), 1.0)
    (ask,) = [e for e in effects if isinstance(e, Generate)]
    (candidate,) = handed(core.handle(Generated(ask.token, Generation("words", "m"), unit(3)), 2.0))
    assert candidate.links[0].reason == "both name kr-4410, b31"


def test_a_newborn_mind_speaks_soon_but_only_a_few_times():
    core = attention(RatePace(2, 24, 500), welcome=3, welcome_hold=5.0)
    found = feed(core, stream(100, 9, 6.0))
    assert 3 <= len(found) <= 6
    assert found[0].time < 30


def test_a_newborn_mind_says_nothing_of_routine_and_at_once_what_is_worth_it():
    core = attention(worth=0.5)
    routine = [trace(time=30.0 * i, salience=0.4, vector=unit(i)) for i in range(20)]
    telling = trace(time=600.0, salience=0.6, vector=unit(20))
    assert [c.focus.id for c in feed(core, [*routine, telling])] == [telling.id]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 100)), min_size=1, max_size=60), st.integers(0, 59))
def test_a_snapshot_anywhere_changes_nothing(offers, cut):
    now, traces = 0.0, []
    for salience, gap in offers:
        now += gap
        traces.append(trace(time=now, salience=salience))
    whole, broken = attention(RatePace(120, 24, 500)), attention(RatePace(120, 24, 500))
    for i, t in enumerate(traces):
        if i == cut:
            fresh = attention(RatePace(120, 24, 500))
            fresh.restore(broken.snapshot())
            broken = fresh
        a = handed(whole.handle(Salient((t,)), t.thought.at))
        b = handed(broken.handle(Salient((t,)), t.thought.at))
        assert [c.id for c in a] == [c.id for c in b]


def test_what_was_conscious_long_ago_is_not_so_again_before_it_changes():
    """Longer ago than attention remembers: the environment still knows that it was."""
    inhibition = Inhibition(DIM, AttentionSettings())
    old = trace()
    inhibition.remember(old, 1.0)
    for n in range(4096):
        inhibition.remember(trace(), 2.0 + n)
    again = replace(old, conscious=1)
    assert inhibition.suppressed(again, 1e6)
    assert inhibition.suppressed(again, 2e6)
    assert not inhibition.suppressed(replace(again, version=2), 3e6)


def test_what_is_like_something_of_yesterday_is_news_again():
    inhibition = Inhibition(DIM, AttentionSettings(inhibition=0.5, inhibition_half_life=3600.0))
    old = trace()
    inhibition.remember(old, 0.0)
    assert inhibition.loss(old.thought.vector, 0.0) == pytest.approx(0.5)
    assert inhibition.loss(old.thought.vector, 3600.0) == pytest.approx(0.25)
    assert inhibition.loss(old.thought.vector, 86_400.0) < 0.01
