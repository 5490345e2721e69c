"""From the writes of a commit to the rows that are decided on: checked against what is there, numbered, folded.

Of several writes of one thing the last has the last word, so nothing is written twice by one commit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from environment import ports
from environment.collections import RemoveDocument, WriteDocument
from environment.errors import DuplicateEntry, SequenceGap, StaleRevision
from environment.messages import ConnectionChange, Level, StreamEntry
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.record import DOCUMENTS, STREAM, TRACES, Counters, Row, family_of
from environment.stores.cassandra.documents import DocumentDraft, DocumentMeta, DocumentReader, Place
from environment.stores.cassandra.stream import EntryNumbers
from environment.stores.cassandra.traces.status import TraceStatus, TraceStatusCache
from environment.stores.cassandra.traces.traces import Written
from environment.stores.codec import encode, encode_history, encode_names
from environment.stores.repeats import same_content


@dataclass(frozen=True, slots=True)
class Known:
    """What a writer knows of what is there."""

    statuses: TraceStatusCache
    numbers: EntryNumbers
    documents: DocumentReader
    listed: Callable[..., bool]
    """Whether a row of a directory is there already: its statement's name and values."""


class _Status(NamedTuple):
    """How a trace stands after the commit."""

    newest: int
    live: bool
    conscious: int
    """0: not at all."""
    level: Level


@dataclass(slots=True)
class Draft:
    """The writes of one commit, before they are numbered into rows."""

    stamp: int
    """The write time of the record."""
    known: Known
    before: Mapping[str, Counters] = field(default_factory=dict)
    """What those of its logs have counted that give numbers, by name."""
    history: int = 0
    """Changes of connections that the first log has counted before."""
    rows: dict[tuple[object, ...], Row] = field(default_factory=dict)
    """By the statement and the row's key."""
    entries: dict[str, int] = field(default_factory=dict)
    """Numbers of the entries that are appended, by id."""
    changed: list[ConnectionChange] = field(default_factory=list)
    """What is to be listed in the history of connections."""
    documents: DocumentDraft | None = None
    forgotten: dict[str, tuple[int, Written]] = field(default_factory=dict)
    """Traces that go: their newest version, and how the first was written."""
    _there: dict[str, TraceStatus] = field(default_factory=dict)
    _before: dict[str, bool | None] = field(default_factory=dict)
    """Whether each trace that is written was live before; None: it was not there."""
    _versions: dict[str, dict[int, tuple[ports.WriteTrace, bytes]]] = field(default_factory=dict)
    _statuses: dict[str, _Status] = field(default_factory=dict)
    _states: dict[str, bytes] = field(default_factory=dict)

    @property
    def traces(self) -> Counters:
        """What the log of the traces has counted before."""
        return self.before.get(TRACES, Counters())

    @property
    def stream(self) -> Counters:
        """What that of the stream has."""
        return self.before.get(STREAM, Counters())

    async def add(self, writes: Sequence[ports.Write]) -> None:
        """Take in writes, in their order. Raises ``StaleRevision``, ``SequenceGap`` or ``DuplicateEntry``."""
        ids = [write.trace.id for write in writes if isinstance(write, ports.WriteTrace)]
        ids += [write.trace_id for write in writes if isinstance(write, ports.WriteLevel)]
        if ids:
            self._there = await self.known.statuses.of(ids)
        known = await self.known.numbers.of(
            entry.id for write in writes if isinstance(write, ports.WriteEntries) for entry in write.entries
        )
        documents = [write for write in writes if isinstance(write, WriteDocument | RemoveDocument)]
        if documents:
            await self._draft_documents([_place(write) for write in documents])
        for write in writes:
            match write:
                case ports.WriteTrace():
                    await self._trace(write)
                case ports.WriteLevel(name, level, live, conscious):
                    there = self._there.get(name)
                    if there is not None:
                        self._stand(name, _Status(there.newest, live, conscious or 0, level))
                case ports.WriteEntries(entries, redacted):
                    for entry in entries if redacted else ():
                        self._put("entry", 2, partitions.entry_chunk(entry.seq), entry.seq, encode(entry))
                    self._append(() if redacted else entries, known)
                case ports.WriteConnections():
                    self._connect(write)
                case ports.WriteState(name, state):
                    self._states[name] = _bearable(state, f"the state of {name}", partitions.STATE_MOST)
                case ports.WriteReport(report):
                    self._put("report", 1, report.name, _bearable(encode(report), f"the report of {report.name}"))
                case ports.WriteRemoved(names, states):
                    self._remove(names, states)
                case WriteDocument() | RemoveDocument():
                    document = write.document
                    _bearable(document.body, f"{document.collection}/{document.key}", partitions.STATE_MOST)
                    if self.documents is not None:
                        self.documents.write(write)
                case _:
                    raise TypeError(f"{type(write).__name__} is not something a store can write")

    async def _draft_documents(self, places: Iterable[Place]) -> DocumentDraft:
        there, before = await self.known.documents.metas(places), self.before.get(DOCUMENTS, Counters())
        self.documents = DocumentDraft(self._put, self._list, self.stamp, before, there)
        return self.documents

    async def forget_documents(self, places: Iterable[Place], may: Callable[[DocumentMeta], bool]) -> list[Place]:
        """Take those documents away of which that is so; which went."""
        return (await self._draft_documents(places)).forget(may)

    def finish(self) -> list[Row]:
        """The rows that are to be written; none where all of it was there already."""
        if self.documents is not None:
            self.documents.finish()
        change = self.traces.change
        for name, status in self._statuses.items():
            versions = self._versions.get(name, {})
            # As many as rows in an index: by that its parts are bounded.
            change, before = change + max(1, len(versions)), change
            self._write_trace(name, status, change, before)
        for place, each in enumerate(self.changed):
            hour, part = partitions.hour(each.at), partitions.part(self.history + place)
            self._list(partitions.history_scope(each.owner), hour, part)
            values = (each.topic, each.peer, each.kind.value, each.weight, each.reason, each.label)
            self._put("history", 6, each.owner, hour, part, each.at, self.stamp, place, *values)
        owners = [each.owner for each in self.changed]
        owners += [str(values[0]) for name, values in self.rows.values() if name == "connection"]
        collections = [str(values[0]) for name, values in self.rows.values() if name == "document"]
        listed = (partitions.OWNER, owners), (partitions.STATE, self._states), (partitions.COLLECTION, collections)
        for kind, names in listed:
            for name in names:
                if not self.known.listed("name", kind, name):
                    self._put("name", 2, kind, name)
        for name, state in self._states.items():
            pieces = partitions.pieces(state)
            for number, piece in enumerate(pieces):
                self._put("state", 2, name, number, len(pieces), self.stamp, piece)
        for name, (newest, first) in self.forgotten.items():
            self._forget(name, newest, first)
        return list(self.rows.values())

    def counted(self) -> dict[str, Counters]:
        """What the logs have counted with this commit that give numbers, once it is finished; by name."""
        new = sum(before is None for before in self._before.values())
        live = sum(self._statuses[name].live - bool(before) for name, before in self._before.items())
        traces = msgspec.structs.replace(
            self.traces,
            change=self.traces.change + sum(max(1, len(self._versions.get(name, ()))) for name in self._statuses),
            traces=self.traces.traces + new - len(self.forgotten),
            live=self.traces.live + live,
            forgotten=self.traces.forgotten + len(self.forgotten),
        )
        stream = msgspec.structs.replace(self.stream, entries=self.stream.entries + len(self.entries))
        documents = self.documents.counted() if self.documents else self.before.get(DOCUMENTS, Counters())
        return {TRACES: traces, STREAM: stream, DOCUMENTS: documents}

    def statuses(self) -> dict[str, TraceStatus]:
        """How the traces stand that are written."""
        return {name: TraceStatus(each.newest, each.live) for name, each in self._statuses.items()}

    def _put(self, statement: str, key: int, *values: object) -> None:
        """A row, whose first ``key`` values say which it is."""
        self.rows[(statement, *values[:key])] = (statement, list(values))

    def _list(self, scope: str, bucket: int, part: int) -> None:
        """A bucket is in the directory."""
        era = partitions.era(bucket)
        if not self.known.listed("bucket", scope, era, bucket, part):
            self._put("bucket", 4, scope, era, bucket, part)
            self._put("era", 2, scope, era)

    async def _trace(self, write: ports.WriteTrace) -> None:
        trace = write.trace
        newest = self._there[trace.id].newest if trace.id in self._there else 0
        ours = self._versions.setdefault(trace.id, {})
        if trace.version == newest + 1:
            ours[trace.version] = write, _bearable(encode(trace.thought), f"trace {trace.id}")
            self._stand(trace.id, _Status(trace.version, trace.live, trace.conscious or 0, trace.level))
            return
        if 1 <= trace.version <= newest:
            known = ours.get(trace.version)
            theirs = known[0].trace if known else await self.known.statuses.version(trace.id, trace.version)
            if theirs is not None and same_content(trace, theirs):
                return
        raise StaleRevision(trace.id, trace.version - 1, newest)

    def _stand(self, name: str, status: _Status) -> None:
        before = self._there.get(name)
        self._before.setdefault(name, None if before is None else before.live)
        self._statuses.pop(name, None)  # the last to be written is the last to have changed
        self._statuses[name] = status
        self._there[name] = TraceStatus(status.newest, status.live)

    def _write_trace(self, name: str, status: _Status, change: int, before: int) -> None:
        level, part = status.level, partitions.part(change)
        stands = (status.newest, status.live, status.conscious, level.value, level.at, level.half_life, change)
        together = False
        for version, (write, body) in self._versions.get(name, {}).items():
            chunk, first = partitions.version_chunk(version), write.trace.level
            values = name, chunk, version, first.value, first.at, first.half_life, part
            content = encode_names(write.trace.authors), body
            # The newest goes together with how the trace stands, where both are in one partition.
            newest = version == status.newest and not chunk
            together = together or newest
            self._put("newest" if newest else "version", 3, *values, *content, *(stands if newest else ()))
            if version == 1:
                hour = partitions.hour(write.trace.thought.at)
                self._list(partitions.TIME, hour, part)
                self._put("time", 4, hour, part, write.trace.thought.at, name)
        if not together:
            self._put("status", 2, name, 0, *stands)
        if not status.live and not status.conscious:
            hour = partitions.hour(level.at)
            self._list(partitions.RETIRED, hour, part)
            self._put("retired", 4, hour, part, level.at, name, self.stamp + 1)
        self._put("change", 2, partitions.change_bucket(change), change, name, status.live, before)

    def _forget(self, name: str, newest: int, first: Written) -> None:
        for chunk in range(partitions.version_chunk(newest) + 1):
            self._put("no trace", 2, name, chunk)
        at = first.trace.thought.at
        self._put("not time", 4, partitions.hour(at), first.part, at, name)

    def _append(self, entries: Sequence[StreamEntry], known: dict[str, int]) -> None:
        for entry in entries:
            there = known.get(entry.id)
            if there == entry.seq:
                continue
            if there is not None:
                raise DuplicateEntry(entry.id, there)
            expected = self.stream.entries + len(self.entries) + 1
            if entry.seq != expected:
                raise SequenceGap(expected, entry.seq)
            known[entry.id] = self.entries[entry.id] = entry.seq
            body = _bearable(encode(entry), f"entry {entry.id}")
            self._put("entry", 2, partitions.entry_chunk(entry.seq), entry.seq, body)
            self._put("entry id", 1, entry.id, entry.seq)

    def _remove(self, names: Sequence[str], states: Sequence[str]) -> None:
        """Whole partitions, and one row each of the lists of reports and names; their logs go when it is applied."""
        for name in names:
            self.rows.pop(("report", name), None)  # of rows that one commit puts and deletes, those that it puts stay
            self._put("no report", 1, name)
            self._put("no name", 2, partitions.OWNER, name)
            self._put("no connections", 1, name)
            self._put("no eras", 1, partitions.history_scope(name))
            self._put("no head", 2, family_of(name), name)
        for name in (*names, *states):
            self._states.pop(name, None)
            self._put("no state", 1, name)
            self._put("no name", 2, partitions.STATE, name)

    def _connect(self, write: ports.WriteConnections) -> None:
        for topic, peer in write.gone:
            self.rows.pop(("connection", write.owner, topic, peer), None)
            self._put("no connection", 3, write.owner, topic, peer)
        for c in write.kept:
            values = (c.label, c.weight, c.ltp, c.uses, c.credited, c.last_use, encode_history(c))
            self._put("connection", 3, write.owner, c.topic, c.peer, *values)
        self.changed += write.changes


def _place(write: WriteDocument | RemoveDocument) -> Place:
    return write.document.collection, write.document.key


def changes_of(writes: Iterable[ports.Write]) -> list[ConnectionChange]:
    """What is to be listed in the history of connections."""
    return [change for write in writes if isinstance(write, ports.WriteConnections) for change in write.changes]


def _bearable(body: bytes, what: str, most: int = partitions.BODY_MOST) -> bytes:
    """The body, if servers can take it. Once it were decided on, nothing could be decided after it."""
    if len(body) > most:
        raise ValueError(f"{what} has {len(body)} bytes; a store on Cassandra takes {most} at most")
    return body
