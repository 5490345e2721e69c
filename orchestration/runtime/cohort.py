"""Many actors in one process: each with a life of its own, its deaths and its restarts."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import structlog

from environment.errors import FencedOut
from environment.messages import SubmindState
from environment.ports import Stores
from orchestration.links.frames import Letter
from orchestration.runtime.fate import Fate
from orchestration.runtime.live import Ending, LiveActor
from orchestration.runtime.reporting import write_reports
from orchestration.runtime.settings import SupervisionSettings
from orchestration.telemetry.logs import context

if TYPE_CHECKING:
    from actors.events import Configured
    from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)
_SAYING = 1.0
"""Longest that a life waits for the word that there is none now."""

Beginning: TypeAlias = "Callable[[ActorPlan], LiveActor]"
"""Makes an actor that has yet to be born."""


class Member:
    """One actor of a cohort, through all its lives. What the links of its process know it as."""

    def __init__(self, plan: ActorPlan, actor: LiveActor, fate: Fate) -> None:
        self.plan = plan
        self.actor = actor
        self.fate = fate
        self.quarantined = ""
        """Why it is not started again; empty while it is."""

    def deliver(self, letters: Sequence[Letter]) -> bool:
        """Take mail in; what comes between two lives waits for the next. Whether there is room for more."""
        return bool(self.quarantined) or self.actor.deliver(letters)

    def configure(self, event: Configured) -> None:
        """Settings were changed."""
        self.actor.configure(event)

    def health(self) -> Mapping[str, float]:
        """How it is."""
        return self.actor.health()

    def stop(self) -> None:
        """The cohort is stopped as a whole."""
        _log.warning("stop_unasked", submind=self.plan.name)


class Cohort:
    """The actors of one process.

    Guarantees: what happens to one happens to no other: an error in its core ends that life alone, the next begins
    from the saved state after a pause that grows with recent deaths, and one that dies too often is quarantined, all
    as it would in a process of its own. ``live`` returns when all were stopped, or another run leads.
    """

    def __init__(
        self,
        plans: Iterable[ActorPlan],
        begin: Beginning,
        stores: Stores,
        fence: int,
        settings: SupervisionSettings,
        chance: random.Random,
        forget: Callable[[str], None],
    ) -> None:
        """``forget`` is told who lives here no more."""
        self._begin = begin
        self._forget = forget
        self._stores = stores
        self._fence = fence
        self._chance = chance
        self.members = [Member(plan, begin(plan), Fate(plan.name, settings, chance)) for plan in plans]
        self._configured: Configured | None = None
        self._stopping = asyncio.Event()

    def deliver(self, letters: Sequence[Letter]) -> bool:
        """Nobody writes to a cohort as such."""
        _log.warning("mail_unasked", events=len(letters))
        return True

    def configure(self, event: Configured) -> None:
        """Settings were changed: everybody is told, and whoever is yet to be born."""
        self._configured = event
        for member in self.members:
            member.configure(event)

    def health(self) -> Mapping[str, float]:
        """All of them together; by name who died (``restarts:NAME``) and who was given up (``quarantined:NAME``)."""
        living = [member.health() for member in self.members if not member.quarantined]
        found = {
            "born": float(all(one["born"] for one in living)),
            "living": float(len(living)),
            "mailbox": sum(one["mailbox"] for one in living),
            "outbox": max((one["outbox"] for one in living), default=0.0),  # one for all
            "thinking": sum(one["thinking"] for one in living),
            "store_refusals_in_a_row": max((one["store_refusals_in_a_row"] for one in living), default=0.0),
            "configuration": min((one["configuration"] for one in living), default=float("inf")),
        }
        for member in self.members:
            if member.fate.restarts:
                found[f"restarts:{member.plan.name}"] = float(member.fate.restarts)
            if member.quarantined:
                found[f"quarantined:{member.plan.name}"] = 1.0
        return found

    def stop(self) -> None:
        """Ask everybody to finish what they began, save and end; ``live`` returns then."""
        self._stopping.set()
        for member in self.members:
            member.actor.stop()

    async def live(self, restarts: int = 0) -> Ending:
        """Live until stopped. ``restarts``: lives of this process before this one."""
        lives = [asyncio.create_task(self._keep(member, restarts), name=member.plan.name) for member in self.members]
        try:
            for ended in asyncio.as_completed(lives):
                if await ended is Ending.FENCED_OUT:
                    return Ending.FENCED_OUT
            await self._stopping.wait()  # where all are quarantined
            return Ending.STOPPED
        finally:
            for life in lives:
                life.cancel()
            await asyncio.gather(*lives, return_exceptions=True)

    async def _keep(self, member: Member, before: int) -> Ending:
        """Live after life of one of them."""
        with context(submind=member.plan.name):
            while True:
                try:
                    return await member.actor.live(before + member.fate.restarts)
                except Exception as error:  # noqa: BLE001 - whatever a core raises ends its life, and that alone
                    _log.exception("actor_died", error=type(error).__name__)
                    cause = f"{type(error).__name__}: {error}".splitlines()[0][:300]
                if self._stopping.is_set() or not await self._bury(member, before, cause):
                    return Ending.STOPPED

    async def _bury(self, member: Member, before: int, cause: str) -> bool:
        """After a death: whether there is another life."""
        verdict = member.fate.died(asyncio.get_running_loop().time(), cause)
        lives = before + member.fate.restarts
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
        saying = asyncio.create_task(self._say(member, SubmindState.RESTARTING, reason, lives))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), verdict.after)
        with suppress(TimeoutError):  # the next life speaks for itself, and must have the last word
            await asyncio.wait_for(saying, _SAYING)
        return not self._stopping.is_set()

    async def _say(self, member: Member, state: SubmindState, reason: str, restarts: int) -> None:
        with suppress(FencedOut):  # the next life finds out
            await write_reports(self._stores, [member.plan], self._fence, state, reason, restarts)
