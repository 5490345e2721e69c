"""Members and the audit log of growth in SQLite."""

from __future__ import annotations

import sqlite3

from environment.errors import SequenceGap
from environment.population import GrowthEvent, Member
from environment.stores.codec import decode_growth, decode_member, encode
from environment.stores.sqlite.lane import fit


def write_member(connection: sqlite3.Connection, mind: str, member: Member) -> None:
    """A member as it now is, inside a transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO members (mind, number, name, body) VALUES (?, ?, ?, ?)",
        (mind, member.number, member.name, encode(member)),
    )


def write_growth(connection: sqlite3.Connection, mind: str, event: GrowthEvent) -> None:
    """Continue the log, inside a transaction. Raises ``SequenceGap``, but not for what is there already."""
    body = encode(event)
    row = connection.execute("SELECT body FROM growth WHERE mind = ? AND seq = ?", (mind, fit(event.seq))).fetchone()
    if row is not None and bytes(row[0]) == body:
        return
    expected = growth_head(connection, mind) + 1
    if event.seq != expected:
        raise SequenceGap(expected, event.seq)
    connection.execute("INSERT INTO growth (mind, seq, body) VALUES (?, ?, ?)", (mind, event.seq, body))


def growth_head(connection: sqlite3.Connection, mind: str) -> int:
    """The last number of the log, 0 when it is empty."""
    (head,) = connection.execute("SELECT max(seq) FROM growth WHERE mind = ?", (mind,)).fetchone()
    return head or 0


def read_members(connection: sqlite3.Connection, mind: str) -> list[Member]:
    """All there ever were, by birth."""
    rows = connection.execute("SELECT body FROM members WHERE mind = ? ORDER BY number, name", (mind,))
    return [decode_member(body) for (body,) in rows]


def read_growth(connection: sqlite3.Connection, mind: str, after: int, limit: int) -> list[GrowthEvent]:
    """The log after a number."""
    rows = connection.execute(
        "SELECT body FROM growth WHERE mind = ? AND seq > ? ORDER BY seq LIMIT ?", (mind, fit(after), fit(limit))
    )
    return [decode_growth(body) for (body,) in rows]
