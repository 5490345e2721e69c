"""What the policy remembers: no longer than it counts, and by no clock that was wrong."""

from dataclasses import fields, replace

import numpy as np
import pytest

from orchestration.growth.errors import NotWaiting
from orchestration.growth.history import DAY, HOUR
from tests.orchestration.growth.test_policy import CONFIGURED, NOON, division, grant, policy, refused, retirement


@pytest.mark.parametrize("ahead", [8 * HOUR, 365 * DAY])
def test_what_a_wrong_clock_dated_ahead_counts_from_when_that_is_seen(ahead):
    to = policy(births_per_hour=2, cooldown=600, settle=600, said_again=HOUR)
    grant(to, division(growth="1"), NOON + ahead)
    grant(to, division("people", "2"), NOON + ahead)
    assert to.set_back(NOON) == ahead
    assert to.set_back(NOON) == 0
    assert to.births(NOON) == 2
    refused(to, division(growth="3"), NOON + 601)
    decision = refused(to, division(growth="3"), NOON + HOUR - 1)
    assert (decision.limit, decision.retry_at) == ("births_per_hour", NOON + HOUR), "never more than in any hour"
    assert grant(to, division(growth="3"), NOON + HOUR).born == NOON + HOUR


def test_an_approval_that_a_wrong_clock_dated_ahead_holds_no_longer_than_any():
    to = policy(approval="divisions", approval_holds=HOUR)
    to.apply(to.consider(division(), NOON + DAY).event)
    to.apply(to.approve(1, "ann", "", NOON + DAY))
    to.set_back(NOON)
    assert len(to.permits(NOON + HOUR - 1)) == 1
    assert to.permits(NOON + HOUR) == []


def test_a_slow_clock_of_an_operator_lets_nobody_be_born():
    to = policy(births_per_hour=1)
    grant(to, division(growth="1"), NOON)
    slow = policy().freeze("ann", "", NOON - DAY)
    to.apply(replace(slow, seq=2))
    to.apply(to.thaw("ann", "", NOON + 1))
    assert refused(to, division(growth="2"), NOON + 2).limit == "births_per_hour"


def size_of(to):
    """Things that the policy remembers beside the members, which the page lists."""
    known = to._known
    kept = [getattr(known, field.name) for field in fields(known)]
    grants = sum(len(each) for each in known._granted.values())
    turns = sum(len(line.turns) for line in to._records.values())
    return sum(map(len, kept)) + grants + len(to._records) + len(to.waiting) + turns


def test_a_year_of_growth_leaves_a_policy_no_larger():
    """Births, ends, refusals of ever new names, approvals and rejections, each told apart for a while only."""
    to, sizes = policy(approval="divisions", said_again=HOUR, ceiling=5), []
    for n in range(8 * 365):
        now = NOON + n * 3 * HOUR
        parent = "causes" if n % 2 else "people"
        to.apply(to.consider(division(parent, f"{n}"), now).event)
        proposal = to.seq
        decide = to.reject if n % 5 == 0 else to.approve
        to.apply(decide(proposal, "ann", "", now))
        if n % 5:
            child = grant(to, division(parent, f"{n}", about=np.ones(8, np.float32)), now).name
            refused(to, division(child, "", topics=()), now + 1)
            refused(to, retirement(child, "nobody"), now + 1)
            grant(to, retirement(child, parent), now + 2)
            to.take(replace(to.members[child], settled=True))
            assert to.share(child) == 0
            assert to.consider(retirement(child, parent), now + 3).reason == "granted before"
        sizes.append(size_of(to))
    assert max(sizes[2000:]) <= max(sizes[1000:2000]) < 1400
    assert sum(to.share(name) for name in to.living) == len(CONFIGURED)
    assert not any(member.about.size for member in to.members.values())


def test_what_is_forgotten_is_the_same_after_a_start():
    to, log = policy(ceiling=4, said_again=HOUR), []
    for n in range(40):
        now = NOON + n * 5 * HOUR
        for proposal in (division(growth=f"{n}"), division("people", f"{n}")):
            decision = to.consider(proposal, now)
            if decision.event:
                log.append((decision.event, [decision.member] if decision.member else []))
                to.apply(*log[-1])
        for child in [name for name in to.living if name not in CONFIGURED]:
            decision = to.consider(retirement(child), now + 1)
            log.append((decision.event, [decision.member]))
            to.apply(*log[-1])
    after = policy(ceiling=4, said_again=HOUR)
    for event, members in log:
        after.apply(event, members)
    assert (after._known, after._records, after.members) == (to._known, to._records, to.members)
    with pytest.raises(NotWaiting, match="there is no such proposal"):
        after.approve(1, "ann", "", NOON)
