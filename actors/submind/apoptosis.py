"""Apoptosis: a submind that was born here and has had nothing to do for long leaves what it has to its nearest peer."""

from dataclasses import replace

from actors.effects import Retire
from actors.settings import ApoptosisSettings
from actors.submind.division import HandoverSource, handover_of
from actors.submind.load import Load
from actors.submind.message_router import MessageRouter
from environment.messages import Instant


class Apoptosis:
    """When to propose to end.

    Guarantee: never for one that was not born in the mind, nor before it was idle for ``idle_for``, longer by the
    damping of topics that were given away and came back before.
    """

    def __init__(self, settings: ApoptosisSettings, load: Load) -> None:
        self._settings = settings
        self._load = load
        self._not_before: Instant = float("-inf")
        """Until when it was refused."""
        self.born = False
        """Whether it was born of another, and may end."""
        self.last_work: Instant = float("-inf")

    def configure(self, settings: ApoptosisSettings) -> None:
        """From the next look on."""
        self._settings = settings

    def refused(self, until: Instant) -> None:
        """Not before then, unless somebody permits it."""
        self._not_before = until

    def permitted(self) -> None:
        """What was refused may be proposed."""
        self._not_before = float("-inf")

    def ends_at(self, now: Instant) -> Instant | None:
        """When it has been idle for long enough, should nothing come; None for one that never ends."""
        if not self.born:
            return None
        return max(self.last_work + self._load.slowed(self._settings.idle_for, now), self._not_before)

    def proposal(self, growth: str, has: HandoverSource, router: MessageRouter, now: Instant) -> Retire | None:
        """What to propose; None where there is nobody to leave anything to."""
        handover = replace(
            handover_of(has, router, router.topics.keys, now), events=tuple(has.events), waiting=tuple(has.waiting)
        )
        handover = replace(handover, via={e.id: has.via[e.id] for e in has.events if e.id in has.via})
        heir = router.heir(handover.about)
        if not heir:
            return None
        return Retire(growth, heir, handover, f"idle for {(now - self.last_work) / 3600:.1f} h")
