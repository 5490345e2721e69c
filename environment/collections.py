"""Collections: named sets of versioned documents, where a faculty keeps what it has to keep.

What a new part of the mind needs of a store is here: no table, migration, copy, backup or retention of its own. A
``Collection`` says once what its documents are; its writes go into a commit with everything else of a step
(``Commit(MEMORIES.write(key, value))``), and are read through ``Stores.collections``.
"""

import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from environment.messages import Instant
from environment.vectors import decode_vector, encode_vector, packed

T = TypeVar("T")
LOCAL = "."
"""What the names of collections begin with that are of a place and not of the mind: no copy or backup holds them."""
RESERVED = "mind."
"""... and of those that only the mind process and the host write, never a core."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One thing of a collection. Two are equal that say the same, whichever version they are and whenever written."""

    collection: str
    key: str
    """Names it within its collection; keys are ordered by their UTF-8."""
    body: bytes
    """msgpack, at most 64 MiB on Cassandra (``ValueError``); no store looks into it."""
    time: Instant = 0.0
    """Event time, by which ``between`` finds it and the oldest are trimmed."""
    expires: Instant | None = None
    """Mind time after which it may be forgotten; it is read as long as it is there. None: never."""
    vector: NDArray[np.float32] | None = None
    """(dim,) float32, kept in half precision as those of thoughts."""
    version: int = 0
    """From 1, growing with every change; when it is written, 0 says: whichever follows."""
    change: int = 0
    """The position of its last change, given by the store; 0 when it is written."""
    removed: bool = False
    """Whether this tells of a removal; only ``changes`` shows such."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.said == other.said

    __hash__ = None  # type: ignore[assignment]

    @property
    def said(self) -> tuple[object, ...]:
        """All but version and position."""
        return self.collection, self.key, self.body, self.time, self.expires, packed(self.vector), self.removed


def beyond(prefix: str) -> str | None:
    """The smallest text that is larger than every one that begins with ``prefix``; None: there is none."""
    for at in range(len(prefix) - 1, -1, -1):
        if (point := ord(prefix[at])) < sys.maxunicode:
            return prefix[:at] + (chr(point + 1) if chr(point) != "\ud7ff" else "\ue000")  # no letter is between
    return None


@dataclass(frozen=True, slots=True)
class WriteDocument:
    """Put a document in the place of the one under its key.

    With ``base`` only where that version is there, 0 where nothing is: else ``StaleRevision`` and nothing of the
    commit is written. Without, whatever is there. What is there already, word for word, is not written again, so a
    commit whose answer was lost can be repeated. The version becomes the next one, or that of ``document`` where it
    is larger.
    """

    document: Document
    base: int | None = None


@dataclass(frozen=True, slots=True)
class RemoveDocument:
    """Take a document away, with ``base`` only where that version is there (``StaleRevision``).

    No read but ``changes`` finds it any more, and its versions begin anew. Nothing changes where none is.
    """

    collection: str
    key: str
    base: int | None = None
    time: Instant = 0.0
    """When it was removed, mind time: what ``forget`` forgets the removal by."""

    @property
    def document(self) -> Document:
        """What takes the place of the removed one, until that is forgotten."""
        return Document(self.collection, self.key, b"", self.time, self.time, removed=True)


class Collections(Protocol):
    """Reads of all collections of a mind; writing goes through ``Stores.commit``. Unknown collections are empty."""

    async def get(self, collection: str, keys: Sequence[str]) -> dict[str, Document]:
        """Those of ``keys`` that are there."""

    async def scan(
        self, collection: str, prefix: str = "", *, after: str = "", limit: int = 1000, backwards: bool = False
    ) -> list[Document]:
        """Documents whose keys begin with ``prefix``, in the order of their keys, at most ``limit``.

        ``after``: only those behind that key. ``backwards`` turns the order round, so behind it are the smaller ones.
        """

    async def between(self, collection: str, since: Instant, until: Instant, limit: int = 100) -> list[Document]:
        """Documents with ``since <= time < until``, the latest first, at most ``limit``."""

    async def changes(self, collection: str, after: int, limit: int) -> tuple[int, list[Document]]:
        """Documents changed since position ``after`` (0: all), oldest change first, and the position reached.

        Each at its newest version, removals among them. Who goes on from the position that it was given misses
        nothing, whatever is written meanwhile. Raises ``ChangesGone`` where a removal or a document that changed above
        ``after`` was forgotten: read ``head`` and then all there is.
        """

    async def head(self) -> int:
        """The position of the last change in any collection, 0 at first."""

    async def names(self) -> list[str]:
        """The collections that hold documents, or once did, in the order of their UTF-8."""

    async def forget(self, before: Instant, limit: int = 10_000) -> int:
        """Delete documents that expired before that time, and the memory of what was removed before it.

        At most ``limit``; how many went (call again while ``limit`` went).
        """

    async def trim(self, collection: str, most: int, limit: int = 10_000) -> int:
        """Delete the oldest by event time while there are more than ``most``: at most ``limit``; how many went."""


@dataclass(frozen=True)
class Collection(Generic[T]):
    """What the documents of one name are: values of a type, with their keys."""

    name: str
    type: type[T]

    def write(self, key: str, value: T, base: int | None = None, **more: Any) -> WriteDocument:
        """Put a value under a key; ``more`` is ``time``, ``expires``, ``vector`` of the document."""
        return WriteDocument(Document(self.name, key, _encoder.encode(value), **more), base)

    def remove(self, key: str, base: int | None = None, time: Instant = 0.0) -> RemoveDocument:
        """Take away what is under a key."""
        return RemoveDocument(self.name, key, base, time)

    def value(self, document: Document) -> T:
        """What a document holds. Raises ``msgspec.DecodeError``."""
        return msgspec.msgpack.decode(document.body, type=self.type, dec_hook=decode_vector)

    async def get(self, collections: Collections, key: str) -> T | None:
        """The value under a key."""
        found = await collections.get(self.name, [key])
        return self.value(found[key]) if found else None

    def read(self, document: Document) -> T | None:
        """What a document holds; None where another version wrote it in a form of its own."""
        try:
            return self.value(document)
        except msgspec.DecodeError:
            return None

    async def all_of(
        self, collections: Collections, prefix: str = "", unread: list[str] | None = None, having: str = ""
    ) -> dict[str, T]:
        """All values whose keys begin so, in the order of their keys; ``having``: only those that hold that text.

        What ``read`` cannot read is left out, its key put into ``unread``; without that it is raised, as by ``value``.
        """
        found: dict[str, T] = {}
        async for each in scanned(collections, self.name, prefix):
            if having.encode() not in each.body:
                continue
            value = self.value(each) if unread is None else self.read(each)
            if value is not None:
                found[each.key] = value
            elif unread is not None:
                unread.append(each.key)
        return found


async def scanned(
    collections: Collections, name: str, prefix: str = "", page: int = 4096
) -> AsyncGenerator[Document, None]:
    """All documents of a collection whose keys begin so, in the order of their keys, read a page at a time."""
    after = ""
    while some := await collections.scan(name, prefix, after=after, limit=page):
        for each in some:
            yield each
        after = some[-1].key


_encoder = msgspec.msgpack.Encoder(enc_hook=encode_vector)
