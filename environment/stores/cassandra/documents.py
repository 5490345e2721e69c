"""Documents of collections in Cassandra, and what one commit makes of them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

import msgspec

from environment.collections import Document, RemoveDocument, WriteDocument
from environment.errors import StaleRevision, StoreUnavailable
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.record import Counters
from environment.stores.cassandra.driver.session import Row, Session
from environment.vectors import packed, unpacked

_META = "SELECT meta FROM documents WHERE mind = ? AND collection = ? AND id = ? AND piece = 0"
_PIECES = "SELECT piece, pieces, stamp, meta, body FROM documents WHERE mind = ? AND collection = ? AND id = ?"
_TRIES = 20
_PIECES_AT_ONCE = 64

Place: TypeAlias = tuple[str, str]
"""Collection and key."""
Put: TypeAlias = Callable[..., None]
"""Puts a row into a commit: the name of its statement, how many values are its key, and its values."""
List: TypeAlias = Callable[[str, int, int], None]
"""Puts a bucket into the directory: scope, bucket, part."""


class DocumentMeta(msgspec.Struct, frozen=True, array_like=True):
    """All of a document but its body, and where the indexes hold it."""

    version: int
    change: int
    part: int
    """Of the index of keys."""
    time: float
    expires: float | None
    vector: bytes | None
    removed: bool
    digest: bytes
    """Of all that it says, 16 bytes."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(DocumentMeta).decode


class DocumentReader:
    """Reads the documents of one mind, those that were removed and not forgotten too."""

    def __init__(self, session: Session, mind: str) -> None:
        self.session = session
        self.mind = mind

    async def metas(self, places: Iterable[Place]) -> dict[Place, DocumentMeta]:
        """What is said of those that are there. Raises ``StoreUnavailable``."""
        wanted = list(dict.fromkeys(places))
        if not wanted:
            return {}
        statement = await self.session.prepare(_META)
        answers = await self.session.execute_all([(statement, (self.mind, *each)) for each in wanted], idempotent=True)
        return {each: _decode(rows[0].meta) for each, rows in zip(wanted, answers, strict=True) if rows}

    async def documents(self, places: Iterable[Place]) -> dict[Place, Document]:
        """Those that are there, in the order asked for. Raises ``StoreUnavailable``."""
        wanted = list(dict.fromkeys(places))
        found = await asyncio.gather(*map(self._document, wanted))
        return {place: each for place, each in zip(wanted, found, strict=True) if each is not None}

    async def _document(self, place: Place) -> Document | None:
        rows = await read_pieces(self.session, _PIECES, (self.mind, *place), "/".join(place))
        if not rows:
            return None
        meta, body = _decode(rows[0].meta), b"".join(row.body for row in rows)
        vector, numbers = unpacked(meta.vector), (meta.version, meta.change)
        return Document(*place, body, meta.time, meta.expires, vector, *numbers, removed=meta.removed)


class DocumentDraft:
    """What a commit writes of documents; of several writes of one the last has the last word."""

    def __init__(self, put: Put, listed: List, stamp: int, before: Counters, there: dict[Place, DocumentMeta]) -> None:
        """``before``: what was counted. ``there``: of the documents that are written, those that are there."""
        self._put = put
        self._list = listed
        self._stamp = stamp
        self._before = before.change
        self._there = there
        self._now = dict(there)
        self._bodies: dict[Place, bytes] = {}
        self._change = before.change
        self._held = Counter(before.documents)

    def counted(self) -> Counters:
        """What the log of documents has counted with this commit."""
        return Counters(change=self._change, documents={name: held for name, held in self._held.items() if held})

    def write(self, write: WriteDocument | RemoveDocument) -> None:
        """Raises ``StaleRevision`` where it builds on what is not there."""
        made = write.document
        place = made.collection, made.key
        there = self._now.get(place)
        current = there.version if there and not there.removed else 0
        digest = blake2b(_encode(made.said), digest_size=16).digest()
        if (there is not None and there.digest == digest) if current else made.removed:
            return
        if write.base is not None and write.base != current:
            raise StaleRevision("/".join(place), write.base, current)
        self._change += 1
        part = there.part if there and current else partitions.part(self._change)
        numbers = max(current + 1, made.version), self._change, part
        vector = packed(made.vector)
        self._now.pop(place, None)  # the last to be written is the last to have changed
        self._now[place] = DocumentMeta(*numbers, made.time, made.expires, vector, made.removed, digest)
        self._bodies[place] = made.body
        self._held[made.collection] += (not made.removed) - bool(current)

    def finish(self) -> None:
        """Put the rows."""
        previous = self._before
        for place, now in self._now.items():
            if now is self._there.get(place):
                continue
            collection, _ = place
            pieces = partitions.pieces(self._bodies[place])
            for number, piece in enumerate(pieces):
                meta = None if number else _encode(now)
                self._put("document", 3, *place, number, len(pieces), self._stamp, meta, piece)
            there = self._there.get(place)
            gone, made = index_rows(place, there), index_rows(place, now)
            for name, key in gone.items():
                if made.get(name) != key:
                    self._put(f"no {name}", len(key), *key)
            for name, key in made.items():
                if gone.get(name) != key:
                    self._put(name, len(key), *key)
            if not now.removed:
                self._list(partitions.keys_scope(collection), now.part, 0)
                self._list(
                    partitions.documents_scope(collection), partitions.hour(now.time), partitions.part(now.change)
                )
            if now.expires is not None:
                self._list(partitions.EXPIRING, partitions.hour(now.expires), partitions.part(now.change))
            self._put("document change", 2, partitions.change_bucket(now.change), now.change, *place, previous)
            previous = now.change

    def forget(self, may: Callable[[DocumentMeta], bool]) -> list[Place]:
        """Take documents away that may go, and the memory of removed ones: nobody is told. Which went."""
        gone = [place for place, there in self._there.items() if may(there)]
        for place in gone:
            self._put("no document", 2, *place)
            self._held[place[0]] -= not self._there[place].removed
            for name, key in index_rows(place, self._there.get(place)).items():
                self._put(f"no {name}", len(key), *key)
        return gone


async def read_pieces(session: Session, cql: str, values: Sequence[object], what: str) -> list[Row]:
    """The rows of a body in pieces, all written together; none where it is not there. Raises ``StoreUnavailable``."""
    statement = await session.prepare(cql)
    for _ in range(_TRIES):
        rows = await session.execute(statement, values, idempotent=True, page_rows=_PIECES_AT_ONCE)
        written = [row for row in rows[: rows[0].pieces] if row.stamp == rows[0].stamp] if rows else []
        if not rows or len(written) == rows[0].pieces:
            return written
    raise StoreUnavailable(f"{what} is being written", retry_after=0.5)


def index_rows(place: Place, meta: DocumentMeta | None) -> dict[str, tuple[object, ...]]:
    """Where the indexes hold a document: keys of rows by the names of their statements."""
    found: dict[str, tuple[object, ...]] = {}
    if meta is None:
        return found
    (collection, key), part = place, partitions.part(meta.change)
    if not meta.removed:
        found["document key"] = collection, meta.part, key
        found["document time"] = collection, partitions.hour(meta.time), part, meta.time, key
    if meta.expires is not None:
        found["document expiry"] = partitions.hour(meta.expires), part, meta.expires, collection, key
    return found
