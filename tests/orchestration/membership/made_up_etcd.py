"""What elections need of an etcd, made up: in virtual time, with a clock that goes wrong."""

from dataclasses import dataclass, field

from orchestration.membership.election import Campaign
from orchestration.membership.errors import NotLeading

LEASE = 10.0


@dataclass
class MadeUpEtcd:
    """One key that names the leader, one that counts, and leases that end by a clock of its own."""

    rate: float
    up: bool = True
    leader: tuple[str, int, int] | None = None
    """Candidate, token, lease."""
    counter: tuple[int, int] = (0, 0)
    revision: int = 1
    leases: dict[int, float] = field(default_factory=dict)
    """Until when, in true time."""
    given: list[int] = field(default_factory=list)
    """Tokens, in their order."""

    def expire(self, now: float) -> bool:
        """End the leases whose time is over; whether the leader went with them."""
        self.leases = {lease: end for lease, end in self.leases.items() if end > now}
        return self._drop()

    def grant(self, now: float, number: int) -> None:
        self.leases[number] = now + LEASE / self.rate

    def campaign(self, who: str, step: Campaign) -> bool:
        if self.leader is not None or self.counter[1] != step.counter_revision or step.lease not in self.leases:
            return False
        self._claim(who, step.token, step.lease)
        return True

    def advance(self, who: str, token: int, above: int) -> int:
        if self.leader is None or self.leader[:2] != (who, token):
            raise NotLeading(who, "another leads")
        self._claim(who, max(self.counter[0], above) + 1, self.leader[2])
        return self.counter[0]

    def renew(self, now: float, lease: int, extra: float) -> float:
        if lease not in self.leases:
            return 0.0
        self.leases[lease] = now + LEASE / self.rate + extra
        return LEASE

    def revoke(self, lease: int) -> bool:
        self.leases.pop(lease, None)
        return self._drop()

    def _claim(self, who: str, token: int, lease: int) -> None:
        assert not self.given or token > self.given[-1], "a token was given twice"
        self.given.append(token)
        self.revision += 1
        self.leader, self.counter = (who, token, lease), (token, self.revision)

    def _drop(self) -> bool:
        if self.leader is not None and self.leader[2] not in self.leases:
            self.leader = None
            return True
        return False
