"""Elections in virtual time: real candidacies and a real store, against an etcd and a network that are made up.

One seed is one schedule: when requests and answers get lost or late, etcd goes away, candidates are paused for longer
than their lease (also between deciding to write and writing), die and come back, while clocks run at different rates.
Every event is followed by a check of what must hold at every moment.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from environment.errors import DuplicateEntry, FencedOut, SequenceGap
from environment.messages import EntryKind, StreamEntry
from environment.ports import Stores, WriteEntries
from environment.stores.sqlite import open_stores
from orchestration.host.leadership import take_lead
from orchestration.membership.election import (
    BeginTerm,
    Campaign,
    Candidacy,
    Elected,
    ElectionAction,
    ElectionEvent,
    EndTerm,
    Failed,
    Grant,
    Granted,
    LeaderRead,
    Phase,
    ReadLeader,
    Renew,
    Renewed,
    Resign,
    Revoke,
    TimePassed,
    Vacated,
    Wake,
)
from orchestration.membership.errors import CoordinationUnavailable, NotLeading
from tests.orchestration.membership.made_up_etcd import LEASE, MadeUpEtcd

T = TypeVar("T")

TIMEOUT = 2.0
DRIFT = 0.04
"""No clock differs from the true one by more: two differ by 8 %, and a tenth of a lease is not relied on."""
TROUBLE = 240.0
"""Seconds of it; then all goes well."""
PEACE = 60.0


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("it waited")


@dataclass
class Host:
    """A candidate that, while it leads, writes to the stream."""

    name: str
    rate: float
    offset: float
    machine: Candidacy
    life: int = 0
    """Counts deaths and terms: what was meant for an earlier one does not arrive."""
    paused_until: float = 0.0
    cut_off_until: float = 0.0
    wake: int = 0
    fence: int = 0
    written: int = 0

    def local(self, now: float) -> float:
        return self.offset + now * self.rate


class Term:
    """What ``take_lead`` needs of a term."""

    def __init__(self, world: Any, host: Host) -> None:
        self.candidate = host.name
        self.reason = ""
        self._world = world
        self._host = host

    @property
    def token(self) -> int | None:
        return self._host.machine.token

    @property
    def lost(self) -> Any:
        raise NotImplementedError

    def leads(self) -> bool:
        return self._host.machine.leads(self._host.local(self._world.now))

    async def advance(self, above: int) -> int:
        token = self.token
        assert token is not None
        if not self._world.reaches(self._host):
            raise CoordinationUnavailable("etcd is away")
        self._host.machine.token = self._world.etcd.advance(self._host.name, token, above)
        return self._host.machine.token


class World:
    """A schedule, from its seed."""

    def __init__(self, seed: int, directory: Path) -> None:
        self.chance = Random(seed)
        self.now = 0.0
        self.stores: Stores = at_once(open_stores(directory, "mind", inline=True, synchronous="OFF"))
        for _ in range(self.chance.choice([0, 0, 0, 4])):  # led without etcd before
            at_once(self.stores.lead())
        self.etcd = MadeUpEtcd(self._rate())
        self.stored: dict[int, str] = {}
        """What commits have left in the stream, by number."""
        self.epoch = 0
        self.seen: Counter[str] = Counter()
        self._order = 0
        self._leases = 0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self.hosts = [
            Host(f"host-{at}", self._rate(), self.chance.uniform(0, 1e6), self._candidacy())
            for at in range(self.chance.choice([2, 3, 3, 5]))
        ]

    def run(self) -> Counter[str]:
        """Live through it; how often what happened. Raises ``AssertionError`` where something does not hold."""
        for host in self.hosts:
            self._tell(host, TimePassed())
        self._trouble()
        self._run_until(TROUBLE)
        head = at_once(self.stores.stream.head())
        self.etcd.up = True
        for host in self.hosts:
            host.paused_until = host.cut_off_until = 0.0
        self._run_until(TROUBLE + PEACE)
        assert at_once(self.stores.stream.head()) > head, "nobody goes on when all is well again"
        self._look_at_the_stream()
        at_once(self.stores.close())
        return self.seen

    def reaches(self, host: Host) -> bool:
        """Whether a request of this host gets to etcd now."""
        return self.etcd.up and self.now >= host.cut_off_until

    def _run_until(self, end: float) -> None:
        while self._events and self._events[0][0] <= end:
            self.now, _, event = heapq.heappop(self._events)
            if self.etcd.expire(self.now):
                self._announce()
            event()
            sure = [host.name for host in self.hosts if host.machine.leads(host.local(self.now))]
            assert len(sure) <= 1, f"{sure} lead at once"
        self.now = end

    def _at(self, delay: float, event: Callable[[], None]) -> None:
        self._when(self.now + max(0.0, delay), event)

    def _when(self, time: float, event: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._events, (time, self._order, event))

    def _on(self, host: Host, delay: float, event: Callable[[], None]) -> None:
        """Have something happen in a host, not while it is paused, and not in another life."""
        life = host.life

        def happen() -> None:
            if host.life != life:
                return
            if self.now < host.paused_until:
                self._when(host.paused_until, happen)
            else:
                event()

        self._at(delay, happen)

    def _rate(self) -> float:
        return 1 + self.chance.uniform(-DRIFT, DRIFT)

    def _candidacy(self) -> Candidacy:
        return Candidacy(LEASE, self.chance.uniform(0.5, 1.0))

    def _troubled(self) -> bool:
        return self.now < TROUBLE

    # What goes wrong

    def _trouble(self) -> None:
        if not self._troubled():
            return
        self._at(self.chance.expovariate(1 / 6), self._trouble)
        kind = self.chance.choice(["pause", "pause", "pause leader", "cut off", "etcd", "death", "nothing"])
        host = self.chance.choice(self.hosts)
        long = self.chance.choice([0.2, 1, 5, LEASE * 0.95, LEASE * 1.5, LEASE * 4]) * self.chance.uniform(0.8, 1.2)
        if kind == "pause leader":
            host = next((one for one in self.hosts if one.machine.phase is Phase.LEADING), host)
        if kind.startswith("pause"):
            host.paused_until = max(host.paused_until, self.now + long)
        elif kind == "cut off":
            host.cut_off_until = max(host.cut_off_until, self.now + long)
        elif kind == "etcd" and self.etcd.up:
            self.etcd.up = False
            self._at(long, self._etcd_returns)
        elif kind == "death":
            self._anew(host, self.chance.uniform(0, 5))
        self.seen[kind] += 1

    def _etcd_returns(self) -> None:
        """As after an election among its members: leases begin anew."""
        self.etcd.up = True
        for lease in self.etcd.leases:
            self.etcd.leases[lease] = max(self.etcd.leases[lease], self.now + LEASE / self.etcd.rate)

    def _anew(self, host: Host, delay: float) -> None:
        host.life += 1
        host.machine = self._candidacy()
        host.fence = 0
        self._on(host, delay, lambda: self._tell(host, TimePassed()))

    # A host and etcd

    def _tell(self, host: Host, told: ElectionEvent) -> None:
        for step in host.machine.handle(told, host.local(self.now)):
            self._perform(host, step)

    def _perform(self, host: Host, step: ElectionAction) -> None:
        match step:
            case Wake():
                host.wake += 1
                wake = host.wake
                delay = (step.at - host.local(self.now)) / host.rate
                self._on(host, delay + 1e-6, lambda: self._tell(host, TimePassed()) if host.wake == wake else None)
            case BeginTerm():
                self.seen["term"] += 1
                self._on(host, self.chance.expovariate(20), lambda: self._take_lead(host))
            case EndTerm():
                self.seen["stop"] += 1
                self._on(host, self.chance.uniform(0, 2), lambda: self._resign(host))
            case Revoke():
                self._request(host, None, lambda: self._revoke(step.lease))
            case ReadLeader() | Grant() | Campaign() | Renew():
                sent = host.local(self.now)
                self._request(host, step.turn, lambda: self._answer(host, step, sent))

    def _request(self, host: Host, turn: int | None, answer: Callable[[], ElectionEvent | None]) -> None:
        """Carry a request to etcd and its answer back; either may be lost, or late."""
        trouble = self._troubled()
        lost, forgotten = (self.chance.random() < 0.05 and trouble for _ in range(2))
        late = self.chance.choice([0.01, 0.01, 0.01, 0.5, 3.0]) if trouble else 0.01

        def arrive() -> None:
            if lost or not self.reaches(host):
                return
            told = answer()
            if told is not None and not forgotten:
                self._on(host, self.chance.expovariate(1 / late), lambda: self._tell(host, told))

        self._at(self.chance.expovariate(1 / late), arrive)
        if turn is not None:
            self._on(host, TIMEOUT / host.rate, lambda: self._tell(host, Failed(turn, "no answer in time")))

    def _answer(self, host: Host, step: ReadLeader | Grant | Campaign | Renew, sent: float) -> ElectionEvent:
        etcd = self.etcd
        match step:
            case ReadLeader():
                return LeaderRead(step.turn, etcd.leader is not None, *etcd.counter)
            case Grant():
                self._leases += 1
                etcd.grant(self.now, self._leases)
                return Granted(step.turn, self._leases, LEASE, sent)
            case Campaign():
                return Elected(step.turn, step.lease, etcd.campaign(host.name, step))
            case Renew():
                ttl = etcd.renew(self.now, step.lease, self.chance.choice([0.0, 0.0, 4.0]))
                return Renewed(step.turn, ttl, sent, etcd.leader[2] if etcd.leader else None)

    def _revoke(self, lease: int) -> None:
        if self.etcd.revoke(lease):
            self._announce()

    def _announce(self) -> None:
        """Watchers hear that the leader is gone, most of them."""
        for host in self.hosts:
            if self.reaches(host) and self.chance.random() < 0.9:
                self._on(host, self.chance.expovariate(10), lambda host=host: self._tell(host, Vacated()))  # type: ignore[misc]

    def _resign(self, host: Host) -> None:
        self._tell(host, Resign())
        self._anew(host, 0.1)

    # A host and the store

    def _take_lead(self, host: Host) -> None:
        try:
            host.fence = at_once(take_lead(Term(self, host), self.stores))
        except (NotLeading, CoordinationUnavailable):
            self._resign(host)
            return
        assert host.fence > self.epoch, "an older leader takes over from a newer one"
        self.epoch = host.fence
        self._write(host)

    def _write(self, host: Host) -> None:
        """Decide to write, and write some time after: in between the host may be paused for long."""
        if not host.machine.leads(host.local(self.now)):
            return
        seq = at_once(self.stores.stream.head()) + 1
        host.written += 1
        entry = _entry(seq, f"{host.name}-{host.life}-{host.written}", self.now)
        if self._troubled() and self.chance.random() < 0.02:
            self.seen["paused while it wrote"] += 1
            host.paused_until = max(host.paused_until, self.now + LEASE * self.chance.uniform(0.5, 4))
        self._on(host, self.chance.expovariate(5), lambda: self._commit(host, entry))

    def _commit(self, host: Host, entry: StreamEntry) -> None:
        """Write without asking anybody but the store whether it still leads."""
        try:
            at_once(self.stores.commit([WriteEntries((entry,))], host.fence))
        except FencedOut:
            assert host.fence < self.epoch, "the leader was refused"
            self.seen["refused"] += 1
            self._resign(host)
            return
        except (SequenceGap, DuplicateEntry) as error:
            raise AssertionError(f"two wrote to one stream: {error}") from error
        assert host.fence == self.epoch, "who was overtaken wrote"
        assert self.stored.setdefault(entry.seq, entry.id) == entry.id, "a number was written twice"
        self.seen["written"] += 1
        if self._troubled() and self.chance.random() < 0.03:  # the store's answer is lost: the same is written again
            self.seen["written again"] += 1
            self._on(host, self.chance.expovariate(1), lambda: self._commit(host, entry))
            return
        if not host.machine.leads(host.local(self.now)):
            self.seen["written late, before anybody else led"] += 1
        self._on(host, self.chance.expovariate(2), lambda: self._write(host))

    def _look_at_the_stream(self) -> None:
        head = at_once(self.stores.stream.head())
        entries = at_once(self.stores.stream.read(1, head + 1))
        assert [entry.seq for entry in entries] == list(range(1, head + 1)), "the stream has a gap"
        assert {entry.seq: entry.id for entry in entries} == self.stored
        self.seen["writers"] += len({entry.id.rpartition("-")[0] for entry in entries})


def _entry(seq: int, name: str, now: float) -> StreamEntry:
    return StreamEntry(
        seq=seq, id=name, kind=EntryKind.THOUGHT, text=f"Thought {seq}.", time=now, at=now, salience=0.5,
        confidence=0.5, trust=0.5, perceptions=(), lineage=(), author=name,
    )  # fmt: skip
