"""The LTP and transient registries: ``Topic -> (submind, history)``, learned in a Hebbian manner.

Source: the agentic design ("LTP Network: Topic -> (Submind_agent_id, History)"); connections that lead to something
grow (Hebb, 1949: what fires together wires together), unused ones fade.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from actors.handover import OpenUse
from actors.settings import ConnectionSettings
from environment.messages import ChangeKind, Connection, ConnectionChange, Deadline, Instant

_PENDING = 4096
_MERGED = 256


@dataclass(slots=True)
class LearnedLink:
    """A connection while it lives."""

    peer: str
    weight: float
    ltp: bool
    last_use: Instant
    uses: int = 0
    credited: int = 0
    settled: Instant = 0.0
    """Until when idle decay has been applied."""
    history: deque[tuple[Instant, str]] = field(default_factory=deque)


class _Pending(msgspec.Struct):
    due: Deadline
    topic: str
    peer: str
    rewarded: bool = False


class ConnectionRegistry:
    """Both registries of one submind.

    Guarantees: weights stay in 0..1; at most ``per_topic`` connections a topic and ``total`` over all; every change
    of state is recorded with its reason and handed over once, by ``drain``.
    """

    def __init__(self, owner: str, settings: ConnectionSettings) -> None:
        self._owner = owner
        self._settings = settings
        self._links: dict[str, dict[str, LearnedLink]] = {}
        self._labels: dict[str, str] = {}
        self._pending: deque[_Pending] = deque()
        self._changes: list[ConnectionChange] = []
        self._touched: set[tuple[str, str]] = set()
        self._merged: dict[str, str] = {}
        """Topics that lately became part of another."""

    def configure(self, settings: ConnectionSettings) -> None:
        """Connections are reviewed by other settings, each when its turn comes; bounds do not change."""
        self._settings = settings

    def __len__(self) -> int:
        return sum(len(links) for links in self._links.values())

    def figures(self) -> dict[str, float]:
        """How many connections of each kind there are, by metric name."""
        ltp = sum(link.ltp for links in self._links.values() for link in links.values())
        return {"connections_ltp": float(ltp), "connections_transient": float(len(self) - ltp)}

    def peers(self, topic: str) -> list[LearnedLink]:
        """The connections of a topic: LTP first, then by weight."""
        return sorted(self._links.get(topic, {}).values(), key=lambda link: (not link.ltp, -link.weight, link.peer))

    def open(self, topic: str, label: str, peer: str, now: Instant, reason: str) -> bool:
        """Open a transient connection; False when it was there, or the registries are full of stronger ones."""
        if peer == self._owner or self._current(topic, peer, now) is not None:
            return False
        links = self._links.setdefault(topic, {})
        self._labels[topic] = label
        links[peer] = LearnedLink(peer, self._settings.initial, ltp=False, last_use=now, settled=now)
        self._record(topic, links[peer], now, ChangeKind.OPENED, reason)
        if len(links) > self._settings.per_topic:
            self._settle_all(topic, now)
        if len(links) > self._settings.per_topic:
            self._evict(topic, min(links.values(), key=self._rank), now, "the topic has no room")
        if len(self) > self._settings.total:
            self.tend(now)
        if len(self) > self._settings.total:
            self._evict(*self._weakest(), now, "the registries have no room")
        return peer in self._links.get(topic, {})

    def use(self, topic: str, peer: str, now: Instant) -> None:
        """A thought went along the connection: credit may follow within the window."""
        link = self._current(topic, peer, now)
        if link is None:
            return
        link.uses += 1
        link.last_use = now
        self._pending.append(_Pending(now + self._settings.credit_window, topic, peer))
        if len(self._pending) > _PENDING:
            self._expire(self._pending.popleft(), now)
        self._touched.add((topic, peer))

    def credit(self, topic: str, peer: str, now: Instant, reason: str) -> None:
        """What came of a use proved useful: ``w += eta * (1 - w)``; the link's oldest open use counts as rewarded."""
        topic = self._merged.get(topic, topic)
        link = self._current(topic, peer, now)
        if link is None:
            return
        link.weight += self._settings.eta * (1 - link.weight)
        for pending in self._pending:
            if pending.topic == topic and pending.peer == peer and not pending.rewarded:
                pending.rewarded = True
                link.credited += 1
                break
        self._record(topic, link, now, ChangeKind.CREDITED, reason)
        if not link.ltp and link.weight >= self._settings.promote_at and link.credited >= self._settings.promote_uses:
            link.ltp = True
            self._record(
                topic, link, now, ChangeKind.PROMOTED, f"weight {link.weight:.2f} after {link.credited} credits"
            )

    def tend(self, now: Instant) -> None:
        """Let uses without credit expire and idle connections fade; how often it is called changes nothing."""
        self._expire_due(now)
        for topic in list(self._links):
            self._settle_all(topic, now)

    def refuse(self, topic: str, peer: str, now: Instant, reason: str, label: str = "") -> None:
        """Record that a peer's request to be registered was refused."""
        self._changes.append(ConnectionChange(self._owner, topic, peer, now, ChangeKind.REFUSED, 0.0, reason, label))

    def merge(self, gone: str, kept: str, label: str, now: Instant) -> None:
        """Move the connections of a topic that became part of another; of two to one peer the stronger stays."""
        self.tend(now)
        self._follow(gone, kept)
        links = self._links.pop(gone, {})
        self._labels.pop(gone, None)
        if not links:
            return
        into = self._links.setdefault(kept, {})
        self._labels[kept] = label
        for peer, link in links.items():
            self._touched.update(((gone, peer), (kept, peer)))
            if peer not in into or self._rank(into[peer]) < self._rank(link):
                into[peer] = link
        while len(into) > self._settings.per_topic:
            self._evict(kept, min(into.values(), key=self._rank), now, "topics merged")

    def _follow(self, gone: str, kept: str) -> None:
        """Open uses move along, and credit that still names the topic that is gone finds the other."""
        for pending in self._pending:
            if pending.topic == gone:
                pending.topic = kept
        self._merged = {old: kept if new == gone else new for old, new in self._merged.items()}
        self._merged[gone] = kept
        while len(self._merged) > _MERGED:
            del self._merged[next(iter(self._merged))]

    def drop(self, topic: str, now: Instant, reason: str) -> None:
        """Forget all connections of a topic that is gone."""
        for link in list(self._links.get(topic, {}).values()):
            self._evict(topic, link, now, reason)

    def handed(self, topics: Collection[str], now: Instant) -> tuple[tuple[Connection, ...], tuple[OpenUse, ...]]:
        """Connections of some topics as they would be handed over, and their uses that may still be credited."""
        self.tend(now)
        links = tuple(self._connection(t, link) for t in self._links if t in topics for link in self.peers(t))
        uses = tuple(OpenUse(p.due, p.topic, p.peer, p.rewarded) for p in self._pending if p.topic in topics)
        return links, uses

    def take(
        self, links: Sequence[Connection], uses: Sequence[OpenUse], keys: Mapping[str, str], now: Instant, reason: str
    ) -> None:
        """Take over connections with their history, under this submind's ``keys``; of two to one peer the stronger.

        The bounds hold: what finds no room is let go, the weakest first.
        """
        for held in links:
            topic = keys.get(held.topic, held.topic)
            if held.peer == self._owner:
                continue
            into = self._links.setdefault(topic, {})
            self._labels.setdefault(topic, held.label)
            history = deque(held.history, self._settings.history)
            link = LearnedLink(
                held.peer, held.weight, held.ltp, held.last_use, held.uses, held.credited, now, deque(history)
            )
            if held.peer in into and self._rank(into[held.peer]) >= self._rank(link):
                continue
            into[held.peer] = link
            self._record(topic, link, now, ChangeKind.OPENED, reason)
            while len(into) > self._settings.per_topic:
                self._evict(topic, min(into.values(), key=self._rank), now, "the topic has no room")
        while len(self) > self._settings.total:
            self._evict(*self._weakest(), now, "the registries have no room")
        open_uses = [_Pending(u.due, keys.get(u.topic, u.topic), u.peer, u.rewarded) for u in uses]
        self._pending = deque(sorted([*self._pending, *open_uses], key=lambda p: p.due)[-_PENDING:])
        for old, new in keys.items():
            if old != new:
                self._follow(old, new)

    def move(self, topic: str, peer: str, to: str, now: Instant, reason: str) -> bool:
        """A connection leads to another peer from now on, with its weight and history; False when it was not there."""
        topic = self._merged.get(topic, topic)
        link = self._current(topic, peer, now)
        if link is None or peer == to:
            return False
        label = self._labels.get(topic, topic)
        self._evict(topic, link, now, reason)
        if to == self._owner:
            return False
        for pending in self._pending:
            if pending.topic == topic and pending.peer == peer:
                pending.peer = to
        into = self._links.setdefault(topic, {})
        self._labels[topic] = label
        link.peer = to
        if to not in into or self._rank(into[to]) < self._rank(link):
            into[to] = link
            self._record(topic, link, now, ChangeKind.OPENED, reason)
        return True

    def topics_of(self, peer: str) -> list[str]:
        """Topics with a connection to this peer."""
        return [topic for topic, links in self._links.items() if peer in links]

    def _weakest(self) -> tuple[str, LearnedLink]:
        return min(((t, x) for t, links in self._links.items() for x in links.values()), key=lambda p: self._rank(p[1]))

    def drain(self) -> tuple[list[Connection], list[tuple[str, str]], list[ConnectionChange]]:
        """What changed since the last call: connections as they now are, (topic, peer) pairs gone, events."""
        kept, gone = [], []
        for topic, peer in sorted(self._touched):
            link = self._links.get(topic, {}).get(peer)
            if link is None:
                gone.append((topic, peer))
            else:
                kept.append(self._connection(topic, link))
        changes, self._changes = self._changes, []
        self._touched.clear()
        return kept, gone, changes

    def all(self) -> list[Connection]:
        """Every connection as others see it."""
        return [self._connection(topic, link) for topic in self._links for link in self.peers(topic)]

    def _connection(self, topic: str, link: LearnedLink) -> Connection:
        return Connection(
            owner=self._owner,
            topic=topic,
            label=self._labels.get(topic, topic),
            peer=link.peer,
            weight=link.weight,
            ltp=link.ltp,
            uses=link.uses,
            credited=link.credited,
            last_use=link.last_use,
            history=tuple(link.history),
        )

    def _rank(self, link: LearnedLink) -> tuple[bool, float, Instant]:
        return (link.ltp, link.weight, link.last_use)

    def _current(self, topic: str, peer: str, now: Instant) -> LearnedLink | None:
        """The link as of ``now``, if it has not faded away."""
        self._expire_due(now)
        link = self._links.get(topic, {}).get(peer)
        if link is not None:
            self._settle(topic, link, now)
        return self._links.get(topic, {}).get(peer)

    def _settle_all(self, topic: str, now: Instant) -> None:
        for link in list(self._links[topic].values()):
            self._settle(topic, link, now)

    def _settle(self, topic: str, link: LearnedLink, now: Instant) -> None:
        """Apply idle decay up to ``now``. Exponential, so settling in steps or at once gives the same."""
        idle = now - max(link.settled, link.last_use)
        if idle > 0:
            link.weight *= 0.5 ** (idle / self._settings.half_life)
            link.settled = now
        if link.ltp and link.weight < self._settings.demote_at:
            link.ltp = False
            self._record(topic, link, now, ChangeKind.DEMOTED, f"weight {link.weight:.2f}")
        if not link.ltp and link.weight < self._settings.forget_at:
            self._remove(topic, link, now, ChangeKind.FORGOTTEN, f"weight {link.weight:.2f}")

    def _expire_due(self, now: Instant) -> None:
        while self._pending and self._pending[0].due <= now:
            self._expire(self._pending.popleft(), now)

    def _expire(self, pending: _Pending, now: Instant) -> None:
        link = self._links.get(pending.topic, {}).get(pending.peer)
        if pending.rewarded or link is None:
            return
        link.weight -= self._settings.eta_minus * link.weight
        self._record(pending.topic, link, now, ChangeKind.UNREWARDED, "no credit within the window")
        self._settle(pending.topic, link, now)

    def _evict(self, topic: str, link: LearnedLink, now: Instant, reason: str) -> None:
        self._remove(topic, link, now, ChangeKind.EVICTED, reason)

    def _remove(self, topic: str, link: LearnedLink, now: Instant, kind: ChangeKind, reason: str) -> None:
        self._record(topic, link, now, kind, reason)
        links = self._links.get(topic, {})
        links.pop(link.peer, None)
        if not links:
            self._links.pop(topic, None)
            self._labels.pop(topic, None)

    def _record(self, topic: str, link: LearnedLink, now: Instant, kind: ChangeKind, reason: str) -> None:
        link.history.append((now, kind.value))
        while len(link.history) > self._settings.history:
            link.history.popleft()
        label = self._labels.get(topic, "")
        self._changes.append(ConnectionChange(self._owner, topic, link.peer, now, kind, link.weight, reason, label))
        self._touched.add((topic, link.peer))

    def dump(self) -> SavedConnections:
        """For a snapshot."""
        links = [
            (t, x.peer, x.weight, x.ltp, x.last_use, x.uses, x.credited, x.settled, list(x.history))
            for t, links in self._links.items()
            for x in links.values()
        ]
        return SavedConnections(self._labels, links, list(self._pending), self._merged)

    def load(self, saved: SavedConnections) -> None:
        """From a snapshot."""
        self._labels = saved.labels
        for topic, peer, weight, ltp, last_use, uses, credited, settled, history in saved.links:
            link = LearnedLink(peer, weight, ltp, last_use, uses, credited, settled, deque(history))
            self._links.setdefault(topic, {})[peer] = link
        self._pending = deque(saved.pending)
        self._merged = saved.merged


class SavedConnections(msgspec.Struct):
    """What a snapshot holds of them."""

    labels: dict[str, str]
    links: list[tuple[str, str, float, bool, Instant, int, int, Instant, list[tuple[Instant, str]]]]
    pending: list[_Pending]
    merged: dict[str, str]
