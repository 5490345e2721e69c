"""A candidacy at etcd: performs what the state machine asks for."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass

import structlog
from aetcd.transactions import Mod, Put, Value, Version

from environment.messages import Instant
from orchestration.membership import election
from orchestration.membership.errors import CoordinationError, CoordinationUnavailable, NotLeading
from orchestration.membership.etcd.client import EtcdClient, Kv
from orchestration.membership.etcd.watch import mirror
from orchestration.membership.keys import Keys
from orchestration.membership.ports import Leader
from orchestration.membership.settings import CoordinationSettings

_log = structlog.get_logger(__name__)
_ATTEMPTS = 5
_ASKED = 2
"""Members that a request waits for, where there are several: two requests' time is less than a lease."""


def leader_of(kv: Kv | None) -> Leader | None:
    """Whom the leader's key names."""
    if kv is None:
        return None
    try:
        said = json.loads(kv.value)
        return Leader(str(said["candidate"]), int(said["token"]), float(said["since"]))
    except (ValueError, KeyError, TypeError):  # a hand's: somebody leads, whoever it is
        return Leader("?", -1, 0.0)


def _count(kv: Kv | None) -> tuple[int, int]:
    return (0, 0) if kv is None else (int(kv.value), kv.mod)


@dataclass(eq=False, repr=False)
class EtcdTerm:
    """``Leadership`` under a lease: stands when it is made, ends with ``end``.

    Guarantees: as ``Candidacy``. A request that no member answers in time counts as failed.
    """

    _client: EtcdClient
    _keys: Keys
    candidate: str
    _settings: CoordinationSettings
    _: KW_ONLY
    wall: Callable[[], Instant]
    lease_clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.elected = asyncio.Event()
        self.lost = asyncio.Event()
        self.reason = ""
        retry = min(self._settings.request_timeout, self._settings.lease / 10) * random.SystemRandom().uniform(0.5, 1.0)
        self._retry = retry
        # Members are asked one after the other, so that one which froze costs one request's time and not the term.
        self._patience = self._settings.request_timeout * min(len(self._client.members), _ASKED)
        self._machine = election.Candidacy(self._settings.lease, retry)
        self._since: Instant = 0.0
        self._also: int | None = None  # a token that may have replaced this one
        self._inbox: asyncio.Queue[election.ElectionEvent] = asyncio.Queue()
        self._wake_at: float | None = None
        self._asking: set[asyncio.Task[None]] = set()
        self._complaint = ""
        self._tasks = [
            asyncio.create_task(self._run(), name=f"candidacy-{self.candidate}"),
            asyncio.create_task(self._look_out(), name=f"leader-watch-{self.candidate}"),
        ]
        self._inbox.put_nowait(election.TimePassed())

    @property
    def token(self) -> int | None:
        return self._machine.token

    async def until_elected(self) -> None:
        """Wait for the term to begin, however long that takes."""
        elected = asyncio.create_task(self.elected.wait())
        try:
            await asyncio.wait([elected, self._tasks[0]], return_when=asyncio.FIRST_COMPLETED)
        finally:
            elected.cancel()
        if not self.elected.is_set():
            self._tasks[0].result()

    def leads(self) -> bool:
        return self._machine.leads(self.lease_clock())

    async def advance(self, above: int) -> int:
        for _ in range(_ATTEMPTS):
            token = self._machine.token
            if token is None or not self.leads():
                raise NotLeading(self.candidate, self.reason or "its lease may be over")
            with suppress(CoordinationUnavailable):
                counter, revision = _count(await self._client.get(self._keys.token))
                if counter == self._also:  # it went through, and only the answer was lost
                    return self._replaced(counter)
                self._also = max(counter, above, token) + 1
                if await self._client.transact(
                    [Value(self._keys.leader) == self._name(token), Mod(self._keys.token) == revision],
                    self._claim(self._also, self._machine.lease or 0),
                ):
                    return self._replaced(self._also)
                if leader_of(await self._client.get(self._keys.leader)) != Leader(self.candidate, token, self._since):
                    self._inbox.put_nowait(election.Vacated())
        raise CoordinationUnavailable(f"{self.candidate} could not agree on a larger token")

    async def end(self) -> None:
        """Resign: the next one may be elected at once."""
        steps = self._machine.handle(election.Resign(), self.lease_clock())
        self._over("it resigned")
        for task in (*self._tasks, *self._asking):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._asking, return_exceptions=True)
        for step in steps:
            if isinstance(step, election.Revoke):
                with suppress(CoordinationError):
                    await self._client.revoke(step.lease)

    def _replaced(self, token: int) -> int:
        self._machine.token, self._also = token, None
        return token

    async def _run(self) -> None:
        try:
            while self._machine.phase is not election.Phase.OVER:
                told = await self._next()
                for step in self._machine.handle(told, self.lease_clock()):
                    self._perform(step)
        except Exception:
            _log.exception("candidacy_failed", candidate=self.candidate)
            raise
        finally:
            if self.elected.is_set():
                self._over("it ended")

    async def _next(self) -> election.ElectionEvent:
        within = None if self._wake_at is None else max(0.0, self._wake_at - self.lease_clock())
        try:
            async with asyncio.timeout(within):
                return await self._inbox.get()
        except TimeoutError:
            self._wake_at = None
            return election.TimePassed()

    async def _look_out(self) -> None:
        """Tell when the leader changes."""
        before: Kv | None = None
        async for state in mirror(self._client, self._keys.leader, self._settings.lease, self._retry):
            leader = state.get(self._keys.leader)
            if leader != before or leader is None:
                self._inbox.put_nowait(election.Vacated())
            before = leader

    def _perform(self, step: election.ElectionAction) -> None:
        match step:
            case election.ReadLeader():
                self._ask(step.turn, lambda: self._look(step.turn))
            case election.Grant():
                self._ask(step.turn, lambda: self._grant(step.turn))
            case election.Campaign():
                self._ask(step.turn, lambda: self._campaign(step))
            case election.Renew():
                self._ask(step.turn, lambda: self._renew(step))
            case election.Revoke():
                self._ask(None, lambda: self._client.revoke(step.lease))
            case election.Wake():
                self._wake_at = step.at
            case election.BeginTerm():
                _log.info("elected", candidate=self.candidate, token=step.token)
                self.elected.set()
            case election.EndTerm():
                self._over(step.reason)

    def _ask(self, turn: int | None, request: Callable[[], Awaitable[election.ElectionEvent | None]]) -> None:
        task = asyncio.create_task(self._answered(turn, request))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _answered(
        self, turn: int | None, request: Callable[[], Awaitable[election.ElectionEvent | None]]
    ) -> None:
        """Put the answer in, or that there is none."""
        told: election.ElectionEvent | None
        try:
            async with asyncio.timeout(self._patience):
                told = await request()
            self._complaint = ""
        except (CoordinationError, TimeoutError) as error:
            reason = str(error) or f"{self._client.address.label} does not answer in time"
            if reason != self._complaint:
                self._complaint = reason
                _log.warning("coordination_silent", candidate=self.candidate, reason=reason)
            told = election.Failed(turn, reason) if turn is not None else None
        if told is not None:
            self._inbox.put_nowait(told)

    async def _look(self, turn: int) -> election.ElectionEvent:
        leader = await self._client.get(self._keys.leader)
        counter, revision = (0, 0) if leader is not None else _count(await self._client.get(self._keys.token))
        return election.LeaderRead(turn, leader is not None, counter, revision)

    async def _grant(self, turn: int) -> election.ElectionEvent:
        sent = self.lease_clock()
        lease, ttl = await self._client.grant(self._settings.lease)
        return election.Granted(turn, lease, ttl, sent)

    async def _campaign(self, step: election.Campaign) -> election.ElectionEvent:
        self._since = self.wall()
        won = await self._client.transact(
            [Version(self._keys.leader) == 0, Mod(self._keys.token) == step.counter_revision],
            self._claim(step.token, step.lease),
        )
        return election.Elected(step.turn, step.lease, won)

    async def _renew(self, step: election.Renew) -> election.ElectionEvent:
        sent = self.lease_clock()
        ttl = await self._client.renew(step.lease)
        leader = await self._client.get(self._keys.leader) if ttl > 0 else None
        return election.Renewed(step.turn, ttl, sent, None if leader is None else leader.lease)

    def _claim(self, token: int, lease: int) -> list[Put]:
        return [
            Put(self._keys.leader.encode(), self._name(token), lease),
            Put(self._keys.token.encode(), str(token).encode()),
        ]

    def _name(self, token: int) -> bytes:
        return json.dumps({"candidate": self.candidate, "token": token, "since": self._since}).encode()

    def _over(self, reason: str) -> None:
        if self.elected.is_set() and not self.lost.is_set():
            self.reason = reason
            self.lost.set()
            _log.info("term_over", candidate=self.candidate, token=self.token, reason=reason)
