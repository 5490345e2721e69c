"""A reader's own copy of a collection, which follows what changes."""

import asyncio
from typing import Generic, TypeVar

from environment.collections import Collection, Collections, Document, scanned
from environment.errors import ChangesGone, StoreUnavailable
from environment.messages import Instant

T = TypeVar("T")
_TRIES = 3


class CollectionFollower(Generic[T]):
    """The documents of one collection, in memory: read when somebody asks first, then as far as they changed.

    A store error leaves them as they were, to be caught up later. What another version wrote in a form that this one
    cannot read is not there.
    """

    def __init__(self, collection: Collection[T], collections: Collections, batch: int) -> None:
        self._collection, self._collections, self._batch = collection, collections, batch
        self._held: dict[str, tuple[T, Instant | None]] = {}
        self._position: int | None = None
        self._lock = asyncio.Lock()
        self.changes = 0
        """How many were taken in: what was made of the documents is as good as ever while that does not grow."""

    async def current(self, now: Instant) -> dict[str, T]:
        """What the store holds that has not expired by ``now``, by key. Raises ``StoreUnavailable``."""
        async with self._lock:
            for _ in range(_TRIES):
                try:
                    await self._catch_up()
                    break
                except ChangesGone:  # nobody asked for very long
                    self._position = None
            else:
                raise StoreUnavailable("what is kept changes faster than it can be read")
            for key in [k for k, (_, expires) in self._held.items() if expires is not None and expires <= now]:
                del self._held[key]
            return {key: self._held[key][0] for key in sorted(self._held)}

    async def _catch_up(self) -> None:
        name, read = self._collection.name, self._collections
        if self._position is None:
            position = await read.head()  # before reading: what changes meanwhile is read again
            self._held, self._position = {}, position
            async for document in scanned(read, name, page=self._batch):
                self._take(document)
        while True:
            self._position, changed = await read.changes(name, self._position, self._batch)
            for document in changed:
                self._take(document)
            if len(changed) < self._batch:
                return

    def _take(self, document: Document) -> None:
        self.changes += 1
        value = None if document.removed else self._collection.read(document)
        if value is None:
            self._held.pop(document.key, None)
        else:
            self._held[document.key] = value, document.expires
