"""From the writes of a commit to what is to be decided: checked against what is there, numbered, folded.

Of several writes of one thing the last has the last word, so nothing is written twice by one commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from environment.errors import DuplicateEntry, SequenceGap, StaleRevision
from environment.messages import StreamEntry, Trace
from environment.population import GrowthEvent
from environment.ports import (
    Write,
    WriteConfiguration,
    WriteConnections,
    WriteEntries,
    WriteGrowth,
    WriteLevel,
    WriteMember,
    WriteRemoved,
    WriteReport,
    WriteState,
    WriteTrace,
)
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.doubts import changed_by
from environment.stores.cassandra.commits.record import (
    Born,
    Changed,
    Configured,
    Entry,
    Forgotten,
    Grown,
    Kept,
    LaneState,
    Payload,
    Removed,
    Standing,
    Version,
)
from environment.stores.cassandra.population import GrowthEvents
from environment.stores.cassandra.stream import EntryNumbers
from environment.stores.cassandra.traces.standings import Stand, Standings
from environment.stores.codec import encode, encode_history, encode_names
from environment.stores.repeats import same_content


@dataclass(slots=True)
class Draft:
    """The writes of one commit, before they are numbered into a record."""

    traces: LaneState
    """What the lane of the traces has counted before."""
    stream: LaneState
    growth: LaneState
    """What the lane of growth has counted before."""
    _stands: dict[str, Stand] = field(default_factory=dict)
    _before: dict[str, bool | None] = field(default_factory=dict)
    """Whether each trace that is written was live before; None: it was not there."""
    _versions: list[tuple[WriteTrace, bytes]] = field(default_factory=list)
    _standings: dict[str, Standing] = field(default_factory=dict)
    _entries: dict[str, Entry] = field(default_factory=dict)
    _connections: dict[tuple[str, str, str], Kept | None] = field(default_factory=dict)
    _changed: list[Changed] = field(default_factory=list)
    _states: dict[str, bytes] = field(default_factory=dict)
    _reports: dict[str, bytes] = field(default_factory=dict)
    _configurations: dict[int, Configured] = field(default_factory=dict)
    _growth: dict[int, bytes] = field(default_factory=dict)
    _members: dict[str, Born] = field(default_factory=dict)
    _removed: list[Removed] = field(default_factory=list)
    forgotten: list[Forgotten] = field(default_factory=list)

    async def add(
        self, writes: Sequence[Write], standings: Standings, numbers: EntryNumbers, grown: GrowthEvents
    ) -> None:
        """Take in writes, in their order. Raises ``StaleRevision``, ``SequenceGap`` or ``DuplicateEntry``."""
        ids = [write.trace.id for write in writes if isinstance(write, WriteTrace)]
        ids += [write.trace_id for write in writes if isinstance(write, WriteLevel)]
        if ids:
            self._stands = await standings.of(ids)
        known = await numbers.of(
            entry.id for write in writes if isinstance(write, WriteEntries) for entry in write.entries
        )
        for write in writes:
            match write:
                case WriteTrace():
                    await self._trace(write, standings)
                case WriteLevel():
                    self._level(write)
                case WriteEntries(entries):
                    self._append(entries, known)
                case WriteConnections():
                    self._connect(write)
                case WriteState(name, state):
                    self._states[name] = _bearable(state, f"the state of {name}", partitions.STATE_MOST)
                case WriteReport(report):
                    self._reports[report.name] = _bearable(encode(report), f"the report of {report.name}")
                case WriteConfiguration(made):
                    _bearable(made.body.encode(), f"configuration {made.version}")
                    configured = Configured(made.version, made.at, made.by, made.body)
                    self._configurations.setdefault(made.version, configured)
                case WriteGrowth(event):
                    await self._grow(event, grown)
                case WriteRemoved(names, states):
                    self._remove(names, states)
                case WriteMember(member):
                    body = _bearable(encode(member), f"member {member.name}")
                    self._members[member.name] = Born(member.number, member.name, body)
                case _:
                    raise TypeError(f"{type(write).__name__} is not something a store can write")

    def leave_out(self, missing: Callable[[list[Changed]], list[Changed]]) -> None:
        """Changes of connections that are there already; ``missing`` says which are not."""
        self._changed = missing(self._changed)

    def payload(self) -> Payload:
        """What is to be written; empty where all of it was there already."""
        change = self.traces.change
        versions = Counter(write.trace.id for write, _ in self._versions)
        standings = []
        for standing in self._standings.values():
            change += max(1, versions[standing.id])  # as many as rows in an index: by that its parts are bounded
            standings.append(msgspec.structs.replace(standing, change=change))
        numbers = {standing.id: standing.change for standing in standings}
        return Payload(
            versions=[_version(write.trace, body, numbers[write.trace.id]) for write, body in self._versions],
            standings=standings,
            entries=list(self._entries.values()),
            gone=[place for place, kept in self._connections.items() if kept is None],
            kept=[kept for kept in self._connections.values() if kept is not None],
            changed=self._changed,
            states=self._states,
            reports=self._reports,
            configurations=list(self._configurations.values()),
            forgotten=self.forgotten,
            growth=[Grown(seq, body) for seq, body in self._growth.items()],
            members=list(self._members.values()),
            removed=self._removed,
            owners=sorted(
                {owner for (owner, _, _), kept in self._connections.items() if kept is not None}
                | {change.owner for change in self._changed}
            ),
        )

    def counted(self, payload: Payload) -> tuple[LaneState, LaneState]:
        """What the lanes of traces and stream have counted with this commit, which writes ``payload``."""
        new = sum(before is None for before in self._before.values())
        live = sum(self._standings[name].live - bool(before) for name, before in self._before.items())
        traces = msgspec.structs.replace(
            self.traces,
            change=max([self.traces.change, *(standing.change for standing in payload.standings)]),
            traces=self.traces.traces + new - len(self.forgotten),
            live=self.traces.live + live,
            forgotten=self.traces.forgotten + len(self.forgotten),
        )
        return traces, msgspec.structs.replace(self.stream, entries=self.stream.entries + len(self._entries))

    async def _trace(self, write: WriteTrace, standings: Standings) -> None:
        trace = write.trace
        newest = self._stands[trace.id].newest if trace.id in self._stands else 0
        if trace.version == newest + 1:
            self._versions.append((write, _bearable(encode(trace.thought), f"trace {trace.id}")))
            self._stand(
                Standing(
                    *(trace.id, trace.version, 0, trace.live, trace.conscious or 0),
                    *(trace.level.value, trace.level.at, trace.level.half_life),
                )
            )
            return
        if 1 <= trace.version <= newest:
            ours = next(
                (w.trace for w, _ in self._versions if w.trace.id == trace.id and w.trace.version == trace.version),
                None,
            )
            theirs = ours or await standings.version(trace.id, trace.version)
            if theirs is not None and same_content(trace, theirs):
                return
        raise StaleRevision(trace.id, trace.version - 1, newest)

    def _level(self, write: WriteLevel) -> None:
        stand = self._stands.get(write.trace_id)
        if stand is None:
            return
        level = write.level
        self._stand(
            Standing(
                *(write.trace_id, stand.newest, 0, write.live, write.conscious or 0),
                *(level.value, level.at, level.half_life),
            )
        )

    def _stand(self, standing: Standing) -> None:
        before = self._stands.get(standing.id)
        self._before.setdefault(standing.id, None if before is None else before.live)
        self._standings.pop(standing.id, None)  # the last to be written is the last to have changed
        self._standings[standing.id] = standing
        self._stands[standing.id] = Stand(standing.newest, standing.live)

    def _append(self, entries: Sequence[StreamEntry], known: dict[str, int]) -> None:
        for entry in entries:
            there = known.get(entry.id)
            if there == entry.seq:
                continue
            if there is not None:
                raise DuplicateEntry(entry.id, there)
            expected = self.stream.entries + len(self._entries) + 1
            if entry.seq != expected:
                raise SequenceGap(expected, entry.seq)
            known[entry.id] = entry.seq
            self._entries[entry.id] = Entry(entry.seq, entry.id, _bearable(encode(entry), f"entry {entry.id}"))

    async def _grow(self, event: GrowthEvent, grown: GrowthEvents) -> None:
        expected = self.growth.entries + len(self._growth) + 1
        body = _bearable(encode(event), f"event {event.id}")
        if event.seq == expected:
            self._growth[event.seq] = body
        elif not 0 < event.seq < expected or (self._growth.get(event.seq) or await grown.body(event.seq)) != body:
            raise SequenceGap(expected, event.seq)

    def _remove(self, names: Sequence[str], states: Sequence[str]) -> None:
        for name in names:
            self._reports.pop(name, None)  # of rows that one commit puts and deletes, those that it puts would stay
        for name in (*names, *states):
            self._states.pop(name, None)
        self._removed.append(Removed(list(names), list(states)))

    def _connect(self, write: WriteConnections) -> None:
        for topic, peer in write.gone:
            self._connections[write.owner, topic, peer] = None
        for c in write.kept:
            self._connections[write.owner, c.topic, c.peer] = Kept(
                *(write.owner, c.topic, c.peer, c.label, c.weight, c.ltp, c.uses, c.credited, c.last_use),
                encode_history(c),
            )
        self._changed += changed_by([write])


def _bearable(body: bytes, what: str, most: int = partitions.BODY_MOST) -> bytes:
    """The body, if servers can take it. Once it were decided on, nothing could be decided after it."""
    if len(body) > most:
        raise ValueError(f"{what} has {len(body)} bytes; a store on Cassandra takes {most} at most")
    return body


def _version(trace: Trace, body: bytes, change: int) -> Version:
    thought, level = trace.thought, trace.level
    return Version(
        *(trace.id, trace.version, change, thought.author, thought.topic, thought.at),
        *(level.value, level.at, level.half_life, encode_names(trace.authors), body),
    )
