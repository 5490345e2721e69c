"""The stream of consciousness in Cassandra."""

from collections.abc import Iterable, Mapping

from environment.latest import Latest
from environment.messages import StreamEntry
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.commit_logs import head_of
from environment.stores.cassandra.commits.record import CORE, STREAM
from environment.stores.cassandra.driver.session import CassandraTable
from environment.stores.codec import decode_entry

_READ = "SELECT body FROM stream_entries WHERE mind = ? AND chunk = ? AND seq >= ? AND seq <= ? LIMIT ?"
_SEQ = "SELECT seq FROM stream_entries_by_id WHERE mind = ? AND id = ?"
_REMEMBERED = 4096
_LARGEST = (1 << 31) - 1


class EntryNumbers(CassandraTable):
    """Under which number the stream holds an entry, for who appends to it."""

    def __post_init__(self) -> None:
        self._numbers = Latest[str, int](_REMEMBERED)

    async def of(self, ids: Iterable[str]) -> dict[str, int]:
        """Those of ``ids`` that are there."""
        names = dict.fromkeys(ids)
        found = {name: self._numbers[name] for name in names if name in self._numbers}
        asked = [name for name in names if name not in found]
        if asked:
            statement = await self._session.prepare(_SEQ)
            requests = [(statement, (self._mind, name)) for name in asked]
            answers = await self._session.execute_all(requests, idempotent=True)
            found |= {name: rows[0].seq for name, rows in zip(asked, answers, strict=True) if rows}
        return found

    def wrote(self, entries: Mapping[str, int]) -> None:
        """Take in what was appended: numbers by id."""
        self._numbers.update(entries)


class CassandraStream(CassandraTable):
    """``StreamLog`` in the tables ``stream_entries…``; it ends where the head says, so it has no gap."""

    async def head(self) -> int:
        return (await head_of(self._session, self._mind, STREAM, CORE)).entries

    async def read(self, from_seq: int, limit: int) -> list[StreamEntry]:
        head = await self.head()
        at, last = max(from_seq, 1), min(head, max(from_seq, 1) + max(limit, 0) - 1)
        statement = await self._session.prepare(_READ)
        found: list[StreamEntry] = []
        while at <= last:
            chunk = partitions.entry_chunk(at)
            values = (self._mind, chunk, at, last, min(limit, _LARGEST))
            rows = await self._session.execute(statement, values, idempotent=True)
            found += [decode_entry(row.body) for row in rows]
            at = (chunk + 1) * partitions.ENTRIES
        return found

    async def find(self, entry_id: str) -> StreamEntry | None:
        statement = await self._session.prepare(_SEQ)
        rows = await self._session.execute(statement, (self._mind, entry_id), idempotent=True)
        found = await self.read(rows[0].seq, 1) if rows else []
        return found[0] if found else None
