"""A record: one commit as it was decided on, whole: the rows that it writes, and what its logs have counted with it.

A record is decided on (``commit_logs``) before any of its rows is written. Whoever finds one whose rows may be missing
writes them: the same rows with the same write times, so that doing it twice, or late, changes nothing.
Fields are only ever added at the end, with a default: a record may be applied by another version than wrote it.
"""

from typing import Any, TypeAlias

import msgspec

CORE = "core"
"""The family of the logs by which a mind's numbers are given: they may be decided on together."""
TRACES, STREAM, DOCUMENTS = "traces", "stream", "documents"
"""Its logs: every change of a trace, every entry of the stream, and every change of a document goes through its own."""


def family_of(log: str) -> str:
    """The family of a writer's own log."""
    return f"of {log}"


class Counters(msgspec.Struct, frozen=True, array_like=True):
    """What a log counts; 0 where that is another's to count."""

    change: int = 0
    """The last change of a trace, or of a document."""
    traces: int = 0
    """Traces that are kept."""
    live: int = 0
    """Those of them that are live."""
    forgotten: int = 0
    """Traces that were forgotten, ever."""
    entries: int = 0
    """The head of the stream."""
    history: int = 0
    """Changes of connections that were written, ever."""
    stamp: int = 0
    """The write time of the last record, microseconds."""
    documents: dict[str, int] = {}
    """Documents that each collection holds; of those that hold any."""


class WriterLife(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Which life of a writer writes. A larger one is later."""

    epoch: int
    life: int


class Part(msgspec.Struct, frozen=True, array_like=True):
    """One log that a record belongs to."""

    family: str
    log: str
    n: int
    """The record's number in the log."""
    counters: Counters
    """What the log has counted with it."""
    claims: dict[str, WriterLife] = {}
    """By writer, of those that claimed the log under its epoch."""


Row: TypeAlias = tuple[str, list[Any]]
"""The name of a statement (``rows``) and its values, without the mind and the write time."""


class CommitRecord(msgspec.Struct, frozen=True, array_like=True):
    """One commit. ``rows`` are empty where they stand apart, in ``pieces``."""

    stamp: int
    """The write time of its rows, microseconds: later than that of every record before it in its logs."""
    id: bytes
    """By which its writer knows it from all others."""
    parts: list[Part]
    rows: bytes
    pieces: int = 0
    recent: list[bytes] = []
    """Ids of the records before it, the last first."""

    def tells_of(self, commit: bytes) -> bool:
        """Whether the commit of that id is this one, or was decided on shortly before it."""
        return commit == self.id or commit in self.recent

    def part(self, family: str, log: str) -> Part | None:
        """The log's part in it."""
        return next((part for part in self.parts if (part.family, part.log) == (family, log)), None)


encode = msgspec.msgpack.Encoder().encode
"""A record, rows or counters; equal ones give equal bytes."""
decode_record = msgspec.msgpack.Decoder(CommitRecord).decode
decode_rows = msgspec.msgpack.Decoder(list[Row]).decode
decode_counters = msgspec.msgpack.Decoder(Counters).decode
