"""Reading all there is of a mind in pages of bearable size."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Sequence

from environment.collections import LOCAL, Document, Scanned
from environment.messages import Perception, StreamEntry
from environment.stores.movable import Source

PAGE = 256
READ_BYTES = 4 << 20
_MOST_PERCEPTIONS = 4096
_EVERYTHING = 1 << 62


async def perceptions_after(
    stores: Source, after: int, up_to: int = _EVERYTHING, *, read_bytes: int = READ_BYTES
) -> AsyncGenerator[list[Perception], None]:
    """All after a number, in pages of a bearable size in bytes as well: a picture weighs as much as many lines."""
    limit = 64
    while after < up_to and (page := await stores.perceptions.read(after, limit)):
        kept = page if page[-1].seq <= up_to else [each for each in page if each.seq <= up_to]
        if kept:
            yield kept
        after = page[-1].seq
        size = sum(len(each.image.data) if each.image else len(each.text or "") for each in page)
        if size > read_bytes:
            limit = max(1, limit // 4)
        elif size < read_bytes // 4:
            limit = min(limit * 2, _MOST_PERCEPTIONS)


async def entries_after(
    stores: Source, after: int, up_to: int = _EVERYTHING, *, page: int = PAGE
) -> AsyncGenerator[list[StreamEntry], None]:
    """All entries after a number."""
    while after < up_to and (found := await stores.stream.read(after + 1, min(page, up_to - after))):
        yield found
        after = found[-1].seq


async def documents_after(
    collections: Scanned, after: str = "", *, only: str = "", page: int = PAGE
) -> AsyncGenerator[tuple[str, list[Document]], None]:
    """All documents of the mind behind a mark, or of one collection: the mark of each page, and the page."""
    begin, key = json.loads(after) if after else ("", "")
    for name in [only] if only else await collections.names():
        if name.startswith(LOCAL) or name.encode() < begin.encode():
            continue
        key = key if name == begin else ""
        while found := await collections.scan(name, after=key, limit=page):
            key = found[-1].key
            yield json.dumps([name, key]), found


def runs(page: Sequence[Perception]) -> Iterator[list[Perception]]:
    """Cut where a number is missing: it was forgotten."""
    start = 0
    for at in range(1, len(page) + 1):
        if at == len(page) or page[at].seq != page[at - 1].seq + 1:
            yield list(page[start:at])
            start = at
