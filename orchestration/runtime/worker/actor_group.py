"""Many actors in one process: each with a life of its own, its deaths and its restarts. They may come and go."""

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TypeAlias

import structlog

from environment.errors import FencedOut
from environment.messages import SubmindState
from environment.ports import Stores
from orchestration.links.frames import Envelope
from orchestration.runtime.reporting import write_reports
from orchestration.runtime.settings import SupervisionSettings
from orchestration.runtime.worker.live import Ending, LiveActor
from orchestration.runtime.worker.restarts import RestartPolicy, rest
from orchestration.settings import SettingsUpdate
from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)

Beginning: TypeAlias = "Callable[[ActorPlan], LiveActor]"
"""Makes an actor that has yet to be born."""


class GroupMember:
    """One actor of a group, through all its lives. What the links of its process know it as."""

    def __init__(self, plan: ActorPlan, actor: LiveActor, policy: RestartPolicy) -> None:
        self.plan = plan
        self.actor = actor
        self.policy = policy
        self.quarantined = ""
        """Why it is not started again; empty while it is."""
        self.leaving = False
        """It has no other life: it is to save, end, and live here no more."""

    def deliver(self, envelopes: Sequence[Envelope]) -> bool:
        """Take mail in; what comes between two lives waits for the next. Whether there is room for more."""
        return bool(self.quarantined) or self.actor.deliver(envelopes)

    def configure(self, event: SettingsUpdate) -> None:
        """Settings were changed."""
        self.actor.configure(event)

    def health(self) -> Mapping[str, float]:
        """How it is."""
        return self.actor.health()

    def stop(self) -> None:
        """The group is stopped as a whole."""
        _log.warning("stop_unasked", submind=self.plan.name)


@dataclass(eq=False, repr=False)
class ActorGroup:
    """The actors of one process.

    Guarantees: what happens to one happens to no other: an error in its core ends that life alone, the next begins
    from the saved state after a pause that grows with recent deaths, and one that dies too often is quarantined, all
    as it would in a process of its own. Who comes and goes while it lives (``enlist``) disturbs nobody else. ``live``
    returns when all were stopped, another run leads, or a later life of the process has begun.

    ``forget`` is told who is not found here any more.

    ``came`` and ``left`` are told who lives here since ``enlist``, and who no more. ``roster``: that of ``plans``.
    """

    _plans: Iterable[ActorPlan]
    _begin: Beginning
    _stores: Stores
    _fence: int
    _settings: SupervisionSettings
    _chance: random.Random
    _forget: Callable[[str], None]
    _: KW_ONLY
    came: Callable[[GroupMember], None] | None = None
    left: Callable[[str], None] | None = None
    roster: int = 0

    def __post_init__(self) -> None:
        self._came = self.came or (lambda _: None)
        self._left = self.left or (lambda _: None)
        founders = tuple(self._plans)
        self._founders = {plan.name: plan for plan in founders}
        self._returning: dict[str, ActorPlan] = {}
        """Who was named again before it had left: it comes back once it has saved."""
        self.members = [self._member(plan) for plan in founders]
        self._roster = self._so = self.roster
        self._configured: SettingsUpdate | None = None
        self._stopping = asyncio.Event()
        self._before = 0
        self._lives: dict[str, asyncio.Task[Ending]] = {}
        self._over: asyncio.Future[Ending] | None = None
        """Once ``live`` was begun: how that ends."""

    def _member(self, plan: ActorPlan) -> GroupMember:
        return GroupMember(
            plan, self._begin(plan), RestartPolicy(self._settings, self._chance, essential=plan.faculty.essential)
        )

    def deliver(self, envelopes: Sequence[Envelope]) -> bool:
        """Nobody writes to a group as such."""
        _log.warning("mail_unasked", events=len(envelopes))
        return True

    def configure(self, event: SettingsUpdate) -> None:
        """Settings were changed: everybody is told, and whoever is yet to be born."""
        self._configured = event
        for member in self.members:
            member.configure(event)

    def health(self) -> Mapping[str, float]:
        """All of them together; by name who died (``restarts:NAME``) and who was given up (``quarantined:NAME``)."""
        living = [member.actor for member in self.members if not member.quarantined]
        healths = [actor.own_health() for actor in living]  # of thousands, at each ping
        born, mailbox, thinking, refusals, obeyed = zip(*healths, strict=True) if healths else ((),) * 5
        found = {
            "born": float(all(born)),
            "living": float(len(living)),
            "mailbox": float(sum(mailbox)),
            "outbox": living[0].health()["outbox"] if living else 0.0,  # one for all
            "thinking": float(sum(thinking)),
            "store_refusals_in_a_row": float(max(refusals, default=0)),
            "configuration": float(min(obeyed, default=float("inf"))),
            "roster": float(self._so),
        }
        for member in self.members:
            if member.policy.restarts:
                found[f"restarts:{member.plan.name}"] = float(member.policy.restarts)
            if member.quarantined:
                found[f"quarantined:{member.plan.name}"] = 1.0
        return found

    def enlist(self, version: int, came: Iterable[ActorPlan], gone: Iterable[str]) -> None:
        """Who lives here, against whom it began with: whoever is new begins to live, who is not named saves and ends.

        An older version than the last changes nothing.
        """
        if version <= self._roster or self._stopping.is_set():
            return
        self._roster = version
        absent = frozenset(gone)
        named = {name: plan for name, plan in self._founders.items() if name not in absent}
        named |= {plan.name: plan for plan in came}
        self._returning = {
            one.plan.name: named[one.plan.name] for one in self.members if one.leaving and one.plan.name in named
        }
        new = named.keys() - {one.plan.name for one in self.members}
        leavers = [one for one in self.members if one.plan.name not in named and not one.leaving]
        for member in leavers:
            member.leaving = True  # all, before one that ended long ago is gone at once, and it looks as if all were
        for member in leavers:
            self._dismiss(member)
        for name in [name for name in named if name in new]:
            self._join(named[name])
        self._look()

    def _join(self, plan: ActorPlan) -> None:
        """It begins to live here."""
        member = self._member(plan)
        self.members.append(member)
        if self._configured is not None:
            member.configure(self._configured)
        self._came(member)
        if self._over is not None:
            self._start(member)

    def _dismiss(self, member: GroupMember) -> None:
        member.actor.stop()
        life = self._lives.get(member.plan.name)
        if life is None or life.done():
            self._part(member)

    def _part(self, member: GroupMember) -> None:
        """It has ended."""
        self.members.remove(member)
        self._lives.pop(member.plan.name, None)
        _log.info("actor_left", submind=member.plan.name)
        self._forget(member.plan.name)
        self._left(member.plan.name)
        again = self._returning.pop(member.plan.name, None)
        if again is not None and not self._stopping.is_set():
            self._join(again)
        self._look()

    def _look(self) -> None:
        """Whether those live here, and only those, who were named last."""
        if not any(member.leaving for member in self.members):
            self._so = self._roster

    def stop(self) -> None:
        """Ask everybody to finish what they began, save and end; ``live`` returns then."""
        self._stopping.set()
        for member in self.members:
            member.actor.stop()
        self._end()

    async def live(self, restarts: int = 0) -> Ending:
        """Live until stopped. ``restarts``: lives of this process before this one."""
        self._before = restarts
        self._over = asyncio.get_running_loop().create_future()
        for member in self.members:
            self._start(member)
        self._end()
        try:
            return await self._over
        finally:
            lives = tuple(self._lives.values())
            for life in lives:
                life.cancel()
            await asyncio.gather(*lives, return_exceptions=True)

    def _start(self, member: GroupMember) -> None:
        life = asyncio.create_task(self._keep(member, self._before), name=member.plan.name)
        self._lives[member.plan.name] = life
        life.add_done_callback(lambda ended: self._ended(member, ended))

    def _ended(self, member: GroupMember, life: asyncio.Task[Ending]) -> None:
        over = self._over
        if over is None or over.done() or life.cancelled():
            return
        error = life.exception()
        if error is not None:
            over.set_exception(error)
        elif life.result() in {Ending.FENCED_OUT, Ending.OUTLIVED}:
            over.set_result(life.result())
        elif member.leaving:
            self._part(member)
        self._end()

    def _end(self) -> None:
        """It is over once all have ended who were asked to."""
        over, lives = self._over, self._lives.values()
        if over is not None and not over.done() and self._stopping.is_set() and all(life.done() for life in lives):
            over.set_result(Ending.STOPPED)

    async def _keep(self, member: GroupMember, before: int) -> Ending:
        """Live after life of one of them."""
        with structlog.contextvars.bound_contextvars(submind=member.plan.name):
            while True:
                try:
                    return await member.actor.live(before + member.policy.restarts)
                except Exception as error:  # noqa: BLE001 - whatever a core raises ends its life, and that alone
                    _log.exception("actor_died", error=type(error).__name__)
                    cause = f"{type(error).__name__}: {error}".splitlines()[0][:300]
                if self._stopping.is_set() or member.leaving or not await self._bury(member, before, cause):
                    return Ending.STOPPED

    async def _bury(self, member: GroupMember, before: int, cause: str) -> bool:
        """After a death: whether there is another life."""
        verdict = member.policy.died(asyncio.get_running_loop().time(), cause)
        lives = before + member.policy.restarts
        if not verdict.again:
            member.quarantined = verdict.reason
            _log.error("actor_quarantined", reason=verdict.reason)
            self._forget(member.plan.name)
            await self._say(member, SubmindState.QUARANTINED, verdict.reason, lives)
            return False
        _log.warning("actor_restarts", cause=cause, after=round(verdict.after, 3))
        former, member.actor = member.actor, self._begin(member.plan)
        member.actor.succeed(former)
        if self._configured is not None:
            member.actor.configure(self._configured)
        reason = f"{cause}; it starts again after {verdict.after:.1f} s"
        await rest(verdict.after, self._stopping, self._say(member, SubmindState.RESTARTING, reason, lives))
        return not self._stopping.is_set() and not member.leaving

    async def _say(self, member: GroupMember, state: SubmindState, reason: str, restarts: int) -> None:
        with suppress(FencedOut):  # the next life finds out
            await write_reports(self._stores, [member.plan], self._fence, state, reason, restarts)
