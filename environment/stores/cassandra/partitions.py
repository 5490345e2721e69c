"""Which partition a row stands in, and the arithmetic that bounds every one of them.

Cassandra wants a partition below about 100 MB and 100,000 cells. What grows with the age of a mind therefore stands in
chunks of a fixed count, or in hours, and there in parts of a fixed count as well: a *part* holds what was written while
a counter ran through ``PART``, so no rate can make it larger.

``LARGEST`` says of each table how many rows its largest partition has and how large they are. ``docs/cassandra.md``
shows the same; tests compare both with the schema, with the settings, and with what is written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from environment.messages import Instant

VERSIONS = 1024
"""Versions of a trace in one chunk."""
CHANGES = 5000
"""Changes of traces in one bucket of the change log."""
PART = 8192
"""Changes (of traces, or of connections) that one part of an index holds."""
ENTRIES = 1024
"""Entries of the stream in one chunk."""
ERA = 128
"""Buckets that the directory keeps together: with hours, five days."""
PAGE = 65_536
"""Bytes of one page of the live ids, and of one piece of a state or of a large record."""
BODY_MOST = 1 << 20
"""Bytes of a thought, an entry, or a report; more is refused before anything is decided."""
STATE_MOST = 64 << 20
"""Bytes of a state."""

TIME, RETIRED, EXPIRING = "time", "retired", "expiring"
"""Scopes of the directory."""
OWNER, STATE, COLLECTION = "owner", "state", "collection"
"""Kinds of names: who has connections, who saved a state, and what holds documents."""

_HOUR = 3600.0
_FARTHEST = 1 << 40


def history_scope(owner: str) -> str:
    """The scope in which the changes of a submind's connections are."""
    return f"history:{owner}"


def keys_scope(collection: str) -> str:
    """The scope of the parts in which the keys of a collection's documents are."""
    return f"keys:{collection}"


def documents_scope(collection: str) -> str:
    """The scope in which a collection's documents are."""
    return f"documents:{collection}"


def hour(at: Instant) -> int:
    """The hour of an instant; what is beyond all calendars, or no number, has one as well."""
    if math.isnan(at):
        return 0
    return int(max(-_FARTHEST, min(_FARTHEST, at / _HOUR)) // 1)


def part(number: int) -> int:
    """The part that a numbered change stands in."""
    return number // PART


def version_chunk(version: int) -> int:
    """The chunk of a trace that holds a version."""
    return version // VERSIONS


def change_bucket(change: int) -> int:
    """The bucket of the change log that holds a change."""
    return change // CHANGES


def entry_chunk(seq: int) -> int:
    """The chunk of the stream that holds an entry."""
    return seq // ENTRIES


def pieces(body: bytes) -> list[bytes]:
    """A body in pieces of a page; an empty one is one empty piece."""
    return [body[at : at + PAGE] for at in range(0, len(body), PAGE)] or [b""]


def era(bucket: int) -> int:
    """The era of a bucket."""
    return bucket // ERA


BODY = 32_768
"""A thought or an entry of 6,000 characters, with everything else in it as long as the settings allow; bytes."""
ACTORS = 1000
"""Actors that a mind has had."""
CONNECTIONS = 4096
"""Connections of one submind: its topics by the peers of each."""
BUSIEST = 1000
"""Changes of traces in a second, for as long as an era lasts: more than logs can decide on."""
CENTURY = 876_600
"""Hours."""


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest partition of a table."""

    table: str
    key: str
    """What one partition is."""
    rows: int
    cells: int
    """Of one row: its columns that are no part of the key, at least one."""
    row: int
    """Bytes of one row, keys and overhead included."""

    @property
    def all_cells(self) -> int:
        """Cells of the partition."""
        return self.rows * self.cells

    @property
    def size(self) -> int:
        """Bytes of the partition."""
        return self.rows * self.row


_INDEX_ROW = 400
LARGEST = (
    Largest("fenced_logs", "a family of logs", 3, 3, 2 * BODY),
    Largest("fenced_log_names", "a mind", ACTORS, 1, 200),
    Largest("large_records", "a record", STATE_MOST // PAGE + 64, 1, PAGE + 50),
    Largest("heads", "a log", 1, 2, 200),
    Largest("traces", f"{VERSIONS:,} versions of a trace", VERSIONS, 6, BODY + 300),
    Largest("changes", f"{CHANGES:,} changes", CHANGES, 3, 130),
    Largest("live_pages", "a page", 1, 1, PAGE + 50),
    Largest("live_generations", "a mind", 1, 5, 110),
    Largest("traces_by_time", f"{PART:,} changes in an hour", PART, 1, 120),
    Largest("traces_retired", f"{PART:,} changes in an hour", PART, 1, 120),
    Largest("eras", "a scope, in a hundred years", CENTURY // ERA + 1, 1, 40),
    Largest("buckets", f"{ERA} hours of a scope", ERA * (BUSIEST * 3600 // PART + 2), 1, 60),
    Largest("stream_entries", f"{ENTRIES:,} entries", ENTRIES, 1, BODY + 60),
    Largest("stream_entries_by_id", "an entry", 1, 1, 80),
    Largest("names", "a kind of names", ACTORS, 1, 200),
    Largest("connections", "a submind", CONNECTIONS, 7, 2000),
    Largest("connection_changes", f"{PART:,} changes in a submind's hour", PART, 6, 1000),
    Largest("reports", "a mind", ACTORS, 1, BODY),
    Largest("states", "an actor", STATE_MOST // PAGE, 3, PAGE + 60),
    Largest("documents", "a document", STATE_MOST // PAGE, 4, PAGE + 100),
    Largest("document_keys", f"{PART:,} changes of documents", PART, 1, _INDEX_ROW),
    Largest("documents_by_time", f"{PART:,} changes in a collection's hour", PART, 1, _INDEX_ROW),
    Largest("documents_expiring", f"{PART:,} changes in an hour", PART, 1, _INDEX_ROW),
    Largest("document_changes", f"{CHANGES:,} changes of documents", CHANGES, 3, _INDEX_ROW),
    Largest("known_ids", "a mind", 1, 2, 100),
    Largest("known_id_pages", "a page", 1, 1, PAGE + 50),
)
