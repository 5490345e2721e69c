"""One candidacy, from standing to the end of its term: a pure state machine.

It is told what was answered and what time it is (``now``: seconds of a clock of its own that only goes forward), and
says what to ask next. Requests carry a turn, answers bring it back; an answer to an older turn, or a second one, is out
of date. Whoever performs the requests must answer each of them, with ``Failed`` where no answer comes in time.

Why a term is safe: the lease runs at etcd from some moment after the request that renewed it was sent. So by this
process's own clock it runs at least until that sending plus its length, if both clocks go equally fast; ``USABLE``
leaves a tenth for clocks that do not and for the time that stopping takes (Gray & Cheriton 1989).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

USABLE = 0.9
"""Share of a lease during which its holder relies on it."""
RENEWALS = 3
"""Signs of life within a lease."""


@dataclass(frozen=True, slots=True)
class ReadLeader:
    """Read the leader and the counter of tokens, at one revision."""

    turn: int


@dataclass(frozen=True, slots=True)
class Grant:
    """Ask for a lease."""

    turn: int


@dataclass(frozen=True, slots=True)
class Campaign:
    """In one transaction: if nobody leads and the counter is as it was, lead under ``lease`` and count ``token``."""

    turn: int
    lease: int
    token: int
    counter_revision: int


@dataclass(frozen=True, slots=True)
class Renew:
    """Renew the lease, then read who leads."""

    turn: int
    lease: int


@dataclass(frozen=True, slots=True)
class Revoke:
    """Give a lease back; needs no answer."""

    lease: int


@dataclass(frozen=True, slots=True)
class Wake:
    """Bring a ``TimePassed`` at this time; replaces the one asked for before."""

    at: float


@dataclass(frozen=True, slots=True)
class BeginTerm:
    """The term begins."""

    token: int


@dataclass(frozen=True, slots=True)
class EndTerm:
    """The term is over."""

    reason: str


ElectionAction: TypeAlias = ReadLeader | Grant | Campaign | Renew | Revoke | Wake | BeginTerm | EndTerm


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time has passed."""


@dataclass(frozen=True, slots=True)
class LeaderRead:
    """What was read: whether somebody leads, the last token given, and the revision the counter was changed at."""

    turn: int
    led: bool
    counter: int
    counter_revision: int


@dataclass(frozen=True, slots=True)
class Granted:
    """A lease of ``ttl`` seconds, asked for at ``sent``."""

    turn: int
    lease: int
    ttl: float
    sent: float


@dataclass(frozen=True, slots=True)
class Elected:
    """Whether the transaction went through."""

    turn: int
    lease: int
    won: bool


@dataclass(frozen=True, slots=True)
class Renewed:
    """The lease has ``ttl`` seconds from some moment after ``sent`` on (0: it is over); who leads: ``by`` a lease."""

    turn: int
    ttl: float
    sent: float
    by: int | None
    """A lease, or 0: none; None: nobody leads."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A request was refused or not answered in time; whether it was performed is not known."""

    turn: int
    reason: str


@dataclass(frozen=True, slots=True)
class Vacated:
    """The leader is gone, or is another: a hint."""


@dataclass(frozen=True, slots=True)
class Resign:
    """Stop standing, or leading."""


ElectionEvent: TypeAlias = TimePassed | LeaderRead | Granted | Elected | Renewed | Failed | Vacated | Resign


class Phase(StrEnum):
    """Where a candidacy stands."""

    WAITING = "waiting"
    """Somebody leads, or nobody can be asked."""
    LOOKING = "looking"
    GRANTING = "granting"
    CAMPAIGNING = "campaigning"
    LEADING = "leading"
    OVER = "over"


class Candidacy:
    """Stands for leadership until elected, leads until the lease may be over, and ends.

    Guarantees: between ``BeginTerm`` and ``EndTerm`` (or ``leads`` turning false, which comes first where this process
    slept) no other candidacy under the same key is elected, as long as clocks differ in rate by less than
    ``1 - USABLE``.
    """

    def __init__(self, lease: float, retry: float) -> None:
        """``lease``: its length in seconds. ``retry``: seconds between attempts while nobody answers."""
        self.phase = Phase.WAITING
        self.token: int | None = None
        self.until = float("-inf")
        """The term may be over from here on."""
        self.lease: int | None = None
        self._length = lease
        self._retry = retry
        self._turn = 0
        self._asked = False
        self._next = float("-inf")
        self._counter = (0, 0)

    def leads(self, now: float) -> bool:
        """Whether it leads, and surely does."""
        return self.phase is Phase.LEADING and now < self.until

    def handle(self, told: ElectionEvent, now: float) -> list[ElectionAction]:
        """Take in what was told; what to do."""
        if isinstance(told, Resign):
            return self._resign()
        if self.phase is Phase.LEADING and now >= self.until:
            return self._stop("its lease may be over, and etcd has not confirmed another")
        match told:
            case TimePassed():
                return self._tick(now)
            case Vacated():
                self._next = now
                return self._tick(now)
        if told.turn != self._turn or not self._asked or self.phase is Phase.OVER:
            return self._late(told)
        self._asked = False
        match told:
            case LeaderRead():
                return self._looked(told, now)
            case Granted():
                return self._granted(told)
            case Elected():
                return self._elected(told, now)
            case Renewed():
                return self._renewed(told)
            case Failed():
                return self._failed(now)

    def _tick(self, now: float) -> list[ElectionAction]:
        if self.phase is Phase.WAITING and now >= self._next:
            self.phase = Phase.LOOKING
            return [ReadLeader(self._ask())]
        if self.phase is Phase.LEADING:
            steps: list[ElectionAction] = []
            if now >= self._next and not self._asked and self.lease is not None:
                steps.append(Renew(self._ask(), self.lease))
            return [*steps, self._wake()]
        return [Wake(self._next)] if self.phase is Phase.WAITING else []

    def _looked(self, told: LeaderRead, now: float) -> list[ElectionAction]:
        if told.led:  # a change is heard of; looking again from time to time does without hearing
            return self._wait(now + self._length)
        self._counter = (told.counter, told.counter_revision)
        self.phase = Phase.GRANTING
        return [Grant(self._ask())]

    def _granted(self, told: Granted) -> list[ElectionAction]:
        self.lease = told.lease
        self._rely(told.ttl, told.sent)
        self.phase = Phase.CAMPAIGNING
        counter, revision = self._counter
        return [Campaign(self._ask(), told.lease, counter + 1, revision)]

    def _elected(self, told: Elected, now: float) -> list[ElectionAction]:
        if told.won and now < self.until:
            self.phase = Phase.LEADING
            self.token = self._counter[0] + 1
            return [BeginTerm(self.token), self._wake()]
        return [*self._give_back(), *self._wait(now if not told.won else now + self._retry)]

    def _renewed(self, told: Renewed) -> list[ElectionAction]:
        if told.ttl <= 0:
            return self._stop("etcd has ended its lease")
        if told.by != self.lease:
            return self._stop("etcd names no leader any more" if told.by is None else "etcd names another leader")
        self._rely(told.ttl, told.sent)
        return [self._wake()]

    def _failed(self, now: float) -> list[ElectionAction]:
        if self.phase is Phase.LEADING:
            self._next = now + self._retry
            return [self._wake()]
        return [*self._give_back(), *self._wait(now + self._retry)]

    def _late(self, told: LeaderRead | Granted | Elected | Renewed | Failed) -> list[ElectionAction]:
        """An answer that nobody waits for any more may have left a lease behind."""
        if isinstance(told, Granted | Elected) and told.lease != self.lease:
            return [Revoke(told.lease)]
        return []

    def _resign(self) -> list[ElectionAction]:
        steps = self._stop("it resigned") if self.phase is Phase.LEADING else []
        self.phase = Phase.OVER
        return [*steps, *self._give_back()]

    def _stop(self, reason: str) -> list[ElectionAction]:
        self.phase = Phase.OVER  # the lease is given back on resigning, once this process has stopped what it leads
        return [EndTerm(reason)]

    def _give_back(self) -> list[ElectionAction]:
        lease, self.lease = self.lease, None
        return [] if lease is None else [Revoke(lease)]

    def _wait(self, until: float) -> list[ElectionAction]:
        self.phase = Phase.WAITING
        self._next = until
        return [Wake(until)]

    def _rely(self, ttl: float, sent: float) -> None:
        self.until = max(self.until, sent + USABLE * ttl)
        self._next = sent + ttl / RENEWALS

    def _wake(self) -> Wake:
        return Wake(self.until if self._asked else min(self.until, self._next))

    def _ask(self) -> int:
        self._turn += 1
        self._asked = True
        return self._turn
