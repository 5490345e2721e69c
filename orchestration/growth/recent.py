"""Those members that others may still have to hear of, without looking at all who were ever born each time."""

from environment.messages import Instant
from environment.population import Member
from orchestration.growth import actor_messages
from orchestration.growth.history import DAY
from orchestration.growth.policy import GrowthPolicy


class RecentMembers:
    """What of a population is news. Looks at all members only where the log went on since it last did. Pure."""

    def __init__(self, policy: GrowthPolicy) -> None:
        self._policy = policy
        self._seq = -1
        self._changed: tuple[str, ...] = ()
        self._unsettled: tuple[str, ...] = ()

    def changed(self, now: Instant) -> list[Member]:
        """Who was born or retired within a day."""
        self._look(now)
        found = (self._policy.members[name] for name in self._changed)
        return [member for member in found if _at(member) > now - DAY]

    def unsettled(self, now: Instant) -> list[tuple[str, Member]]:
        """As ``granting.unsettled`` of all members."""
        self._look(now)
        return actor_messages.unsettled(self._policy.members[name] for name in self._unsettled)

    def _look(self, now: Instant) -> None:
        if self._seq != self._policy.seq:
            members = self._policy.members.values()
            self._changed = tuple(member.name for member in members if _at(member) > now - DAY)
            self._unsettled = tuple(member.name for member in members if not member.settled)
            self._seq = self._policy.seq


def _at(member: Member) -> Instant:
    return member.born if member.retired is None else member.retired
