"""A candidacy, step by step."""

import pytest

from orchestration.membership.election import (
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
    Renewed,
    Revoke,
    TimePassed,
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
