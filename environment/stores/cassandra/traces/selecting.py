"""Meeting traces by when they were thought, by whom and about what."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Sequence

from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.calendar import buckets_of
from environment.stores.cassandra.driver.session import Prepared, Row, Session

_BY_TIME = """SELECT at, id, author, topic FROM traces_by_time
    WHERE mind = ? AND hour = ? AND part = ? AND at >= ? AND at < ?"""
_BY_AUTHOR = """SELECT at, id, topic FROM traces_by_author
    WHERE mind = ? AND author = ? AND hour = ? AND part = ? AND at >= ? AND at < ?"""
_BY_TOPIC = """SELECT at, id, author FROM traces_by_topic
    WHERE mind = ? AND topic = ? AND hour = ? AND part = ? AND at >= ? AND at < ?"""
_PAGE = 200


async def select_ids(
    session: Session,
    mind: str,
    span: tuple[Instant, Instant],
    author: str | None,
    topic: str | None,
    limit: int,
) -> list[str]:
    """Ids by when a version that meets what is asked was thought, the latest first; reads no further than needed."""
    if limit <= 0 or not span[0] < span[1]:
        return []
    key: tuple[str, ...] = (mind,)
    if topic:
        scope, cql, key = partitions.topic_scope(topic), _BY_TOPIC, (mind, topic)
    elif author is not None:
        scope, cql, key = partitions.author_scope(author), _BY_AUTHOR, (mind, author)
    else:
        scope, cql = partitions.TIME, _BY_TIME
    statement = await session.prepare(cql)
    first, last = partitions.hour(span[0]), partitions.hour(span[1])
    names: dict[str, None] = {}
    async for hour, parts in buckets_of(session, mind, scope, first, last, newest_first=True):
        async for row in _latest(session, statement, [(*key, hour, part, *span) for part in parts], limit):
            if _is_asked(row, author, topic):
                names[row.id] = None
                if len(names) >= limit:
                    return list(names)
    return list(names)


def _is_asked(row: Row, author: str | None, topic: str | None) -> bool:
    """What the partition does not say already, the row does."""
    return (author is None or getattr(row, "author", author) == author) and (
        topic is None or getattr(row, "topic", topic) == topic
    )


async def _latest(
    session: Session, statement: Prepared, places: Sequence[tuple[object, ...]], limit: int
) -> AsyncIterator[Row]:
    """The rows of several partitions, the latest first; a page of each is held at most."""
    sources = [session.pages(statement, place, rows=min(limit, _PAGE)) for place in places]
    heads: list[tuple[float, str, int, int, list[Row]]] = []

    async def turn(number: int) -> None:
        page = await anext(sources[number], None)
        if page:
            heapq.heappush(heads, (-page[0].at, page[0].id, number, 0, page))

    for number in range(len(sources)):
        await turn(number)
    while heads:
        _, _, number, at, page = heapq.heappop(heads)
        yield page[at]
        if at + 1 < len(page):
            heapq.heappush(heads, (-page[at + 1].at, page[at + 1].id, number, at + 1, page))
        else:
            await turn(number)
