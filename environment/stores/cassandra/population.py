"""Members and the audit log of growth in Cassandra."""

from __future__ import annotations

from environment.population import GrowthEvent, Member
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.heads import head_of
from environment.stores.cassandra.commits.record import GROWTH
from environment.stores.cassandra.driver.session import Session
from environment.stores.codec import decode_growth, decode_member

_READ = "SELECT body FROM growth WHERE mind = ? AND chunk = ? AND seq >= ? AND seq <= ?"
_MEMBERS = "SELECT body FROM members WHERE mind = ? AND chunk = ?"


class GrowthEvents:
    """The audit log of growth; it ends where the head says, so it has no gap."""

    def __init__(self, session: Session, mind: str) -> None:
        self._session = session
        self._mind = mind

    async def head(self) -> int:
        """The last number, 0 when it is empty."""
        return (await head_of(self._session, self._mind, GROWTH, GROWTH)).entries

    async def body(self, seq: int) -> bytes | None:
        """The event of a number as it was written."""
        statement = await self._session.prepare(_READ)
        values = (self._mind, partitions.growth_chunk(seq), seq, seq)
        rows = await self._session.execute(statement, values, idempotent=True)
        return bytes(rows[0].body) if rows else None

    async def read(self, after: int, limit: int) -> list[GrowthEvent]:
        """See ``RegistryStore.growth``."""
        at = max(after, 0) + 1
        last = min(await self.head(), at + max(limit, 0) - 1)
        statement = await self._session.prepare(_READ)
        found: list[GrowthEvent] = []
        while at <= last:
            chunk = partitions.growth_chunk(at)
            rows = await self._session.execute(statement, (self._mind, chunk, at, last), idempotent=True)
            found += [decode_growth(row.body) for row in rows]
            at = (chunk + 1) * partitions.GROWTH
        return found

    async def members(self) -> list[Member]:
        """See ``RegistryStore.members``."""
        statement = await self._session.prepare(_MEMBERS)
        chunks = range(partitions.growth_chunk(await self.head()) + 1)
        answers = await self._session.execute_all(
            [(statement, (self._mind, chunk)) for chunk in chunks], idempotent=True, concurrency=16
        )
        return [decode_member(row.body) for rows in answers for row in rows]
