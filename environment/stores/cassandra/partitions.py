"""Which partition a row stands in, and the arithmetic that bounds every one of them.

Cassandra wants a partition below about 100 MB and 100,000 cells. What grows with the age of a mind therefore stands in
chunks of a fixed count, or in hours, and there in parts of a fixed count as well: a *part* holds what was written while
a counter ran through ``PART``, so no rate can make it larger.

``docs/cassandra.md`` says of each table how many rows its largest partition has and how large they are; tests compare
that with the schema, with the settings, and with what is written.
"""

import math

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
