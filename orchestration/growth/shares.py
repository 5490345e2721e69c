"""What each submind may spend, while those that retired may still be spending what they had."""

from environment.messages import Instant
from orchestration.growth import actor_messages
from orchestration.growth.policy import GrowthPolicy
from orchestration.growth.recent import RecentMembers


class BudgetShares:
    """The policy's shares, as processes are told them. Pure.

    Guarantees: what two processes may spend at a time never adds up to more than what one of them was configured
    with; what one leaves that ends is its heir's as soon as its process has, together with what was spent of it.
    """

    def __init__(self, policy: GrowthPolicy) -> None:
        self._policy = policy
        self._recent = RecentMembers(policy)
        self.leaving: set[str] = set()
        """Those who retired, while their processes may still spend what they had."""

    def of(self, name: str) -> float:
        """What an actor has of a configured submind's part of the budgets; 1 for who is no submind."""
        if self._policy.role(name) is None:
            return 1.0
        spending = [gone for gone in self.leaving if self._heir(gone) == name and not self._inherited(gone)]
        return self._policy.share(name) - sum(self._policy.left(gone) for gone in spending)

    def predecessors(self, name: str, now: Instant) -> tuple[str, ...]:
        """Who ended within a day and left what it had to an actor, directly or by others; the last one first."""
        ended = [(member.retired, member.name) for member in self._recent.changed(now) if member.retired is not None]
        last_first = sorted(ended, reverse=True)
        return tuple(gone for _, gone in last_first if gone not in self.leaving and self._heir(gone) == name)

    def _heir(self, gone: str) -> str:
        return actor_messages.living_heir(gone, self._policy.members)

    def _inherited(self, gone: str) -> bool:
        """Whether what one left is part of what another left that has yet to end as well."""
        members, heir = self._policy.members, self._policy.members[gone].heir
        while heir in members and not members[heir].living and heir not in self.leaving:
            heir = members[heir].heir
        return heir in self.leaving
