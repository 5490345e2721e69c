from actors.effects import Commit, Retire, Settled
from actors.events import Message, Post, Posted, Tick
from actors.growth import Divided, Gone, GrowthRefused, Inherited
from actors.submind.newborn import first_state
from environment.ports import WriteState
from tests.actors.making import thought, unit
from tests.actors.submind.submind_growth import SETTINGS, directory, fed, message, pressed, proposed, sent, submind

IDLE = SETTINGS.apoptosis.idle_for


def born(now=0.0, peers=None):
    """A child, its parent as it was, and when."""
    parent = submind()
    proposal, now = pressed(parent, fed(parent, now))
    child = submind("own-2", peers=peers, goals=list(proposal.handover.goals))
    child.restore(first_state("own-2", proposal.handover, SETTINGS, now))
    return child, parent, now


def ending(child, now):
    (retire,) = [e for e in child.handle(Tick(), now) if isinstance(e, Retire)]
    return retire


def test_a_configured_submind_never_ends_by_itself():
    core = submind()
    now = fed(core)
    for day in range(100):
        assert not proposed(core.handle(Tick(), now + day * 86400))


def test_one_that_was_born_ends_when_idle_for_long_and_not_before():
    child, _, now = born()
    assert not proposed(child.handle(Tick(), now + IDLE - 1))
    again = submind("own-2")
    again.restore(child.snapshot())
    retire = ending(again, now + IDLE)
    assert retire.heir in {"own", "cold", "bank", "help"}
    assert {t.key for t in retire.handover.topics} == set(again.topics)
    assert any(isinstance(e, Commit) and isinstance(e.write, WriteState) for e in child.handle(Tick(), now + IDLE))


def test_a_message_keeps_it_alive():
    child, _, now = born()
    child.handle(message(0, 1), now + IDLE / 2)
    assert not proposed(child.handle(Tick(), now + IDLE))
    assert proposed(child.handle(Tick(), now + 2 * IDLE))


def test_not_while_something_of_its_own_is_on_its_way():
    child, _, now = born()
    made = thought(author="own-2")
    child._unacknowledged.post([made], now)
    assert not proposed(child.handle(Tick(), now + IDLE))
    child.handle(Posted("", (made.id,)), now + IDLE)
    assert proposed(child.handle(Tick(), now + IDLE + 1))


def test_while_it_waits_for_the_answer_mail_goes_to_the_heir_and_refused_it_goes_on():
    child, _, now = born()
    now += IDLE
    retire = ending(child, now)
    told = message(0, 2)
    assert sent(child.handle(told, now + 1), Message) == [(retire.heir, told)]
    child.handle(GrowthRefused(retire.growth, "frozen", now + 500), now + 2)
    assert not sent(child.handle(message(0, 3), now + 3), Message)
    assert not proposed(child.handle(Tick(), now + 400))


def test_an_heir_that_ends_first_is_none():
    child, _, now = born()
    now += IDLE
    retire = ending(child, now)
    child.handle(Gone(retire.heir, "own-2"), now + 1)
    assert not sent(child.handle(message(0, 2), now + 2), Message), "it goes on itself"


def test_the_heir_has_topics_connections_and_what_was_not_durable_once():
    child, _, now = born()
    now += IDLE
    child._router.registry.open(min(child.topics), "x", "bank", now, "test")
    late = thought(author="own-2")
    retire = ending(child, now)
    handover = type(retire.handover)(
        **{f: getattr(retire.handover, f) for f in retire.handover.__slots__} | {"waiting": (late,)}
    )
    heir = submind("cold")
    heir.handle(message(2, 0), now)
    effects = heir.handle(Inherited("own-2", handover, 1.5), now)
    assert child.topics <= heir.topics
    assert ("cold", "bank") in {(c.owner, c.peer) for c in heir._router.registry.all()}
    assert [e.thoughts for _, e in sent(effects, Post)] == [(late,)]
    assert heir.describe().figures["share"] == 1.5
    assert Settled("own-2") in effects
    state = next(e.write.state for e in effects if isinstance(e, Commit) and isinstance(e.write, WriteState))
    again = submind("cold")
    again.restore(state)
    assert again.topics == heir.topics, "taking over is durable with the step that did"
    assert again.handle(Inherited("own-2", handover, 1.5), now + 1) == [Settled("own-2")]


def test_alike_topics_join_and_late_credit_finds_them():
    child, parent, now = born()
    retire = ending(child, now + IDLE)
    before = len(parent.topics)
    parent.handle(Inherited("own-2", retire.handover, 1.0), now + IDLE)
    assert len(parent.topics) == before, "the parent that had not let go has them already"


def test_the_last_event_hands_on_what_is_left():
    child, _, now = born(peers=directory())
    told = message(0, 1)
    child.handle(told, now + 1)
    waiting = thought(author="own-2", vector=unit(5))
    child._unacknowledged.post([waiting], now + 1)
    effects = child.handle(Gone("own-2", "cold"), now + 2)
    handed = sent(effects, Message)
    assert {to for to, _ in handed} == {"cold"}
    assert told.thought.id in {e.thought.id for _, e in handed}
    assert {e.sender for _, e in handed if e.thought.id == told.thought.id} == {"text"}, "credit goes where it is due"
    assert [e.thoughts for _, e in sent(effects, Post)] == [(waiting,)]


def test_the_parent_has_back_what_went_along_as_soon_as_it_is_told():
    parent = submind()
    proposal, now = pressed(parent, fed(parent))
    saved = parent.allowance.left + proposal.handover.saved
    assert proposal.handover.saved == parent.allowance.left > 0, "half of what it had saved up is put by"
    child = submind("own-2", goals=list(proposal.handover.goals))
    child.restore(first_state("own-2", proposal.handover, SETTINGS, now))
    parent.handle(Divided(proposal.growth, "own-2", tuple(t.key for t in proposal.handover.topics), 0.5), now)
    assert parent.allowance.left + child.allowance.left == saved
    whole = parent.allowance._rate + child.allowance._rate
    now += IDLE
    retire = ending(child, now)
    assert not child.allowance.ready(now), "it has given all away"
    parent.handle(Inherited("own-2", retire.handover, 1.0), now)
    assert parent.allowance._rate == whole
    assert parent.describe().figures["share"] == 1.0
