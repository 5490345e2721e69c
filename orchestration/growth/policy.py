"""The one place that decides who may be born and who may end."""

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from environment.clocks import was_wrong
from environment.messages import Instant
from environment.population import GrowthEvent, GrowthKind, Member
from orchestration.faculties import growing_roles
from orchestration.growth.errors import Frozen, NotWaiting
from orchestration.growth.history import DAY, HOUR, DecisionHistory, SubmindRecord
from orchestration.growth.proposals import MOST_CHARS, GrowthAct, GrowthDecision, GrowthProposal, GrowthVerdict
from orchestration.growth.settings import Approval, GrowthSettings

BY_POLICY = "guard"
"""By whom a decision is that follows from the bounds alone."""
_WORD = re.compile(r"[a-z][-a-z0-9]{0,30}")
_MOST_TOPICS = 256
_NOTHING, _NOBODY = np.zeros(0, np.float32), SubmindRecord(share=0.0)
_ACTS = {GrowthKind.DIVIDED: GrowthAct.DIVIDE, GrowthKind.RETIRED: GrowthAct.RETIRE}


class GrowthPolicy:
    """Holds growth within its bounds; a fold over the audit log, pure: every method is told the time.

    Guarantees, whatever is proposed, in whatever order, as often as one likes: never more than ``ceiling`` subminds
    live (but those configured do), never more than ``births_per_hour`` are born within an hour of the policy's time,
    the shares of all that live never add up to more than they were configured with (but the children of one that is
    configured no more keep theirs), nothing is granted while frozen, and where approval is wanted each grant has one of
    its own. Time that runs backwards is taken as standing still, but by so much that the clock must have been wrong:
    then what that dated ahead was decided when it is seen to have been. ``consider`` and the operator's methods change
    nothing: only ``apply`` does, with an event that is in the log, and ``set_back``.
    """

    def __init__(self, settings: GrowthSettings, configured: Mapping[str, str]) -> None:
        """``configured``: name to role of the subminds that the mind is configured with."""
        self._settings = settings
        self._configured = dict(configured)
        self.seq = 0
        """The last event that was applied."""
        self.members: dict[str, Member] = {}
        """Every member that was ever born, as it is now; but one whose name is configured by now is what that says."""
        self.frozen: GrowthEvent | None = None
        """By what growth is frozen; None while it is not."""
        self.waiting: dict[int, GrowthEvent] = {}
        """Proposals that wait for an approval, by number."""
        self._latest: Instant = 0.0
        self._records = {name: SubmindRecord() for name in configured}
        self._known = DecisionHistory()

    # --- what is so ---

    @property
    def living(self) -> tuple[str, ...]:
        """All subminds: those configured, then those born that have not retired."""
        born = (m.name for m in self.members.values() if m.living and m.name not in self._configured)
        return (*self._configured, *born)

    def role(self, name: str) -> str | None:
        """The role of a living submind; None where there is none of this name."""
        if name in self._configured:
            return self._configured[name]
        member = self.members.get(name)
        return member.role if member is not None and member.living else None

    def share(self, name: str) -> float:
        """What a living submind has of a configured one's part of the budgets, 0..1 and more.

        What a retired one had is its heir's at once, and so is what it had spent (``Account.inherit``).
        """
        return self._records.get(name, _NOBODY).share

    def left(self, name: str) -> float:
        """What a retired one left of that; nothing after a day, for which budgets last."""
        return self._records.get(name, _NOBODY).left

    def permits(self, now: Instant) -> list[GrowthEvent]:
        """Approvals that hold and were not made use of."""
        since = self._time(now) - self._settings.approval_holds
        return [each for each in self._known.permits.values() if each.at > since]

    def births(self, now: Instant) -> int:
        """Births within the last hour."""
        return sum(1 for at in self._known.births if at + HOUR > self._time(now))

    def apply(self, event: GrowthEvent, members: Iterable[Member] = ()) -> None:
        """Take in the next event of the log, with the members that were written by it. An older one changes nothing."""
        if event.seq <= self.seq:
            return
        self.seq = event.seq
        if event.by == BY_POLICY:  # the clock that decides; that of an operator's machine says nothing of it
            self.set_back(event.at)
        self._latest = max(self._latest, event.at)
        for member in members:
            self.take(member)
        match event.kind:
            case GrowthKind.FROZEN:
                self.frozen = event
            case GrowthKind.THAWED:
                self.frozen = None
            case GrowthKind.PROPOSED:
                self.waiting[event.seq] = event
            case GrowthKind.APPROVED | GrowthKind.REJECTED:
                self._answer(event)
            case GrowthKind.REFUSED:
                self._known.refusals[event.submind, event.act, event.limit] = event.at
            case GrowthKind.DIVIDED:
                self._divided(event)
            case GrowthKind.RETIRED:
                self._retired(event)
        for name in self._known.forget(self._latest, self._settings) - self._configured.keys():
            self._records.pop(name, None)

    def take(self, member: Member) -> None:
        """A member as it is now. Nobody looks for what is done with: what that was about is left to the store."""
        if member.name not in self._configured:
            done = member.settled and not member.living
            self.members[member.name] = replace(member, about=_NOTHING) if done else member

    def set_back(self, now: Instant) -> float:
        """Let what a wrong clock dated ahead count from now on, no longer than it would; by how many seconds it was."""
        if not was_wrong(self._latest, now):
            return 0.0
        ahead, self._latest = self._latest - now, now
        self._known.set_back(now)
        for record in self._records.values():
            record.set_back(now)
        return ahead

    # --- what is decided ---

    def consider(
        self, proposal: GrowthProposal, now: Instant, nodes: Mapping[str, int] | None = None
    ) -> GrowthDecision:
        """Decide on a proposal. ``nodes``: subminds on each machine with room for one more; None: not known."""
        now = self._time(now)
        known = self._known.granted(proposal.submind, proposal.growth)
        if known is not None and known.act == proposal.act:
            member = self.members.get(known.other if proposal.act is GrowthAct.DIVIDE else known.submind)
            return GrowthDecision(GrowthVerdict.GRANTED, "granted before", member=member)
        refusal = self._refusal(proposal, now)
        if refusal is not None:
            return self._refuse(proposal, now, *refusal)
        permit = self._permit(proposal, now)
        if self._wants_approval(proposal) and permit is None:
            return self._wait(proposal, now)
        # Last of all: for want of room a cluster brings a node, and none is wanted for who may not be born anyway.
        most = self._settings.per_node
        if proposal.act is GrowthAct.DIVIDE and nodes is not None and min(nodes.values(), default=most) >= most:
            said = f"no machine has room and fewer than {most} subminds"
            return self._refuse(proposal, now, "per_node", said, None)
        number = permit.proposal if permit else 0
        return (
            self._divide(proposal, now, number)
            if proposal.act is GrowthAct.DIVIDE
            else self._end(proposal, now, number)
        )

    def freeze(self, by: str, reason: str, now: Instant) -> GrowthEvent | None:
        """Stop all growth; None where it is frozen already."""
        return None if self.frozen else self._event(now, GrowthKind.FROZEN, by, reason=reason)

    def thaw(self, by: str, reason: str, now: Instant) -> GrowthEvent | None:
        """Let growth go on; None where it is not frozen."""
        return self._event(now, GrowthKind.THAWED, by, reason=reason) if self.frozen else None

    def approve(self, number: int, by: str, reason: str, now: Instant) -> GrowthEvent:
        """Permit what a waiting proposal asks for, once. Raises ``NotWaiting``, ``Frozen``."""
        proposed = self._proposed(number)
        if self.frozen:
            raise Frozen(self.frozen.by)
        return self._reply(proposed, GrowthKind.APPROVED, by, reason, now)

    def reject(self, number: int, by: str, reason: str, now: Instant) -> GrowthEvent:
        """Do not permit it: the submind rests for ``cooldown``. Raises ``NotWaiting``."""
        return self._reply(self._proposed(number), GrowthKind.REJECTED, by, reason, now)

    # --- bounds ---

    def _refusal(self, proposal: GrowthProposal, now: Instant) -> tuple[str, str, Instant | None] | None:
        """The bound that forbids it, why, and from when on it may be otherwise; None where none does."""
        name, settings = proposal.submind, self._settings
        if self.role(name) is None:
            return "unknown", f"no submind of this mind is called {name}", None
        if self.role(name) not in growing_roles():
            return "role", f"{name} is {self.role(name)}, and only cognitive subminds divide and retire", None
        if fault := proposal.fault():
            return "malformed", fault, None
        if proposal.size > settings.handover_bytes:
            return "handover_bytes", f"{proposal.size} bytes to hand over, {settings.handover_bytes} at most", None
        if self.frozen:
            return "frozen", f"growth is frozen by {self.frozen.by}", None
        rested = self._rested(name, proposal.act)
        if rested > now:
            return "cooldown", f"{name} took part in a change of the population, or was refused one, lately", rested
        return self._no_birth(name, now) if proposal.act is GrowthAct.DIVIDE else self._no_end(proposal, now)

    def _no_birth(self, name: str, now: Instant) -> tuple[str, str, Instant | None] | None:
        settings, record = self._settings, self._records[name]
        if len(self.living) >= settings.ceiling:
            return "ceiling", f"{len(self.living)} subminds live, and {settings.ceiling} may", None
        if record.generation >= settings.generations:
            return "generations", f"{name} is {record.generation} divisions from a configured submind", None
        if (half := self.share(name) / 2) < settings.least_share:
            return "least_share", f"half of its budget is {half:g} of a configured submind's", None
        return self._too_fast("births_per_hour", settings.births_per_hour, self._known.births, now)

    def _no_end(self, proposal: GrowthProposal, now: Instant) -> tuple[str, str, Instant | None] | None:
        name, heir = proposal.submind, proposal.heir
        if name in self._configured:
            return "configured", f"{name} is configured: only who was born retires", None
        if heir == name or self.role(heir) not in growing_roles():
            return "heir", f"{heir or 'nobody'} cannot be its heir", None
        if any(not m.settled and name == (m.parent if m.living else m.heir) for m in self.members.values()):
            return "unsettled", f"{name} has to let go or take over something first", now + self._settings.ask_again
        settings = self._settings
        return self._too_fast("retirements_per_hour", settings.retirements_per_hour, self._known.retirements, now)

    @staticmethod
    def _too_fast(limit: str, most: int, times: deque[Instant], now: Instant) -> tuple[str, str, Instant | None] | None:
        within = [at for at in times if at + HOUR > now]
        if len(within) < most:
            return None
        what = limit.partition("_")[0]
        return limit, f"{len(within)} {what} in the last hour, {most} at most", within[-most] + HOUR if most else None

    def _rested(self, name: str, act: GrowthAct) -> Instant:
        """Until when a submind neither divides nor retires."""
        record, settings = self._records[name], self._settings
        if record.acted is None:
            return 0.0
        turns = sum(1 for at in record.turns if at + DAY > self._latest)
        if act is GrowthAct.DIVIDE and record.dividing and not turns:
            return record.acted + min(settings.settle, settings.cooldown)
        return record.acted + min(
            settings.cooldown * 2.0 ** min(turns, 32), max(settings.cooldown_most, settings.cooldown)
        )

    def _wants_approval(self, proposal: GrowthProposal) -> bool:
        wanted = self._settings.approval
        return wanted is Approval.ALL or (wanted is Approval.DIVISIONS and proposal.act is GrowthAct.DIVIDE)

    def _permit(self, proposal: GrowthProposal, now: Instant) -> GrowthEvent | None:
        wanted = (proposal.submind, proposal.act)
        return next((each for each in self.permits(now) if (each.submind, each.act) == wanted), None)

    # --- decisions ---

    def _refuse(
        self, proposal: GrowthProposal, now: Instant, limit: str, reason: str, until: Instant | None
    ) -> GrowthDecision:
        retry_at = until if until is not None else now + self._settings.ask_again
        said = self._known.refusals.get((proposal.submind, proposal.act, limit))
        event = None
        if limit not in {"unknown", "cooldown"} and (said is None or said + self._settings.said_again <= now):
            event = self._event(now, GrowthKind.REFUSED, BY_POLICY, proposal, limit=limit, reason=reason)
        return GrowthDecision(GrowthVerdict.REFUSED, reason, retry_at, limit, event)

    def _wait(self, proposal: GrowthProposal, now: Instant) -> GrowthDecision:
        retry_at = now + self._settings.ask_again
        if any((each.submind, each.act) == (proposal.submind, proposal.act) for each in self.waiting.values()):
            return GrowthDecision(GrowthVerdict.WAITING, "it waits for an approval", retry_at)
        event = self._event(now, GrowthKind.PROPOSED, BY_POLICY, proposal, other=proposal.heir, reason=proposal.reason)
        return GrowthDecision(GrowthVerdict.WAITING, "it waits for an approval", retry_at, event=event)

    def _divide(self, proposal: GrowthProposal, now: Instant, number: int) -> GrowthDecision:
        name, record, seq = proposal.submind, self._records[proposal.submind], self.seq + 1
        child = self._name(proposal, seq)
        event = self._event(
            now, GrowthKind.DIVIDED, BY_POLICY, proposal, other=child, number=number, reason=proposal.reason
        )
        about = proposal.about if proposal.about is not None else _NOTHING
        member = Member(
            name=child,
            role=self.role(name) or "",
            goals=proposal.goals,
            parent=name,
            generation=record.generation + 1,
            number=seq,
            born=event.at,
            share=self.share(name) / 2,
            topics=event.topics,
            keys=proposal.keys,
            about=about,
            growth=proposal.growth,
        )
        return GrowthDecision(GrowthVerdict.GRANTED, event=event, member=member)

    def _end(self, proposal: GrowthProposal, now: Instant, number: int) -> GrowthDecision:
        event = self._event(
            now, GrowthKind.RETIRED, BY_POLICY, proposal, other=proposal.heir, number=number, reason=proposal.reason
        )
        member = replace(self.members[proposal.submind], retired=event.at, heir=proposal.heir, settled=False)
        return GrowthDecision(GrowthVerdict.GRANTED, event=event, member=member)

    def _name(self, proposal: GrowthProposal, seq: int) -> str:
        """A name that nobody had before: numbers of events are given once."""
        root = proposal.submind
        while root in self.members:
            root = self.members[root].parent
        word = proposal.hint if _WORD.fullmatch(proposal.hint) else root
        name = f"{word[:40].rstrip('-')}-{seq}"
        while name in self._configured or name in self.members:
            name += "b"
        return name

    def _event(
        self,
        now: Instant,
        kind: GrowthKind,
        by: str,
        proposal: GrowthProposal | None = None,
        *,
        other: str = "",
        number: int = 0,
        limit: str = "",
        reason: str = "",
    ) -> GrowthEvent:
        at = self._time(now)
        reason = reason[:MOST_CHARS]
        if proposal is None:
            return GrowthEvent(self.seq + 1, at, kind, by, reason=reason)
        topics = tuple(topic[:MOST_CHARS] for topic in proposal.topics[:_MOST_TOPICS])
        act, growth = proposal.act.value, proposal.growth[:MOST_CHARS]
        return GrowthEvent(
            *(self.seq + 1, at, kind, by, proposal.submind, act, other, topics, growth, number, limit, reason)
        )

    # --- the operator ---

    def _proposed(self, number: int) -> GrowthEvent:
        if number in self.waiting:
            return self.waiting[number]
        answer = self._known.answered(number)
        if answer is not None:
            raise NotWaiting(f"g-{number}", f"it was {answer.kind.value} by {answer.by}", answer)
        raise NotWaiting(f"g-{number}", "there is no such proposal, unless it was decided long ago")

    def _reply(self, proposed: GrowthEvent, kind: GrowthKind, by: str, reason: str, now: Instant) -> GrowthEvent:
        at = self._time(now)
        return replace(
            proposed, seq=self.seq + 1, at=at, kind=kind, by=by, proposal=proposed.seq, reason=reason[:MOST_CHARS]
        )

    # --- the fold ---

    def _answer(self, event: GrowthEvent) -> None:
        self.waiting.pop(event.proposal, None)
        self._known.answer(event)
        if event.kind is GrowthKind.APPROVED:
            self._known.permits[event.submind, event.act] = event
        elif event.submind in self._records:
            record = self._records[event.submind]
            record.acted, record.dividing = event.at, False

    def _divided(self, event: GrowthEvent) -> None:
        parent = self._record(event.submind)
        parent.share /= 2
        child = SubmindRecord(parent.generation + 1, parent.share, parent=event.submind)
        self._records[event.other] = child
        self._known.births.append(event.at)
        self._acted(event, event.submind, event.other)
        child.turns = parent.turns  # or its retirement would rest for less than that of its parent's other half
        self._over(event)

    def _retired(self, event: GrowthEvent) -> None:
        gone = self._record(event.submind)
        self._record(event.other).share += gone.share
        gone.left, gone.share = gone.share, 1.0 if event.submind in self._configured else 0.0
        self._known.retirements.append(event.at)
        self._known.end(event)
        self._record(event.other).turns |= gone.turns
        self._acted(event, event.submind, event.other)
        self._over(event)
        for number in [n for n, each in self.waiting.items() if each.submind == event.submind]:
            del self.waiting[number]

    def _acted(self, event: GrowthEvent, *names: str) -> None:
        for name in names:
            self._record(name).take_part(_ACTS[event.kind], event.at)

    def _over(self, event: GrowthEvent) -> None:
        """What holds of both acts once they are done."""
        self._known.grant(event)
        self._known.permits.pop((event.submind, event.act), None)
        for number in [n for n, e in self.waiting.items() if (e.submind, e.act) == (event.submind, event.act)]:
            del self.waiting[number]

    def _record(self, name: str) -> SubmindRecord:
        """Also of one that is configured no more, of whom the log still speaks."""
        return self._records.setdefault(name, SubmindRecord())

    def _time(self, now: Instant) -> Instant:
        return max(self._latest, now)
