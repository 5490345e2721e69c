"""Leading a mind while one is elected, standing by while another is."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Protocol, TypeAlias

import structlog

from environment.errors import FencedOut, StoreUnavailable, SubliminalError
from environment.ports import Stores
from orchestration.backoff import backoff
from orchestration.host.appenders import HostAppender
from orchestration.host.supervisor import MindSupervisor
from orchestration.membership.errors import CoordinationError, NotLeading
from orchestration.membership.ports import Coordination, LeaderTerm
from orchestration.tasks import first_of

_log = structlog.get_logger(__name__)

Duty: TypeAlias = Callable[[], Awaitable[None]]
"""Something that a leader does, from the beginning of its term until it is cancelled."""
_FIRST, _MOST = 0.2, 5.0
_NOBODY = {"coordination_quorum": 0.0, "coordination_members_answering": 0.0}
"""What is said of a coordination that does not answer."""
ALONE = "alone"
"""The address of no coordination."""
_ATTEMPTS = 8


@dataclass(eq=False, repr=False)
class Leadership:
    """Stands for leadership until ``stop``; leads whenever it is elected.

    Guarantees: perceptions are taken in, the mind process runs and ``duties`` are done only within a term; when a term
    is lost, by this process's own clock, the appender closes at once and the mind process is killed, not asked: whoever
    leads next does not wait for it. Where nobody coordinates there is one term, and being overtaken ends it for good.

    ``embedded``: the store is this host's own, so nobody can overtake it there.
    """

    _coordination: Coordination
    _candidate: str
    _stores: Stores
    _appender: HostAppender
    _supervisor: MindSupervisor
    _duties: Sequence[Duty]
    _: KW_ONLY
    embedded: bool
    look_every: float

    def __post_init__(self) -> None:
        self._chance = random.SystemRandom()
        self._stopping = asyncio.Event()
        self._overtaken = asyncio.Event()
        self._why = ""
        self._tasks: list[asyncio.Task[None]] = []
        self._figures: Mapping[str, float] = {}
        self._appender.overtaken = self.overtaken
        if self._coordination.address == ALONE and not self.embedded:  # nobody will say who is right: whoever came last
            self._supervisor.fenced_out = self.overtaken
        self.terms = 0
        """Terms that were begun."""
        self.leads = asyncio.Event()
        """Set while this host leads."""

    @property
    def why(self) -> str:
        """Why it does not lead; empty while it does."""
        if self.leads.is_set():
            return ""
        leader = f"{self._appender.leader} leads" if self._appender.leader else "nobody is known to lead"
        return f"this host stands by: {leader}{f' ({self._why})' if self._why else ''}"

    @property
    def figures(self) -> Mapping[str, float]:
        """Of coordination, as of the last look, and of the store as perceptions met it."""
        return {
            **self._figures,
            "store_up": float(self._appender.reachable),
            "store_refused_appends_total": float(self._appender.refusals),
        }

    def start(self) -> None:
        """Begin to stand; returns at once."""
        self._tasks = [
            asyncio.create_task(self._stand(), name="leadership"),
            asyncio.create_task(self._look(), name="leader"),
        ]

    async def stop(self) -> None:
        """Let the mind save, resign, and end. May be called twice."""
        self._stopping.set()
        if not self._tasks:
            return
        standing, looking = self._tasks
        looking.cancel()
        if not self.terms or not self.leads.is_set():
            standing.cancel()
        await asyncio.gather(standing, looking, return_exceptions=True)

    def overtaken(self, why: str) -> None:
        """Somebody else writes where only a leader does: the term is over, whatever was agreed on."""
        if not self._overtaken.is_set():
            self._why = why
            _log.error("overtaken", reason=why)
            self._overtaken.set()

    async def _stand(self) -> None:
        attempt = 0
        while not self._stopping.is_set():
            terms = self.terms
            try:
                async with self._coordination.leadership(self._candidate) as term:
                    await self._lead(term)
                    self._why = self._why or term.reason
            except (CoordinationError, SubliminalError) as error:
                self._why = str(error)
                _log.warning("not_leading", reason=self._why)
            except Exception as error:  # noqa: BLE001 - said, and stood for again
                self._why = f"{type(error).__name__}: {error}"
                _log.exception("leadership_failed")
            if self._overtaken.is_set() and self._coordination.address == ALONE:
                _log.error("leads_no_more", reason=self._why, fix="run one host, or give them all --coordination")
                return
            attempt = 0 if self.terms > terms else attempt + 1
            with suppress(TimeoutError):
                async with asyncio.timeout(backoff(attempt, _FIRST, _MOST, self._chance)):
                    await self._stopping.wait()

    async def _lead(self, term: LeaderTerm) -> None:
        """One term, from its beginning to its end."""
        self._overtaken.clear()
        await self._fence(term)
        self.terms += 1
        self._why = ""
        self._appender.open(term.leads)
        self._supervisor.start(partial(self._token, term))
        duties = [asyncio.create_task(self._do(duty), name="duty") for duty in self._duties]
        self.leads.set()
        _log.info("leads", candidate=self._candidate, token=term.token)
        try:
            await first_of(term.lost.wait(), self._overtaken.wait(), self._stopping.wait())
        finally:
            self._appender.close()
            self.leads.clear()
            for duty in duties:
                duty.cancel()
            in_order = self._stopping.is_set() and term.leads() and not self._overtaken.is_set()
            if not in_order:
                _log.warning("leads_no_more", reason=self._why or term.reason)
            await self._supervisor.halt(in_order=in_order)

    async def _fence(self, term: LeaderTerm) -> None:
        """See to it that whoever led before is refused from now on. Waits a failing store out while the term runs."""
        if term.token is None and self.embedded:
            return  # nobody else holds the lock, and the mind process begins an epoch of its own
        while True:
            try:
                if term.token is None:
                    await self._stores.perceptions.lead()
                else:
                    await take_lead(term, self._stores, self._stores.perceptions)
            except StoreUnavailable as error:
                if not term.leads() or self._stopping.is_set():
                    raise NotLeading(self._candidate, term.reason or str(error)) from None
                _log.warning("store_unavailable", reason=str(error))
                await asyncio.sleep(min(error.retry_after, 1.0))
            else:
                return

    async def _token(self, term: LeaderTerm) -> int | None:
        """What the next mind process of this term leads with: each is newer than the one before."""
        return None if term.token is None else await term.advance(term.token)

    async def _do(self, duty: Duty) -> None:
        try:
            await duty()
        except Exception:  # noqa: BLE001 - one duty less is no reason to stop thinking
            _log.exception("duty_failed")

    async def _look(self) -> None:
        """Know who leads, for those who ask the wrong host."""
        while True:
            try:
                found = await self._coordination.leader()
                self._appender.leader = found.candidate if found is not None else ""
                self._figures = await self._coordination.figures()
            except CoordinationError:
                self._figures = {**self._figures, **_NOBODY}
            report = self._supervisor.report
            if report.standing_by != self.why:
                report.standing_by = self.why
                report.write()
            await asyncio.sleep(self.look_every)


class Fenced(Protocol):
    """A store that refuses writers of older epochs: ``Stores``, ``PerceptionLog``."""

    async def lead(self, token: int | None = None) -> int:
        """Begin epoch ``token``, or the next one. Raises ``FencedOut`` where it has seen as large a token."""


async def take_lead(term: LeaderTerm, store: Fenced, *others: Fenced) -> int:
    """Lead ``store`` and ``others`` under ``term``; the fence to commit to ``store`` with.

    Stores that have seen larger tokens, because they were led before etcd was there or etcd was set up anew, make the
    token of the term rise. Raises ``NotLeading`` when the term is over meanwhile, ``StoreUnavailable``, and
    ``CoordinationUnavailable`` when it should rise and etcd is away.
    """
    if term.token is None:
        for other in others:
            await other.lead()
        return await store.lead()
    for _ in range(_ATTEMPTS):
        token = term.token
        if not term.leads():
            break
        try:
            for fenced in (store, *others):
                await fenced.lead(token)
        except FencedOut as error:
            _log.warning("token_too_small", token=token, epoch=error.current)
            await term.advance(error.current)
            continue
        return token
    raise NotLeading(term.candidate, term.reason or "the stores know a newer leader each time they are asked")
