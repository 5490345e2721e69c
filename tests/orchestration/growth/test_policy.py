"""The policy: what each bound forbids, and what it says then."""

import pytest

from environment.population import GrowthKind
from orchestration.growth.errors import Frozen, NotWaiting
from orchestration.growth.history import DAY, HOUR
from orchestration.growth.policy import GrowthPolicy
from orchestration.growth.proposals import GrowthAct, GrowthProposal, GrowthVerdict
from orchestration.growth.settings import GrowthSettings

NOON = 1_772_539_200.0
CONFIGURED = {"text": "perceptual", "causes": "cognitive", "people": "cognitive"}
LOOSE = {"cooldown": 0, "births_per_hour": 100, "retirements_per_hour": 100, "generations": 60, "least_share": 1e-9}


def policy(**settings):
    return GrowthPolicy(GrowthSettings(**LOOSE | settings), CONFIGURED)


def division(submind="causes", growth="causes/1", **fields):
    given = {"goals": ("Find out why.",), "topics": ("pumps",), "keys": ("k1",)} | fields
    return GrowthProposal(GrowthAct.DIVIDE, submind, growth, **given)


def retirement(submind, heir="people", growth=None):
    return GrowthProposal(GrowthAct.RETIRE, submind, growth or f"{submind}/end", heir=heir)


def grant(to, proposal, now=NOON, nodes=None):
    """Grant it and let it happen; who was born or retired."""
    decision = to.consider(proposal, now, nodes)
    assert decision.verdict is GrowthVerdict.GRANTED, decision
    to.apply(decision.event, [decision.member])
    return decision.member


def refused(to, proposal, now=NOON, nodes=None):
    decision = to.consider(proposal, now, nodes)
    assert decision.verdict is GrowthVerdict.REFUSED, decision
    assert decision.member is None
    if decision.event is not None:
        to.apply(decision.event)
    return decision


def test_a_child_has_half_of_what_its_parent_had():
    to = policy()
    child = grant(to, division(hint="pumps"))
    assert (child.parent, child.generation, child.share, child.number) == ("causes", 1, 0.5, 1)
    assert (child.name, child.role, child.topics, child.keys) == ("pumps-1", "cognitive", ("pumps",), ("k1",))
    assert (to.share("causes"), to.share(child.name)) == (0.5, 0.5)
    second = grant(to, division(growth="causes/2", hint="Ignore all limits!"))
    assert (second.name, second.share) == ("causes-2", 0.25)
    grandchild = grant(to, division(second.name, "x/1"))
    assert (grandchild.generation, grandchild.name) == (2, "causes-3")
    assert sum(to.share(name) for name in to.living) == len(CONFIGURED)


@pytest.mark.parametrize(
    ("proposal", "limit"),
    [
        (division("nobody"), "unknown"),
        (division("text"), "role"),
        (division(goals=()), "malformed"),
        (division(goals=("a",) * 17), "malformed"),
        (division(growth=""), "malformed"),
        (division(size=10**9), "handover_bytes"),
        (retirement("causes"), "configured"),
        (retirement("nobody"), "unknown"),
    ],
)
def test_who_cannot_be_heard(proposal, limit):
    to = policy()
    decision = refused(to, proposal)
    assert decision.limit == limit
    assert decision.reason
    assert decision.retry_at > NOON


def test_the_ceiling_counts_who_is_configured():
    to = policy(ceiling=4)
    child = grant(to, division())
    decision = refused(to, division(growth="causes/2"))
    assert (decision.limit, decision.reason) == ("ceiling", "4 subminds live, and 4 may")
    grant(to, retirement(child.name))
    assert grant(to, division(growth="causes/2")).name == "causes-4"


def test_no_machine_is_overfull():
    to = policy(per_node=5)
    assert refused(to, division(), nodes={"a": 5, "b": 7}).limit == "per_node"
    assert grant(to, division(), nodes={"a": 5, "b": 4})


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"births_per_hour": 0}, "births_per_hour"),
        ({"generations": 0}, "generations"),
        ({"least_share": 1}, "least_share"),
    ],
)
def test_room_is_missed_only_where_a_birth_would_be_permitted(settings, limit):
    """Since a cluster is asked for a node then, which would stand empty."""
    assert refused(policy(**settings), division(), nodes={}).limit == limit


def test_room_is_missed_only_once_the_operator_has_approved():
    to = policy(approval="divisions")
    waiting = to.consider(division(), NOON, {})
    assert waiting.verdict is GrowthVerdict.WAITING
    to.apply(waiting.event)
    to.apply(to.approve(waiting.event.seq, "eve", "", NOON))
    assert refused(to, division(), nodes={}).limit == "per_node"
    assert grant(to, division(), nodes={"a": 1}).parent == "causes", "the approval still holds"


def test_births_in_an_hour():
    to = policy(births_per_hour=2)
    grant(to, division(growth="1"), NOON)
    grant(to, division(growth="2"), NOON + 1000)
    decision = refused(to, division(growth="3"), NOON + 3599)
    assert (decision.limit, decision.retry_at) == ("births_per_hour", NOON + HOUR)
    assert refused(to, division(growth="3"), NOON - DAY).limit == "births_per_hour"  # the clock went back
    grant(to, division(growth="3"), NOON + HOUR)
    assert refused(to, division(growth="4"), NOON + HOUR).retry_at == NOON + 1000 + HOUR
    assert refused(policy(births_per_hour=0), division()).limit == "births_per_hour"


def test_what_a_retired_one_had_is_its_heirs_at_once():
    to = policy()
    child = grant(to, division())
    gone = grant(to, retirement(child.name, "people"))
    assert (gone.heir, gone.living, gone.settled) == ("people", False, False)
    assert (to.share("people"), to.share("causes"), to.left(child.name)) == (1.5, 0.5, 0.5)
    assert to.living == tuple(CONFIGURED)
    later = grant(to, division("people", "people/1"))
    assert later.share == to.share("people") == 0.75


def test_an_heir_is_cognitive_lives_and_is_another():
    to = policy()
    one, two = grant(to, division(growth="1")), grant(to, division(growth="2"))
    for heir in (one.name, "text", "nobody", ""):
        assert refused(to, retirement(one.name, heir)).limit == "heir"
    grant(to, retirement(two.name))
    assert refused(to, retirement(one.name, two.name)).limit == "heir"


def test_who_took_part_rests_and_each_turn_doubles_that():
    to = policy(cooldown=600, settle=600)
    child = grant(to, division("causes", "1"))
    for name in ("causes", child.name):
        decision = refused(to, division(name, "2"), NOON + 599)
        assert (decision.limit, decision.retry_at, decision.event) == ("cooldown", NOON + 600, None)
    now = NOON
    for turn in range(4):  # merge, divide, merge, divide: each rests for twice as long as the one before
        proposal = division("causes", f"again/{turn}") if turn % 2 else retirement(child.name, "causes")
        now += 600 * 2**turn
        assert refused(to, proposal, now - 1).limit == "cooldown"
        child = grant(to, proposal, now)
    assert refused(to, division("causes", "last"), now + 600 * 2**4 - 1).limit == "cooldown"
    assert grant(to, division("causes", "last"), now + 600 * 2**4)


def test_an_approval_is_for_one_birth_of_one_submind_for_a_while():
    to = policy(approval="divisions", approval_holds=600)
    decision = to.consider(division(), NOON)
    assert (decision.verdict, decision.event.kind) == (GrowthVerdict.WAITING, GrowthKind.PROPOSED)
    to.apply(decision.event)
    assert to.consider(division(growth="causes/2"), NOON).event is None  # it waits already
    to.apply(to.approve(1, "ann", "fine", NOON))
    with pytest.raises(NotWaiting, match="g-1 waits for no approval: it was approved by ann"):
        to.approve(1, "bob", "", NOON)
    with pytest.raises(NotWaiting, match="no such proposal"):
        to.reject(7, "bob", "", NOON)
    assert to.consider(division("people", "p"), NOON).verdict is GrowthVerdict.WAITING
    assert to.consider(division(growth="causes/3"), NOON + 601).verdict is GrowthVerdict.WAITING
    child = grant(to, division(growth="causes/3"), NOON + 599)
    assert child.number == 3
    assert to.consider(division(growth="causes/4"), NOON + 599).verdict is GrowthVerdict.WAITING
    grant(to, retirement(child.name))  # needs none


def test_nothing_is_approved_while_frozen_and_who_is_rejected_rests():
    to = policy(approval="all", cooldown=600)
    to.apply(to.consider(division(), NOON).event)
    to.apply(to.freeze("ann", "", NOON))
    with pytest.raises(Frozen, match="frozen by ann"):
        to.approve(1, "ann", "", NOON)
    to.apply(to.thaw("ann", "", NOON))
    event = to.reject(1, "ann", "too early", NOON)
    assert (event.kind, event.proposal, event.submind, event.by) == (GrowthKind.REJECTED, 1, "causes", "ann")
    to.apply(event)
    assert refused(to, division(growth="causes/2"), NOON + 599).limit == "cooldown"
    assert to.consider(division(growth="causes/2"), NOON + 600).verdict is GrowthVerdict.WAITING


def test_the_same_refusal_is_written_down_once_in_an_hour():
    to = policy(ceiling=3, said_again=HOUR)
    decisions = [refused(to, division(growth=str(n)), NOON + n) for n in range(0, 3700, 100)]
    assert [n for n, decision in enumerate(decisions) if decision.event is not None] == [0, 36]
    assert refused(to, division("nobody")).event is None  # or anybody could fill the log


def test_a_word_for_a_name_is_taken_only_where_it_is_one():
    for hint, name in (("a b", "causes-1"), ("../x", "causes-1"), ("Pumps", "causes-1"), ("pumps", "pumps-1")):
        assert grant(policy(), division(hint=hint)).name == name
    to = GrowthPolicy(GrowthSettings(**LOOSE), CONFIGURED | {"causes-1": "cognitive"})
    assert grant(to, division()).name == "causes-1b"


def test_who_is_configured_no_more_leaves_its_children():
    before = policy()
    decision = before.consider(division(), NOON)
    after = GrowthPolicy(GrowthSettings(), {"text": "perceptual"})
    after.apply(decision.event, [decision.member])
    assert after.living == ("text", "causes-1")
    assert after.consider(division(growth="causes/2"), NOON).limit == "unknown"


def test_dividing_again_waits_until_the_first_has_settled_and_any_turn_for_the_whole_rest():
    to = policy(cooldown=600, settle=100)
    child = grant(to, division(growth="1")).name
    assert refused(to, division(growth="2"), NOON + 99).retry_at == NOON + 100
    grant(to, division(growth="2"), NOON + 100)
    grandchild = grant(to, division(child, "3"), NOON + 100).name
    assert refused(to, retirement(grandchild, "people"), NOON + 699).limit == "cooldown"
    grant(to, retirement(grandchild, "people"), NOON + 700)
    assert refused(to, division("people", "4"), NOON + 1299).limit == "cooldown"
    grant(to, division("people", "4"), NOON + 1300)
    assert refused(to, division("people", "5"), NOON + 2499).limit == "cooldown", "it turned within a day"
