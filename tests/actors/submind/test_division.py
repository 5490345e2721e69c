import re

import pytest

from actors.effects import Commit, Settled
from actors.events import Crawl, Found, Started, Tick
from actors.growth import Divided, GrowthRefused, Permitted, Pressure
from actors.handover import Goal, HandoverState
from actors.settings import CognitiveSettings, DivisionSettings
from actors.snapshots import pack, unpack
from actors.submind.division import hint
from actors.submind.load import Load
from actors.submind.newborn import first_state
from environment.ports import WriteConnections, WriteState
from tests.actors.submind.submind_growth import (
    SETTINGS,
    about,
    fed,
    message,
    pressed,
    proposed,
    sent,
    submind,
)


def keys(core):
    return set(core.topics)


def granted(proposal):
    handover = proposal.handover
    keys = tuple(topic.key for topic in handover.topics)
    return Divided(proposal.growth, "own-2", keys, 0.5, goals=tuple(goal.text for goal in handover.goals))


def divided(core, now):
    """Overload and divide: the proposal, what followed, the child as it is restored."""
    proposal, now = pressed(core, now)
    assert proposal is not None
    effects = core.handle(granted(proposal), now)
    child = submind("own-2", goals=list(proposal.handover.goals))
    child.restore(first_state("own-2", proposal.handover, SETTINGS, now))
    return proposal, effects, child, now


def test_sustained_overload_of_two_groups_proposes_one_of_them():
    core = submind()
    now = fed(core)
    before = keys(core)
    proposal, now = pressed(core, now)
    assert proposal is not None
    given = {t.key for t in proposal.handover.topics}
    assert 0 < len(given) < len(before)
    groups = {t.key: int(t.centroid[6] > t.centroid[0]) for t in core._router.topics.holdings()}
    assert len({groups[k] for k in given}) == 1, "one group"
    assert {groups[k] for k in before - given} == {1 - groups[next(iter(given))]}, "all of the other"
    assert proposal.handover.share == 0.5
    assert keys(core) == before, "a proposal changes nothing"


@pytest.mark.parametrize("use", [0.1, 0.4])
def test_no_overload_no_division(use):
    core = submind()
    proposal, _ = pressed(core, fed(core), use=use, seconds=600)
    assert proposal is None


def test_a_short_overload_or_one_that_was_relieved_is_none():
    core = submind()
    now = fed(core)
    assert not proposed(core.handle(Pressure(0.9, 0), now))
    assert not proposed(core.handle(Pressure(0.1, 0), now + 15))
    assert not proposed(core.handle(Pressure(0.9, 0), now + 35))
    assert not proposed(core.handle(Pressure(0.4, 0), now + 50)), "in between all stays as it was"
    assert proposed(core.handle(Pressure(0.9, 0), now + 70))


def test_topics_that_belong_together_are_not_parted():
    core = submind()
    now = 0.0
    for i in range(64):
        now += 1.0
        core.handle(message(0, i), now)
    proposal, _ = pressed(core, now, seconds=600)
    assert proposal is None


def test_the_child_begins_with_topics_connections_history_and_work_in_flight():
    core = submind()
    now = fed(core)
    for held in core._router.topics.holdings():
        core._router.registry.open(held.key, held.label, "bank", now, "test")
        core._router.registry.use(held.key, "bank", now)
        core._router.registry.credit(held.key, "bank", now, "conscious")
    proposal, effects, child, now = divided(core, now)
    given = {t.key for t in proposal.handover.topics}
    assert keys(child) == given
    assert keys(core).isdisjoint(given)
    links = {(c.topic, c.peer): c for c in child._router.registry.all()}
    for key in given:
        link = links[key, "bank"]
        assert link.weight == pytest.approx(0.296, rel=1e-3)
        assert (link.uses, link.credited) == (1, 1)
        assert [what for _, what in link.history][:2] == ["opened", "credited"]
    assert not [c for c in core._router.registry.all() if c.topic in given]
    assert any(c.peer == "own" for c in links.values()), "it knows its parent"
    assert any(c.peer == "own-2" for c in core._router.registry.all()), "and its parent knows it"
    assert proposal.handover.events, "events were waiting"
    crawls = sent(child.handle(Started(), now), Crawl)
    assert len(crawls) == len(proposal.handover.events)
    assert not {e.id for e in core._window.events(now)} & {e.id for e in proposal.handover.events}
    assert Settled("own-2") in effects
    writes = [e.write for e in effects if isinstance(e, Commit)]
    assert any(isinstance(w, WriteState) for w in writes), "letting go is durable with the step that did"
    assert any(isinstance(w, WriteConnections) for w in writes)


def test_what_is_promised_is_not_bound_twice():
    core = submind()
    now = fed(core)
    crawl = sent(core.handle(message(1, 3), now + 1), Crawl)
    proposal, now = pressed(core, now + 1)
    promised = {e.id for e in proposal.handover.events}
    searched = [e for _, e in crawl if e.exclude_lineage[0] in promised]
    for each in searched:
        assert not core.handle(Found(each.token, (), ()), now)
    resumed = core.handle(GrowthRefused(proposal.growth, "ceiling", now + 60), now)
    assert {e.exclude_lineage[0] for _, e in sent(resumed, Crawl)} >= promised


def test_an_unanswered_proposal_is_repeated_under_its_name_and_given_up():
    core = submind()
    proposal, now = pressed(core, fed(core))
    names = []
    for _ in range(10):
        now += SETTINGS.division.answer_within
        core.handle(message(0, 1), now)
        core.handle(message(1, 1), now)
        names += [p.growth for p in proposed(core.handle(Tick(), now))]
    assert set(names) == {proposal.growth}
    assert len(names) == 4
    late = Divided(proposal.growth, "own-2", tuple(t.key for t in proposal.handover.topics), 0.5)
    assert Settled("own-2") in core.handle(late, now), "granted once is granted"


def test_what_was_put_by_for_a_child_that_comes_late_is_had_once():
    core = submind()
    now = fed(core)
    proposal, now = pressed(core, now)
    has = core.allowance.left
    core.allowance.configure(0.0, now, burst=1000.0)  # none come back by waiting
    assert proposal.handover.saved == pytest.approx(has)
    for _ in range(10):
        now += SETTINGS.division.answer_within
        core.handle(message(0, 1), now)
        core.handle(message(1, 1), now)
        core.handle(Tick(), now)
    assert core.allowance.left <= has
    refused, now = pressed(core, now + 2 * SETTINGS.division.cooldown)
    left = core.allowance.left
    core.handle(GrowthRefused(refused.growth, "rate", now + 1000), now)
    assert core.allowance.left == pytest.approx(left + refused.handover.saved), "what is refused is taken back"


def test_a_refusal_is_heeded():
    core = submind()
    proposal, now = pressed(core, fed(core))
    core.handle(GrowthRefused(proposal.growth, "rate", now + 1000), now)
    assert pressed(core, now, seconds=900)[0] is None
    fed(core, now + 900)
    assert pressed(core, now + 970, seconds=60)[0] is not None


def test_no_division_within_the_cool_down():
    core = submind()
    _, _, child, now = divided(core, fed(core))
    for each in (core, child):
        at = now
        while at < now + SETTINGS.division.cooldown - 30:
            at += 15
            each.handle(message(0, int(at)), at)
            assert not proposed(each.handle(Pressure(0.9, 5), at))


def test_objectives_go_with_the_topics_they_are_near():
    goals = [Goal("About one.", about(0, 1)), Goal("About the other.", about(1, 1))]
    core = submind(goals=goals)
    proposal, _, child, _ = divided(core, fed(core))
    (gone,) = proposal.handover.goals
    assert [g.text for g in core._growing.goals] == [g.text for g in goals if g.text != gone.text]
    assert child.describe().goal == gone.text


def test_one_that_died_between_asking_and_the_answer_lets_go_of_objectives_as_well():
    goals = [Goal("About one.", about(0, 1)), Goal("About the other.", about(1, 1))]
    core = submind(goals=goals)
    proposal, now = pressed(core, fed(core))
    again = submind(goals=goals)
    again.restore(core.snapshot())
    again.handle(granted(proposal), now)
    (gone,) = proposal.handover.goals
    assert [g.text for g in again._growing.goals] == [g.text for g in goals if g.text != gone.text]
    twice = submind()
    proposal, now = pressed(twice, fed(twice))
    twice.handle(granted(proposal), now)
    assert len(twice._growing.goals) == 1, "what both are after, both are after"


def test_half_the_budget_goes_along():
    core = submind()
    _, _, child, _ = divided(core, fed(core))
    assert core.describe().figures["share"] == child.describe().figures["share"] == 0.5
    assert core.allowance._rate == child.allowance._rate == pytest.approx(30 / 3600)
    again = submind()
    again.restore(core.snapshot())
    assert again.allowance._rate == core.allowance._rate


def test_the_first_state_depends_on_nothing_else_and_topics_of_its_own_have_names_of_their_own():
    core = submind()
    proposal, now = pressed(core, fed(core))
    again = unpack(pack(proposal.handover), HandoverState)
    assert first_state("own-2", again, SETTINGS, now) == first_state("own-2", proposal.handover, SETTINGS, now)
    child = submind("own-2", goals=list(proposal.handover.goals))
    child.restore(first_state("own-2", proposal.handover, SETTINGS, now))
    child.handle(message(2, 0), now + 1)
    assert {k.partition(".")[0] for k in keys(child) - {t.key for t in proposal.handover.topics}} == {"own-2"}


@pytest.mark.parametrize(
    "label",
    ["printer, door", "Überdruck im Kessel", "日本語", "", "42 things", "a" * 80, "--x--, y", "\u202eevil/../x"],
)
def test_a_hint_is_legal_everywhere_or_nothing(label):
    word = hint(label)
    assert word == "" or re.fullmatch(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?", word)
    assert len(word) <= 24


def test_what_an_operator_permits_is_proposed_at_once_if_it_is_still_wanted():
    core = submind()
    proposal, now = pressed(core, fed(core))
    core.handle(GrowthRefused(proposal.growth, "it waits for an approval", now + 60), now)
    assert not proposed(core.handle(Pressure(0.9, 5), now + 1))
    again = submind()
    again.restore(core.snapshot())
    for one in (core, again):  # also of one that died meanwhile
        (second,) = proposed(one.handle(Permitted(end=False), now + 2))
        assert second.handover.labels == proposal.handover.labels
    core.handle(GrowthRefused(second.growth, "", now + 60), now + 3)
    core.handle(Pressure(0.0, 0), now + 4)
    assert not proposed(core.handle(Permitted(end=False), now + 5)), "it is overloaded no more"


def test_a_word_of_approval_does_not_shorten_a_rest():
    core = submind()
    _, _, child, now = divided(core, fed(core))
    for one in (core, child):
        assert not proposed(one.handle(Permitted(end=False), now + 1))


def test_one_that_is_not_relieved_divides_again_once_the_first_has_settled():
    settings = CognitiveSettings(division=DivisionSettings(sustained=30.0, settle=60.0, cooldown=600.0))
    core = submind(settings=settings)
    _, _, _, now = divided(core, fed(core))
    again = core._growing.load
    again.pressed(0.9, now)
    assert not again.due(now + 59)
    assert again.due(now + 60)
    again.merged(0, now + 61)
    again.pressed(0.9, now + 62)
    assert not again.due(now + 61 + 600), "what came back rests for long, and longer each time"


def test_the_traffic_of_topics_that_are_gone_is_forgotten():
    load = Load(SETTINGS.division, 3600.0)
    for number in range(50_000):
        load.met(f"k{number}", float(number))
    assert len(load.dump().traffic) <= 8192
    assert list(load.traffic(["k49999", "k0"], 50_000.0)) == pytest.approx([1.0, 0.0], abs=0.01)
