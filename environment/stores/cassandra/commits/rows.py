"""From a record to its rows: pure, so that whoever applies it writes the same.

Every row is written with a time that follows from the record, never with the time of writing. What a record deletes
is deleted at its stamp, what it puts is put right after: rows that were put later stay, whoever applies it when.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.record import (
    Changed,
    Forgotten,
    Payload,
    Record,
    Removed,
    Standing,
    Version,
    encode_state,
    room_of,
)

Row: TypeAlias = tuple[str, tuple[object, ...]]
"""A statement and its values."""

_FIRST_WINS = 1 << 61
"""Write times count down from here where the first to write stays."""

_VERSION = """INSERT INTO traces (mind, id, chunk, version, first_value, first_at, first_half_life, part, authors, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_NEWEST = """INSERT INTO traces (mind, id, chunk, version, first_value, first_at, first_half_life, part, authors, body,
    newest, live, conscious, value, at, half_life, change)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_STANDING = """UPDATE traces USING TIMESTAMP ? SET newest = ?, live = ?, conscious = ?, value = ?, at = ?,
    half_life = ?, change = ? WHERE mind = ? AND id = ? AND chunk = 0"""
_CHANGE = """INSERT INTO changes (mind, bucket, change, id, live, previous) VALUES (?, ?, ?, ?, ?, ?)
    USING TIMESTAMP ? AND TTL ?"""
_BY_TIME = """INSERT INTO traces_by_time (mind, hour, part, at, id, version, author, topic)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_BY_AUTHOR = """INSERT INTO traces_by_author (mind, author, hour, part, at, id, version, topic)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_BY_TOPIC = """INSERT INTO traces_by_topic (mind, topic, hour, part, at, id, version, author)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_RETIRED = """INSERT INTO traces_retired (mind, hour, part, at, id, stamp) VALUES (?, ?, ?, ?, ?, ?)
    USING TIMESTAMP ?"""
_ERA = "INSERT INTO eras (mind, scope, era) VALUES (?, ?, ?) USING TIMESTAMP ?"
_BUCKET = "INSERT INTO buckets (mind, scope, era, bucket, part) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?"
_ENTRY = "INSERT INTO stream_entries (mind, chunk, seq, body) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_ENTRY_ID = "INSERT INTO stream_entries_by_id (mind, id, seq) VALUES (?, ?, ?) USING TIMESTAMP ?"
_NAME = "INSERT INTO names (mind, kind, name) VALUES (?, ?, ?) USING TIMESTAMP ?"
_CONNECTION = """INSERT INTO connections
    (mind, owner, topic, peer, label, weight, ltp, uses, credited, last_use, history)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_NO_CONNECTION = "DELETE FROM connections USING TIMESTAMP ? WHERE mind = ? AND owner = ? AND topic = ? AND peer = ?"
_CONNECTION_CHANGE = """INSERT INTO connection_changes
    (mind, owner, hour, part, at, stamp, place, topic, peer, kind, weight, reason, label)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"""
_STATE = """INSERT INTO states (mind, name, piece, pieces, stamp, state) VALUES (?, ?, ?, ?, ?, ?)
    USING TIMESTAMP ?"""
_REPORT = "INSERT INTO reports (mind, name, body) VALUES (?, ?, ?) USING TIMESTAMP ?"
_CONFIGURATION = """INSERT INTO configurations (mind, bucket, version, at, who, body) VALUES (?, ?, ?, ?, ?, ?)
    USING TIMESTAMP ?"""
_GROWTH = "INSERT INTO growth (mind, chunk, seq, body) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_MEMBER = "INSERT INTO members (mind, chunk, number, name, body) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?"
_HEAD = "INSERT INTO heads (mind, room, lane, n, state) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?"
_NO_REPORT = "DELETE FROM reports USING TIMESTAMP ? WHERE mind = ? AND name = ?"
_NO_STATE = "DELETE FROM states USING TIMESTAMP ? WHERE mind = ? AND name = ?"
_NO_NAME = "DELETE FROM names USING TIMESTAMP ? WHERE mind = ? AND kind = ? AND name = ?"
_NO_CONNECTIONS = "DELETE FROM connections USING TIMESTAMP ? WHERE mind = ? AND owner = ?"
_NO_ERAS = "DELETE FROM eras USING TIMESTAMP ? WHERE mind = ? AND scope = ?"
_NO_HEAD = "DELETE FROM heads USING TIMESTAMP ? WHERE mind = ? AND room = ? AND lane = ?"
_NO_TRACE = "DELETE FROM traces USING TIMESTAMP ? WHERE mind = ? AND id = ? AND chunk = ?"
_NOT_BY_TIME = """DELETE FROM traces_by_time USING TIMESTAMP ? WHERE mind = ? AND hour = ? AND part = ? AND at = ?
    AND id = ? AND version = ?"""
_NOT_BY_AUTHOR = """DELETE FROM traces_by_author USING TIMESTAMP ? WHERE mind = ? AND author = ? AND hour = ?
    AND part = ? AND at = ? AND id = ? AND version = ?"""
_NOT_BY_TOPIC = """DELETE FROM traces_by_topic USING TIMESTAMP ? WHERE mind = ? AND topic = ? AND hour = ?
    AND part = ? AND at = ? AND id = ? AND version = ?"""

Noted: TypeAlias = Callable[[str, int, int], bool]
"""Whether a bucket (scope, bucket, part) is known to be in the directory already."""


def never_noted(scope: str, bucket: int, part: int) -> bool:  # noqa: ARG001 - a ``Noted``
    """Nothing is known: every bucket is written down."""
    return False


def rows_of(
    mind: str, record: Record, payload: Payload, changes_kept: int, noted: Noted = never_noted
) -> Iterator[Row]:
    """All rows of a record but the heads, in no needed order, none of them twice.

    ``changes_kept``: seconds after which the changes of traces expire.
    """
    stamp, put = record.stamp, record.stamp + 1
    buckets: set[tuple[str, int, int]] = set()
    yield from _traces(mind, payload, put, buckets)
    yield from _changes(mind, payload, put, changes_kept)
    for entry in payload.entries:
        yield _ENTRY, (mind, partitions.entry_chunk(entry.seq), entry.seq, entry.body, put)
        yield _ENTRY_ID, (mind, entry.id, entry.seq, put)
    for gone in payload.gone:
        yield _NO_CONNECTION, (stamp, mind, *gone)
    for kind, names in ((partitions.OWNER, payload.owners), (partitions.STATE, payload.states)):
        for name in names:
            if not noted(f"{kind}:{name}", 0, 0):
                yield _NAME, (mind, kind, name, put)
    for kept in payload.kept:
        yield (
            _CONNECTION,
            (
                *(mind, kept.owner, kept.topic, kept.peer, kept.label, kept.weight, kept.ltp, kept.uses),
                *(kept.credited, kept.last_use, kept.history, put),
            ),
        )
    for name, state in payload.states.items():
        pieces = partitions.pieces(state)
        for number, piece in enumerate(pieces):
            yield _STATE, (mind, name, number, len(pieces), stamp, piece, put)
    for name, body in payload.reports.items():
        yield _REPORT, (mind, name, body, put)
    for made in payload.configurations:
        bucket = partitions.configuration_bucket(made.version)
        buckets.add((partitions.CONFIGURATIONS, bucket, 0))
        yield _CONFIGURATION, (mind, bucket, made.version, made.at, made.who, made.body, _FIRST_WINS - stamp)
    for grown in payload.growth:
        yield _GROWTH, (mind, partitions.growth_chunk(grown.seq), grown.seq, grown.body, put)
    for born in payload.members:
        yield _MEMBER, (mind, partitions.growth_chunk(born.number), born.number, born.name, born.body, put)
    if payload.changed:
        yield from _history(mind, record, payload.changed, buckets)
    for removed in payload.removed:
        yield from _removed(mind, removed, stamp)
    for forgotten in payload.forgotten:
        yield from _forgotten(mind, forgotten, stamp)
    yield from _directory(mind, put, (bucket for bucket in sorted(buckets) if not noted(*bucket)))


def heads_of(mind: str, record: Record) -> Iterator[Row]:
    """The heads, which go last: they say that all other rows of the record are there."""
    for part in record.parts:
        yield _HEAD, (mind, part.room, part.lane, part.n, encode_state(part.state), record.stamp)


def _traces(mind: str, payload: Payload, put: int, buckets: set[tuple[str, int, int]]) -> Iterator[Row]:
    standings = {standing.id: standing for standing in payload.standings}
    for version in payload.versions:
        yield from _version(mind, version, standings, put)
        yield from _met(mind, version, put, buckets)
    for standing in standings.values():  # those that did not go with a version
        yield (
            _STANDING,
            (
                *(put, standing.newest, standing.live, standing.conscious, standing.value, standing.at),
                *(standing.half_life, standing.change, mind, standing.id),
            ),
        )
    for standing in payload.standings:
        if not standing.live and not standing.conscious:
            hour, part = partitions.hour(standing.at), partitions.part(standing.change)
            buckets.add((partitions.RETIRED, hour, part))
            yield _RETIRED, (mind, hour, part, standing.at, standing.id, put, put)


def _changes(mind: str, payload: Payload, put: int, kept: int) -> Iterator[Row]:
    versions = Counter(version.id for version in payload.versions)
    for standing in payload.standings:
        previous = standing.change - max(1, versions[standing.id])  # as they were numbered in the draft
        bucket = partitions.change_bucket(standing.change)
        yield _CHANGE, (mind, bucket, standing.change, standing.id, standing.live, previous, put, kept)


def _version(mind: str, version: Version, standings: dict[str, Standing], put: int) -> Iterator[Row]:
    """The newest goes together with how the trace stands, where both are in one partition."""
    chunk = partitions.version_chunk(version.version)
    values = (
        *(mind, version.id, chunk, version.version, version.value, version.at, version.half_life),
        *(partitions.part(version.change), version.authors, version.body),
    )
    standing = standings.get(version.id)
    if chunk or standing is None or standing.newest != version.version:
        yield _VERSION, (*values, put)
        return
    del standings[version.id]
    yield (
        _NEWEST,
        (
            *values,
            *(standing.newest, standing.live, standing.conscious, standing.value, standing.at, standing.half_life),
            *(standing.change, put),
        ),
    )


def _met(mind: str, version: Version, put: int, buckets: set[tuple[str, int, int]]) -> Iterator[Row]:
    hour, part = partitions.hour(version.thought_at), partitions.part(version.change)
    place = (hour, part, version.thought_at, version.id, version.version)
    buckets.add((partitions.TIME, hour, part))
    yield _BY_TIME, (mind, *place, version.author, version.topic, put)
    buckets.add((partitions.author_scope(version.author), hour, part))
    yield _BY_AUTHOR, (mind, version.author, *place, version.topic, put)
    if version.topic:
        buckets.add((partitions.topic_scope(version.topic), hour, part))
        yield _BY_TOPIC, (mind, version.topic, *place, version.author, put)


def _history(mind: str, record: Record, changed: list[Changed], buckets: set[tuple[str, int, int]]) -> Iterator[Row]:
    first = record.parts[0].state.history - len(changed)
    for place, change in enumerate(changed):
        hour, part = partitions.hour(change.at), partitions.part(first + place)
        buckets.add((partitions.history_scope(change.owner), hour, part))
        yield (
            _CONNECTION_CHANGE,
            (
                *(mind, change.owner, hour, part, change.at, record.stamp, place, change.topic, change.peer),
                *(change.kind, change.weight, change.reason, change.label, record.stamp + 1),
            ),
        )


def _removed(mind: str, removed: Removed, stamp: int) -> Iterator[Row]:
    """Whole partitions, and one row each of the lists of reports and names. Their lanes: ``Lanes.apply``."""
    for name in removed.names:
        yield _NO_REPORT, (stamp, mind, name)
        yield _NO_NAME, (stamp, mind, partitions.OWNER, name)
        yield _NO_CONNECTIONS, (stamp, mind, name)
        yield _NO_ERAS, (stamp, mind, partitions.history_scope(name))
        yield _NO_HEAD, (stamp, mind, room_of(name), name)
    for name in (*removed.names, *removed.states):
        yield _NO_STATE, (stamp, mind, name)
        yield _NO_NAME, (stamp, mind, partitions.STATE, name)


def _forgotten(mind: str, forgotten: Forgotten, stamp: int) -> Iterator[Row]:
    for chunk in range(partitions.version_chunk(forgotten.newest) + 1):
        yield _NO_TRACE, (stamp, mind, forgotten.id, chunk)
    for seen in forgotten.seen:
        place = (partitions.hour(seen.at), seen.part, seen.at, forgotten.id, seen.version)
        yield _NOT_BY_TIME, (stamp, mind, *place)
        yield _NOT_BY_AUTHOR, (stamp, mind, seen.author, *place)
        if seen.topic:
            yield _NOT_BY_TOPIC, (stamp, mind, seen.topic, *place)


def _directory(mind: str, put: int, buckets: Iterator[tuple[str, int, int]]) -> Iterator[Row]:
    eras: set[tuple[str, int]] = set()
    for scope, bucket, part in buckets:
        era = partitions.era(bucket)
        yield _BUCKET, (mind, scope, era, bucket, part, put)
        if (scope, era) not in eras:
            eras.add((scope, era))
            yield _ERA, (mind, scope, era, put)
