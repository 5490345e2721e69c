"""The statements that a record's rows are written with: pure, so that whoever applies a record writes the same.

Every row is written with a time that follows from the record, never with the time of writing. What a record deletes
is deleted at its stamp, what it puts is put right after: rows that were put later stay, whoever applies it when.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from environment.stores.cassandra.commits.record import CommitRecord, Row, encode

Request: TypeAlias = tuple[str, tuple[object, ...]]
"""A statement of CQL and all its values."""


_VERSION = "id chunk version first_value first_at first_half_life part authors body"
_STATUS = "newest live conscious value at half_life change"
_INSERTS = {
    "version": ("traces", _VERSION),
    "newest": ("traces", f"{_VERSION} {_STATUS}"),  # a version together with how the trace stands
    "status": ("traces", f"id chunk {_STATUS}"),
    "change": ("changes", "bucket change id live previous"),
    "time": ("traces_by_time", "hour part at id"),
    "retired": ("traces_retired", "hour part at id stamp"),
    "era": ("eras", "scope era"),
    "bucket": ("buckets", "scope era bucket part"),
    "entry": ("stream_entries", "chunk seq body"),
    "entry id": ("stream_entries_by_id", "id seq"),
    "name": ("names", "kind name"),
    "connection": ("connections", "owner topic peer label weight ltp uses credited last_use history"),
    "history": ("connection_changes", "owner hour part at stamp place topic peer kind weight reason label"),
    "state": ("states", "name piece pieces stamp body"),
    "document": ("documents", "collection id piece pieces stamp meta body"),
    "document key": ("document_keys", "collection part id"),
    "document time": ("documents_by_time", "collection hour part at id"),
    "document expiry": ("documents_expiring", "hour part at collection id"),
    "document change": ("document_changes", "bucket change collection id previous"),
    "report": ("reports", "name body"),
}
_DELETES = {
    "no document": ("documents", "collection id"),
    "no document key": ("document_keys", "collection part id"),
    "no document time": ("documents_by_time", "collection hour part at id"),
    "no document expiry": ("documents_expiring", "hour part at collection id"),
    "no report": ("reports", "name"),
    "no state": ("states", "name"),
    "no name": ("names", "kind name"),
    "no connection": ("connections", "owner topic peer"),
    "no connections": ("connections", "owner"),
    "no eras": ("eras", "scope"),
    "no head": ("heads", "family log"),
    "no trace": ("traces", "id chunk"),
    "not time": ("traces_by_time", "hour part at id"),
}
_EXPIRING = {"change", "document change"}


def _insert(table: str, columns: str, more: str = "") -> str:
    names = ["mind", *columns.split()]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) USING TIMESTAMP ?{more}"  # noqa: S608 - ours


def _delete(table: str, columns: str) -> str:
    places = " AND ".join(f"{name} = ?" for name in ["mind", *columns.split()])
    return f"DELETE FROM {table} USING TIMESTAMP ? WHERE {places}"  # noqa: S608 - ours


_PUTS = {name: _insert(*put, " AND TTL ?" if name in _EXPIRING else "") for name, put in _INSERTS.items()}
_TAKES = {name: _delete(*take) for name, take in _DELETES.items()}
_HEAD = _insert("heads", "family log n counters")


def requests_of(mind: str, stamp: int, rows: Iterable[Row], changes_kept: int) -> Iterator[Request]:
    """What writes the rows of a record, in no needed order. ``changes_kept``: seconds for which changes are kept."""
    for name, values in rows:
        if name in _TAKES:
            yield _TAKES[name], (stamp, mind, *values)
        elif name in _EXPIRING:
            yield _PUTS[name], (mind, *values, stamp + 1, changes_kept)
        else:
            yield _PUTS[name], (mind, *values, stamp + 1)


def heads_of(mind: str, record: CommitRecord) -> Iterator[Request]:
    """The heads, which go last: they say that all rows of the record are there."""
    for part in record.parts:
        yield _HEAD, (mind, part.family, part.log, part.n, encode(part.counters), record.stamp)
