"""What a mind needs of a store, as Protocols; every backend passes one contract suite.

A store object serves one mind: no method takes a mind, so nothing can cross between two of them. All methods are
coroutines, so a backend may be a server. Each may raise ``StoreUnavailable`` (nothing was written; call it again).
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol, TypeAlias

from environment import messages
from environment.collections import Collections, RemoveDocument, WriteDocument

LAST_EPOCH = (1 << 22) - 1
"""The largest epoch, of any store: a write time of Cassandra has no more bits for it."""
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many of how many have been read."""


class PreparedBatch(Protocol):
    """A batch made ready by the log that will take it, which may keep more in it."""

    @property
    def perceptions(self) -> messages.PerceptionBatch: ...

    def __len__(self) -> int: ...


class Appender(Protocol):
    """Where perceptions are taken in."""

    @property
    def ahead(self) -> int:
        """How many appends may be called before the first of them has returned: 1 where each waits for the one before.

        They are written in the order of the calls. Those called before it was known that an earlier one failed raise
        ``AppendSkipped``, where the log still answers, so that nothing is written behind a gap.
        """

    def prepare(self, batch: messages.PerceptionBatch) -> PreparedBatch:
        """The part of appending that need not wait for its turn; writes nothing."""

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[messages.Receipts]:
        """What ``PerceptionLog.append`` does, for many callers at once: all are written, in their order, or none is.

        The batches were prepared by this log.
        """


class PerceptionLog(Appender, Protocol):
    """The raw input, in the order in which it was acknowledged. One opening writes at a time: the last that led."""

    async def lead(self, token: int | None = None) -> int:
        """Begin a new epoch of writing; its number, larger than any before. ``token``: the number, given from outside.

        From now on appending and forgetting through any opening that led before raise ``FencedOut``, and so does a
        ``token`` that is not larger than the epoch that is there. An opening that never led need not: it begins an
        epoch by itself when it first appends, and again when another has overtaken it. That is for tools and for tests;
        who shares a log with others leads, so as to learn that it was overtaken.
        """

    async def append(self, batch: Sequence[messages.NewPerception]) -> list[messages.Receipt]:
        """Write and sync; what is answered is durable. A known (source, key) answers its first receipt, ``new`` false.

        All of the batch is written or none of it. Raises ``StoreFull`` when the device has no room.
        """

    async def read(
        self, after: int, limit: int, modality: messages.Modality | None = None
    ) -> list[messages.Perception]:
        """Perceptions with ``seq > after``, oldest first, at most ``limit``."""

    async def get(self, ids: Sequence[str]) -> dict[str, messages.Perception]:
        """Those of ``ids`` that are there."""

    async def head(self) -> int:
        """The highest sequence number ever given, 0 before the first; forgetting does not lower it."""

    async def forget(
        self, received_before: messages.Instant, up_to: int, limit: int = 10_000, believed: messages.Instant = inf
    ) -> int:
        """Delete what was received before and is at or below sequence ``up_to``; how many perceptions went.

        What says that it came after ``believed`` is of a wrong clock: it goes once something behind it may go. What was
        written together goes together: so one may stay a little longer, and the last that go may be more than ``limit``
        asks for (call again while ``limit`` or more went). What must stay may keep everything after it.
        """

    async def erase(self, seqs: Sequence[int]) -> int:
        """Delete these perceptions with their keys, whatever stands beside them; how many were there.

        All of one call are gone or none is. Their numbers stay given. Raises ``FencedOut`` as ``forget``.
        """


class TraceStore(Protocol):
    """Reads of the traces and their revisions; writing goes through ``Stores.commit``."""

    async def get(self, ids: Sequence[str]) -> dict[str, messages.Trace]:
        """Those of ``ids`` that are there, at their newest version, live or not."""

    async def revisions(self, trace_id: str) -> list[messages.Trace]:
        """All versions, oldest first; empty when unknown."""

    def live(self, batch: int = 1000, progress: Progress | None = None) -> AsyncIterator[list[messages.Trace]]:
        """Every live trace at its newest version, in batches: what an index is rebuilt from.

        The cost follows the live set, not the age of the mind. ``progress`` is told of every batch, before it comes.
        """

    async def changes(self, after: int, limit: int) -> tuple[int, list[messages.Trace]]:
        """Traces changed since change number ``after`` (0: all) at their newest version, and the number reached.

        Lets a reader elsewhere keep an index of its own current. Level-only changes count as changes. They are not kept
        for ever, and those of a trace go with it when it is forgotten: raises ``ChangesGone`` where one above ``after``
        went. Who reads that begins anew with ``head`` and ``live``.
        """

    async def head(self) -> int:
        """The latest change number, 0 at first. Read it before ``live`` to know where ``changes`` goes on."""

    async def forget(self, before: messages.Instant, limit: int = 10_000) -> int:
        """Delete traces that are retired, were never conscious and whose level was last set before ``before``.

        All their revisions go with them; how many traces went (call again while ``limit`` went).
        """


class StreamLog(Protocol):
    """Reads of the stream of consciousness; writing goes through ``Stores.commit``."""

    async def head(self) -> int:
        """The last sequence number, 0 when empty."""

    async def read(self, from_seq: int, limit: int) -> list[messages.StreamEntry]:
        """Entries with ``seq >= from_seq`` in order, at most ``limit``."""

    async def find(self, entry_id: str) -> messages.StreamEntry | None:
        """The entry with that id."""


class RegistryStore(Protocol):
    """Reads of connections, reports and saved states; writing goes through ``Stores.commit``."""

    async def connections(self, owner: str | None = None) -> list[messages.Connection]:
        """All connections, or one submind's; strongest first."""

    async def history(
        self, owner: str | None = None, limit: int = 1000, *, since: messages.Instant | None = None, before: str = ""
    ) -> list[messages.ConnectionChange]:
        """The latest changes, newest first by mind time, each with its mark; of one submind, at ``since`` or after.

        ``before`` is the mark of the last one read: those that stand behind it follow, none left out or twice, whatever
        is written meanwhile. Raises ``ValueError`` for what is no mark of this store.
        """

    async def written(self, after: str, limit: int) -> list[messages.ConnectionChange]:
        """Changes in the order in which this store took them in: the first ``limit`` behind the mark ``after``.

        Empty: from the first that is kept. Who reads on behind the last one it was given gets each change that is kept
        once, whatever its mind time. Raises ``ValueError`` for what is no mark of this store.
        """

    async def last_written(self) -> str:
        """The mark of the last of them; empty where there is none."""

    async def owners(self, after: str = "", limit: int | None = None) -> list[str]:
        """Who has, or had, connections: names behind ``after`` in the order of their UTF-8, at most ``limit``."""

    async def reports(self, after: str = "", limit: int | None = None) -> list[messages.SubmindReport]:
        """The last report of each actor, by name: of those behind ``after``, at most ``limit``."""

    async def state(self, name: str) -> bytes | None:
        """The state an actor last saved, to restore it from."""

    async def forget(self, before: messages.Instant, limit: int = 10_000) -> int:
        """Delete changes of connections older than ``before``, at most ``limit``; how many went."""


@dataclass(frozen=True, slots=True)
class WriteTrace:
    """A new trace (``version`` 1) or a revision. Writing the same (id, version) twice changes nothing."""

    trace: messages.Trace


@dataclass(frozen=True, slots=True)
class WriteLevel:
    """The salience of a trace changed, or it was retired, or it became conscious; its content did not change."""

    trace_id: str
    level: messages.Level
    live: bool
    conscious: int | None


@dataclass(frozen=True, slots=True)
class WriteEntries:
    """Append to the stream. The first must continue it (``SequenceGap``); an id there under another number fails.

    Writing the same (seq, id) twice changes nothing, so a commit whose answer was lost can be repeated.
    """

    entries: tuple[messages.StreamEntry, ...]
    redacted: bool = False
    """Whether they take the place of those of their numbers and ids instead: the one way in which an entry changes."""


@dataclass(frozen=True, slots=True)
class WriteConnections:
    """A registry changed: connections as they now are, those that went, and the events that tell why."""

    owner: str
    kept: tuple[messages.Connection, ...]
    gone: tuple[tuple[str, str], ...]
    """(topic, peer) pairs."""
    changes: tuple[messages.ConnectionChange, ...]


@dataclass(frozen=True, slots=True)
class WriteState:
    """An actor's state, replacing the one before."""

    name: str
    state: bytes


@dataclass(frozen=True, slots=True)
class WriteReport:
    """An actor's report, replacing the one before."""

    report: messages.SubmindReport


@dataclass(frozen=True, slots=True)
class WriteRemoved:
    """What actors that are no more left of themselves goes: reports, states, and whatever the store keeps for writers.

    Thoughts, and what the log of growth says, stay. Only for names that nobody bears again, and that have no history
    of connections left. Removing twice changes nothing.
    """

    names: tuple[str, ...]
    states: tuple[str, ...] = ()
    """Further ones of theirs."""


Write: TypeAlias = (
    WriteTrace
    | WriteLevel
    | WriteEntries
    | WriteConnections
    | WriteState
    | WriteReport
    | WriteRemoved
    | WriteDocument
    | RemoveDocument
)


class Stores(Protocol):
    """All the stores of one mind, and the one way to write to them."""

    @property
    def perceptions(self) -> PerceptionLog: ...

    @property
    def traces(self) -> TraceStore: ...

    @property
    def stream(self) -> StreamLog: ...

    @property
    def registry(self) -> RegistryStore: ...

    @property
    def collections(self) -> Collections: ...

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:
        """Write all or nothing, durably, in the order given.

        ``fence`` is the epoch the writer leads under: an older one raises ``FencedOut``. 0 means unfenced, for the
        simulator and for readers that never lead. Raises ``StaleRevision``, ``SequenceGap`` or ``DuplicateEntry``
        where a write does not fit what is there. A level for a trace that is not there changes nothing.
        """

    async def lead(self, token: int | None = None) -> int:
        """Begin a new epoch: a number larger than any before. Writers of older epochs are refused from now on.

        ``token`` is the number to begin, where somebody else agreed on it; ``FencedOut`` unless it is larger than the
        current one.
        """

    async def statistics(self) -> Mapping[str, float]:
        """Rows and bytes by table, for people: what it costs does not follow the mind's age."""

    async def close(self) -> None:
        """Release files and threads; may be called twice."""
