"""The perception log in SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from hashlib import blake2b

from environment.messages import Instant, Modality, NewPerception, Perception, Receipt
from environment.stores.codec import decode_perception, encode
from environment.stores.sqlite.lane import Lane, fit, transaction
from environment.stores.sqlite.schema import counter, set_counter

_HEAD, _ROWS = "perceptions.head", "perceptions.rows"


def perception_id(mind: str, source: str, key: str) -> str:
    """The id of a perception that came with an idempotency key."""
    return _identify(
        b"key", mind.encode(), source.encode("utf-8", "surrogatepass"), key.encode("utf-8", "surrogatepass")
    )


def _identify(*parts: bytes) -> str:
    digest = blake2b(digest_size=10)
    for part in parts:  # lengths, so that no two lists of parts read the same
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return f"p-{digest.hexdigest()}"


def _perception(seq: int, name: str, body: bytes) -> Perception:
    new = decode_perception(body)
    return Perception(
        source=new.source,
        time=new.time,
        received=new.received,
        text=new.text,
        telemetry=new.telemetry,
        image=new.image,
        key=new.key,
        labels=new.labels,
        trust=new.trust,
        id=name,
        seq=seq,
    )


class SqlitePerceptions:
    """``PerceptionLog`` in ``perceptions.db``.

    Without a key, the id is derived from position and content: unique, and the same in every run of a replay.
    A key is known for as long as its perception is kept.
    """

    def __init__(self, lane: Lane, mind: str) -> None:
        self._lane = lane
        self._mind = mind

    async def append(self, batch: Sequence[NewPerception]) -> list[Receipt]:
        if not batch:
            return []
        bodies = [encode(new) for new in batch]
        keyed = [None if new.key is None else perception_id(self._mind, new.source, new.key) for new in batch]
        return await self._lane.write(lambda connection: self._append(connection, batch, bodies, keyed))

    def _append(
        self,
        connection: sqlite3.Connection,
        batch: Sequence[NewPerception],
        bodies: list[bytes],
        keyed: list[str | None],
    ) -> list[Receipt]:
        mind = self._mind
        receipts: list[Receipt] = []
        rows: list[tuple[object, ...]] = []
        with transaction(connection):
            seq = counter(connection, mind, _HEAD)
            names = [name for name in keyed if name is not None]
            known = dict(
                connection.execute(
                    "SELECT id, seq FROM perceptions WHERE mind = ? AND id IN (SELECT value FROM json_each(?))",
                    (mind, json.dumps(names)),
                )
                if names
                else ()
            )
            for new, body, key_id in zip(batch, bodies, keyed, strict=True):
                if key_id is not None and key_id in known:
                    receipts.append(Receipt(key_id, known[key_id], new=False))
                    continue
                seq += 1
                name = key_id or _identify(b"seq", mind.encode(), seq.to_bytes(8, "big"), body)
                known[name] = seq
                rows.append((mind, seq, name, new.modality.value, new.received, body))
                receipts.append(Receipt(name, seq, new=True))
            if rows:
                connection.executemany("INSERT INTO perceptions VALUES (?, ?, ?, ?, ?, ?)", rows)
                set_counter(connection, mind, _HEAD, seq)
                set_counter(connection, mind, _ROWS, counter(connection, mind, _ROWS) + len(rows))
        return receipts

    async def read(self, after: int, limit: int, modality: Modality | None = None) -> list[Perception]:
        def work(connection: sqlite3.Connection) -> list[Perception]:
            if modality is None:
                rows = connection.execute(
                    "SELECT seq, id, body FROM perceptions WHERE mind = ? AND seq > ? ORDER BY seq LIMIT ?",
                    (self._mind, fit(after), fit(limit)),
                )
            else:
                rows = connection.execute(
                    "SELECT seq, id, body FROM perceptions WHERE mind = ? AND modality = ? AND seq > ? "
                    "ORDER BY seq LIMIT ?",
                    (self._mind, modality.value, fit(after), fit(limit)),
                )
            return [_perception(*row) for row in rows]

        return await self._lane.read(work)

    async def get(self, ids: Sequence[str]) -> dict[str, Perception]:
        def work(connection: sqlite3.Connection) -> dict[str, Perception]:
            rows = connection.execute(
                "SELECT seq, id, body FROM perceptions WHERE mind = ? AND id IN (SELECT value FROM json_each(?))",
                (self._mind, json.dumps(list(ids))),
            )
            return {name: _perception(seq, name, body) for seq, name, body in rows}

        return await self._lane.read(work)

    async def head(self) -> int:
        return await self._lane.read(lambda connection: counter(connection, self._mind, _HEAD))

    async def forget(self, received_before: Instant, up_to: int, limit: int = 10_000) -> int:
        def work(connection: sqlite3.Connection) -> int:
            with transaction(connection):
                gone = connection.execute(
                    "DELETE FROM perceptions WHERE mind = ?1 AND seq IN (SELECT seq FROM perceptions "
                    "WHERE mind = ?1 AND received < ?2 AND seq <= ?3 ORDER BY received, seq LIMIT ?4)",
                    (self._mind, received_before, fit(up_to), fit(limit)),
                ).rowcount
                if gone:
                    set_counter(connection, self._mind, _ROWS, counter(connection, self._mind, _ROWS) - gone)
            return gone

        return await self._lane.write(work)

    async def rows(self) -> int:
        """How many perceptions are kept."""
        return await self._lane.read(lambda connection: counter(connection, self._mind, _ROWS))
