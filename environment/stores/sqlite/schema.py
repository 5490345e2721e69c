"""The tables of both files, as numbered migrations that only ever add; ``PRAGMA user_version`` says how far a file is.

``PRAGMA application_id`` says that those numbers are of these migrations: they began anew once, and files from before
are refused.

Every table carries the mind, in ``perceptions.db`` as a number within the position, and every statement filters by it:
minds that share a file do not see each other.
"""

import sqlite3
from typing import TypeAlias

from environment.errors import WrongSchema
from environment.stores.sqlite.connection_executor import transaction

Migrations: TypeAlias = tuple[tuple[str, ...], ...]

_APPLICATION = 0x53554231
"""``SUB1``."""

_COUNTERS = """CREATE TABLE counters (
    mind TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (mind, name)) WITHOUT ROWID"""

PERCEPTIONS: Migrations = (
    (
        # The minds of this file. ``head`` is the highest number given, ``kept`` how many perceptions are there; the
        # keys of what stands up to ``filed`` are in ``places``. ``epoch`` is its writer's, checked where that writes.
        """CREATE TABLE minds (
            number INTEGER PRIMARY KEY, mind TEXT NOT NULL UNIQUE, head INTEGER NOT NULL, kept INTEGER NOT NULL,
            filed INTEGER NOT NULL, epoch INTEGER NOT NULL DEFAULT 0)""",
        # Perceptions that were written together; ``position`` is that of the first: mind << 48 | seq.
        """CREATE TABLE segments (
            position INTEGER PRIMARY KEY, count INTEGER NOT NULL, received REAL NOT NULL, modalities INTEGER NOT NULL,
            places BLOB NOT NULL, body BLOB NOT NULL)""",
        "CREATE INDEX segments_by_age ON segments (received, position, count)",
        *(
            f"CREATE INDEX segments_with_{bit} ON segments (position, count) WHERE modalities & {bit}"
            for bit in (1, 2, 4)
        ),
        # Where a key was accepted; ``place`` is a hash of mind, source and key.
        "CREATE TABLE places (place INTEGER PRIMARY KEY, position INTEGER NOT NULL)",
    ),
)
"""``perceptions.db``. ``seq`` counts per mind; ``position`` says both: a mind appends to one end of one tree."""

MIND: Migrations = (
    (
        _COUNTERS,
        # What a trace says, once per version and appended in order: the wide rows are never rewritten.
        """CREATE TABLE contents (
            number INTEGER PRIMARY KEY, mind TEXT NOT NULL, version INTEGER NOT NULL, previous INTEGER,
            value REAL NOT NULL, at REAL NOT NULL, half_life REAL NOT NULL,
            authors BLOB NOT NULL, body BLOB NOT NULL)""",
        # How a trace stands: narrow, because every reinforcement rewrites it.
        """CREATE TABLE traces (
            mind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, content INTEGER NOT NULL,
            live INTEGER NOT NULL, conscious INTEGER, value REAL NOT NULL, at REAL NOT NULL, half_life REAL NOT NULL,
            change INTEGER NOT NULL, PRIMARY KEY (mind, id)) WITHOUT ROWID""",
        "CREATE UNIQUE INDEX traces_by_change ON traces (mind, change)",
        "CREATE INDEX traces_live ON traces (mind, id) WHERE live = 1",
        "CREATE INDEX traces_forgettable ON traces (mind, at) WHERE live = 0 AND conscious IS NULL",
        """CREATE TABLE entries (
            number INTEGER PRIMARY KEY, mind TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL,
            body BLOB NOT NULL)""",
        "CREATE UNIQUE INDEX entries_by_seq ON entries (mind, seq)",
        "CREATE UNIQUE INDEX entries_by_id ON entries (mind, id)",
        """CREATE TABLE connections (
            mind TEXT NOT NULL, owner TEXT NOT NULL, topic TEXT NOT NULL, peer TEXT NOT NULL, label TEXT NOT NULL,
            weight REAL NOT NULL, ltp INTEGER NOT NULL, uses INTEGER NOT NULL, credited INTEGER NOT NULL,
            last_use REAL NOT NULL, history BLOB NOT NULL, PRIMARY KEY (mind, owner, topic, peer)) WITHOUT ROWID""",
        """CREATE TABLE connection_changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, mind TEXT NOT NULL, owner TEXT NOT NULL, topic TEXT NOT NULL,
            peer TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, weight REAL NOT NULL, reason TEXT NOT NULL,
            label TEXT NOT NULL)""",
        "CREATE INDEX connection_changes_by_mind ON connection_changes (mind, number)",
        "CREATE INDEX connection_changes_by_time ON connection_changes (mind, at)",
        "CREATE INDEX connection_changes_of_owner_by_time ON connection_changes (mind, owner, at)",
        """CREATE TABLE reports (
            mind TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (mind, name)) WITHOUT ROWID""",
        """CREATE TABLE states (
            number INTEGER PRIMARY KEY, mind TEXT NOT NULL, name TEXT NOT NULL, state BLOB NOT NULL)""",
        "CREATE UNIQUE INDEX states_by_name ON states (mind, name)",
        # Everything that is kept in collections, and what was removed from them a while ago.
        """CREATE TABLE documents (
            number INTEGER PRIMARY KEY, mind TEXT NOT NULL, collection TEXT NOT NULL, key TEXT NOT NULL,
            version INTEGER NOT NULL, change INTEGER NOT NULL, time REAL NOT NULL, expires REAL,
            removed INTEGER NOT NULL, vector BLOB, body BLOB NOT NULL)""",
        "CREATE UNIQUE INDEX documents_by_key ON documents (mind, collection, key)",
        "CREATE INDEX documents_by_change ON documents (mind, collection, change)",
        "CREATE INDEX documents_by_time ON documents (mind, collection, time) WHERE removed = 0",
        "CREATE INDEX documents_by_expiry ON documents (mind, expires) WHERE expires IS NOT NULL",
    ),
)
"""``mind.db``."""


def migrate(connection: sqlite3.Connection, migrations: Migrations) -> None:
    """Bring a file up to date; several processes may try at once. Raises ``WrongSchema`` when it is newer than we."""
    known = len(migrations)
    if version(connection) == known:
        return
    with transaction(connection):
        found = version(connection)  # again: another process may have been first
        if found > known:
            raise WrongSchema(
                found, known, "it was written by a newer submind; run that, or choose another data folder"
            )
        for number in range(found, known):
            for statement in migrations[number]:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {known:d}")
        connection.execute(f"PRAGMA application_id = {_APPLICATION:d}")


def version(connection: sqlite3.Connection) -> int:
    """How many migrations a file has seen. Raises ``WrongSchema`` for one from before they began anew."""
    (version,), (of,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("user_version", "application_id"))
    if version and of != _APPLICATION:
        raise WrongSchema(int(version), 1, "its numbers are of before version 1 began anew: choose another data folder")
    return int(version)


def counter(connection: sqlite3.Connection, mind: str, name: str) -> int:
    """The value of a counter of a mind, 0 at first."""
    row = connection.execute("SELECT value FROM counters WHERE mind = ? AND name = ?", (mind, name)).fetchone()
    return int(row[0]) if row else 0


def set_counter(connection: sqlite3.Connection, mind: str, name: str, value: int) -> None:
    """Store a counter."""
    connection.execute(
        "INSERT INTO counters VALUES (?, ?, ?) ON CONFLICT (mind, name) DO UPDATE SET value = excluded.value",
        (mind, name, value),
    )
