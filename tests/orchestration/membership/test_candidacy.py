"""A candidacy, step by step."""

from __future__ import annotations

import pytest

from orchestration.membership.election import (
    USABLE,
    BeginTerm,
    Campaign,
    Candidacy,
    Elected,
    EndTerm,
    Failed,
    Grant,
    Granted,
    LeaderRead,
    Phase,
    ReadLeader,
    Renew,
    Renewed,
    Resign,
    Revoke,
    TimePassed,
    Vacated,
    Wake,
)

LEASE = 9.0


def leading(now: float = 0.0) -> Candidacy:
    """One that was elected with token 5, under lease 77, asked for at ``now``."""
    candidacy = Candidacy(LEASE, 1.0)
    assert candidacy.handle(TimePassed(), now) == [ReadLeader(1)]
    assert candidacy.handle(LeaderRead(1, False, 4, 30), now) == [Grant(2)]
    assert candidacy.handle(Granted(2, 77, LEASE, now), now + 1) == [Campaign(3, 77, 5, 30)]
    assert candidacy.handle(Elected(3, 77, True), now + 2) == [BeginTerm(5), Wake(now + LEASE / 3)]
    assert candidacy.token == 5
    return candidacy


def test_a_lease_counts_from_before_it_was_asked_for() -> None:
    candidacy = leading()
    assert candidacy.until == USABLE * LEASE
    assert candidacy.leads(8.0)
    assert not candidacy.leads(8.1)
    assert candidacy.handle(TimePassed(), 3.0) == [Renew(4, 77), Wake(candidacy.until)]
    assert candidacy.handle(Renewed(4, LEASE, 3.0, 77), 7.0) == [Wake(6.0)]
    assert candidacy.until == 3.0 + USABLE * LEASE


def test_its_own_clock_has_the_last_word() -> None:
    """A confirmation that comes after the lease may have been over comes too late."""
    candidacy = leading()
    candidacy.handle(TimePassed(), 3.0)
    (stop,) = candidacy.handle(Renewed(4, LEASE, 3.0, 77), 8.2)
    assert isinstance(stop, EndTerm)
    assert candidacy.phase is Phase.OVER
    assert candidacy.handle(TimePassed(), 9.0) == []
    assert candidacy.handle(Resign(), 9.0) == [Revoke(77)]


@pytest.mark.parametrize(
    ("ttl", "by", "reason"),
    [
        (0.0, None, "etcd has ended its lease"),
        (LEASE, 78, "etcd names another leader"),
        (LEASE, 0, "etcd names another leader"),
        (LEASE, None, "etcd names no leader any more"),
    ],
)
def test_it_stops_when_etcd_says_otherwise(ttl: float, by: int | None, reason: str) -> None:
    candidacy = leading()
    candidacy.handle(TimePassed(), 3.0)
    assert candidacy.handle(Renewed(4, ttl, 3.0, by), 3.1) == [EndTerm(reason)]


def test_signs_of_life_are_tried_again_until_the_end() -> None:
    candidacy = leading()
    assert candidacy.handle(TimePassed(), 3.0) == [Renew(4, 77), Wake(candidacy.until)]
    assert candidacy.handle(TimePassed(), 3.5) == [Wake(candidacy.until)], "two at a time"
    assert candidacy.handle(Failed(4, "no answer"), 5.0) == [Wake(6.0)]
    assert candidacy.handle(TimePassed(), 6.0) == [Renew(5, 77), Wake(candidacy.until)]
    (stop,) = candidacy.handle(TimePassed(), candidacy.until)
    assert isinstance(stop, EndTerm)


def test_an_election_that_is_heard_of_too_late_is_given_back() -> None:
    candidacy = Candidacy(LEASE, 1.0)
    candidacy.handle(TimePassed(), 0.0)
    candidacy.handle(LeaderRead(1, False, 0, 0), 0.0)
    candidacy.handle(Granted(2, 77, LEASE, 0.0), 0.0)
    assert candidacy.handle(Elected(3, 77, True), 8.1) == [Revoke(77), Wake(9.1)]
    assert candidacy.token is None


def test_an_answer_after_its_own_timeout_begins_nothing() -> None:
    """What the simulated schedules found: the lease was given back, and the term would have had none."""
    candidacy = Candidacy(LEASE, 1.0)
    candidacy.handle(TimePassed(), 0.0)
    candidacy.handle(LeaderRead(1, False, 0, 0), 0.0)
    candidacy.handle(Granted(2, 77, LEASE, 0.0), 0.0)
    assert candidacy.handle(Failed(3, "no answer"), 2.0) == [Revoke(77), Wake(3.0)]
    assert candidacy.handle(Elected(3, 77, True), 2.1) == [Revoke(77)]
    assert candidacy.phase is Phase.WAITING
    assert candidacy.handle(Granted(2, 76, LEASE, 0.0), 2.2) == [Revoke(76)]


def test_who_is_beaten_waits_until_the_leader_is_gone() -> None:
    candidacy = Candidacy(LEASE, 1.0)
    assert candidacy.handle(TimePassed(), 0.0) == [ReadLeader(1)]
    assert candidacy.handle(LeaderRead(1, True, 0, 0), 0.0) == [Wake(LEASE)]
    assert candidacy.handle(TimePassed(), 1.0) == [Wake(LEASE)]
    assert candidacy.handle(Vacated(), 2.0) == [ReadLeader(2)]
    assert candidacy.handle(Vacated(), 2.1) == []
    candidacy.handle(LeaderRead(2, False, 7, 40), 2.2)
    candidacy.handle(Granted(3, 78, LEASE, 2.2), 2.3)
    assert candidacy.handle(Elected(4, 78, False), 2.4) == [Revoke(78), Wake(2.4)]
    assert candidacy.handle(TimePassed(), 2.4) == [ReadLeader(5)]
    assert candidacy.handle(Resign(), 2.5) == []
    assert candidacy.handle(LeaderRead(5, False, 7, 40), 2.6) == []
