"""The perception log in Cassandra: rows are written beyond its head first, and then committed by moving the head.

What is written beyond the head is seen by nobody. One lightweight transaction for each append moves it, where its
writer still leads; one that was overtaken is refused there, and what it wrote, or writes yet, stays unseen: ``scan``.
"""

import asyncio
import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Instant, Modality, NewPerception, Perception, PerceptionBatch, Receipt, Receipts
from environment.ports import PreparedBatch
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.session import Session
from environment.stores.cassandra.log.forgetting import Age, forget, sweep
from environment.stores.cassandra.log.header import Header, LogHeader
from environment.stores.cassandra.log.keys import NO_KEY, each_key, hash_keys
from environment.stores.cassandra.log.known import KnownKeys
from environment.stores.cassandra.log.layout import chunk_of, first_of, stamp
from environment.stores.cassandra.log.reading import LogReader
from environment.stores.cassandra.log.segments import SegmentTable
from environment.stores.codec import encode_perceptions
from environment.stores.segments import ALONE, choose, cut, join, parts, receipts


@dataclass(frozen=True, slots=True)
class Hashed:
    """A batch with the hashes of its keys and, where it makes a segment of its own, the body of that."""

    perceptions: PerceptionBatch
    keys: bytes
    """One after the other, or nothing where no perception has a key."""
    body: bytes | None

    def __len__(self) -> int:
        return len(self.perceptions)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A commit that was asked for."""

    on: Header
    then: Header
    first: int
    count: int
    keys: bytes

    @property
    def written(self) -> int:
        """The time of its writes."""
        return stamp(self.then.leader, self.then.n)


class CassandraPerceptions:
    """``PerceptionLog`` in a keyspace that was migrated. ``session`` is the caller's, who closes it after this.

    Guarantees: an answered append is on a quorum of the replicas and behind the head; numbers have no gap; one opening
    writes at a time, whatever the others do or did. ``StoreUnavailable`` from an append leaves its outcome open only
    where it is an ``OutcomeUnknown``: then the next append finds out first, so keys tell what was taken in.
    ``recent``: keys that are kept in memory with their numbers (100 bytes each); ``filter_bytes``: memory of the filter
    that says which keys are new, 2 MiB for each million perceptions that are kept.
    """

    ahead = 1

    def __init__(self, session: Session, mind: str, *, recent: int = 65_536, filter_bytes: int = 64 << 20) -> None:
        self._session = session
        self._mind = mind
        self._log = LogHeader(session, mind)
        self._table = SegmentTable(session, mind)
        self._reader = LogReader(self._log, self._table)
        self._known = KnownKeys(session, mind, self._table, recent=recent, filter_bytes=filter_bytes)
        self._turn = asyncio.Lock()
        self._header: Header | None = None
        """What the row says, while this opening writes; nobody else changes its head then."""
        self._informed = False
        """Whether the keys that others wrote are known."""
        self._counter = 0
        self._epoch = 0
        self._led = False
        """Whether ``lead`` said so: then it is never taken back by itself."""
        self._doubt: _Attempt | None = None
        self._closed = False

    async def lead(self, token: int | None = None) -> int:
        async with self._turn:
            return await self._lead(token, led=True)

    async def _lead(self, token: int | None, *, led: bool) -> int:
        self._check()
        if self._doubt is not None:
            await self._settle()
        header = await self._log.lead(token)
        self._enter(header)
        self._led = self._led or led
        with contextlib.suppress(StoreUnavailable):
            await self._inform(header)  # else with the first append
        return header.leader

    def _enter(self, header: Header) -> None:
        self._header, self._epoch, self._informed = header, header.leader, False
        self._counter = max(self._counter, header.n)

    async def _inform(self, header: Header) -> None:
        await self._known.begin(header)
        self._informed = True

    async def append(self, batch: Sequence[NewPerception]) -> list[Receipt]:
        (answer,) = await self.append_batches([self.prepare(PerceptionBatch.of(batch))])
        return list(answer)

    def prepare(self, batch: PerceptionBatch) -> Hashed:
        keys = hash_keys(self._mind, batch.source, batch.key)
        whole = len(batch) >= ALONE and next(cut(batch)) == (0, len(batch))
        return Hashed(batch, keys, encode_perceptions(batch) if whole else None)

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        ready = [each if isinstance(each, Hashed) else self.prepare(each.perceptions) for each in batches]
        if not any(map(len, ready)):
            return [Receipts(0, 0) for _ in ready]
        async with self._turn:
            while True:
                answer = await self._append(await self._lead_on(), ready)
                if answer is not None:
                    return answer

    async def skip(self, to: int) -> None:
        """As ``Moving.skip``."""
        async with self._turn:
            while (header := await self._lead_on()).head < to:
                then = replace(header, n=self._next(), head=to)
                begin = header.head + 1
                if header.head == header.low:  # what lies before is as if it had been forgotten
                    begin = max(begin, first_of(chunk_of(to)))
                    then = replace(then, low=to, swept=max(header.swept, first_of(chunk_of(to)) - 1))
                attempt = _Attempt(header, then, to + 1, 0, b"")
                await self._session.execute_all(await self._table.voids(begin, to, attempt.written), idempotent=True)
                if await self._commit(attempt):
                    self._informed = False

    def _next(self) -> int:
        self._counter += 1
        return self._counter

    async def _lead_on(self) -> Header:
        """The header, as who may change it. Raises ``FencedOut`` where another leads since this opening did."""
        self._check()
        if self._doubt is not None:
            await self._settle()
        if self._header is None:
            there = await self._log.decided() if self._epoch else None
            if there is not None and there.leader == self._epoch:
                self._header, self._counter = there, max(self._counter, there.n)
            elif self._led:
                raise FencedOut(self._epoch, there.leader if there else 0)
            else:
                await self._lead(None, led=False)
        header = self._header
        if header is None:  # _lead has set it
            raise StoreUnavailable("the perception log is not led", retry_after=0.2)
        if not self._informed:
            await self._inform(header)
        return header

    async def _append(self, header: Header, batches: Sequence[Hashed]) -> list[Receipts] | None:
        """Write and commit; None where it must be done again, since another took over or the commit came to nothing."""
        some, known = [each for each in batches if len(each)], dict[int, int]()
        total = sum(map(len, some))
        keys = b""
        if any(each.keys for each in some):
            keys = b"".join(each.keys or NO_KEY * len(each) for each in some)
            known = await self._settled_keys(header, keys)
        if known:
            chosen = [at not in known for at in range(total)]
            new = choose(join([each.perceptions for each in some]), lambda column: list(compress(column, chosen)))
            keys = b"".join(compress(each_key(keys), chosen))
            some = [Hashed(new, keys, None)] if len(new) else []
        count = total - len(known)
        if count:
            then = replace(header, n=self._next(), head=header.head + count)
            attempt = _Attempt(header, then, header.head + 1, count, keys)
            await self._write(attempt, some)
            if not await self._commit(attempt):
                return None
        return receipts(batches, header.head + 1, known)

    async def _settled_keys(self, header: Header, keys: bytes) -> dict[int, int]:
        """Which perceptions are known, by their place among all: those in the log, and repeated ones."""
        each = each_key(keys)
        distinct = dict.fromkeys(each)
        distinct.pop(NO_KEY, None)
        there = await self._known.find(list(distinct), header)
        if there:  # another process may have forgotten them
            now = await self._log.read()
            self._known.forget(now.low)
            there = {key: seq for key, seq in there.items() if seq > now.low}
        elif len(distinct) == len(each) - each.count(NO_KEY):
            return {}
        known: dict[int, int] = {}
        following = header.head
        for at, key in enumerate(each):
            if key in there:
                known[at] = there[key]
                continue
            following += 1
            if key != NO_KEY:
                there[key] = following
        return known

    async def _write(self, attempt: _Attempt, batches: Sequence[Hashed]) -> None:
        bodies = [(each.perceptions, each.body) for each in parts(batches)]
        rows = await self._table.requests(attempt.first, bodies, attempt.keys, attempt.written)
        rows += await self._known.requests(attempt.first, attempt.keys, attempt.written)
        await self._session.execute_all(rows, idempotent=True)

    async def _commit(self, attempt: _Attempt) -> bool:
        """Move the head; whether it was moved. Else another has led, or has to be asked who does."""
        self._doubt = attempt  # also where this is cancelled
        try:
            applied = await self._log.commit(attempt.then)
        except OutcomeUnknown:
            return await self._settle()
        except StoreUnavailable:
            self._doubt = None
            raise
        self._doubt = None
        if applied:
            self._committed(attempt)
        else:
            self._header = None
        return applied

    async def _settle(self) -> bool:
        """Find out whether the attempt in doubt was committed, once and for all."""
        attempt = self._doubt
        if attempt is None:
            return False
        there = await self._log.settle(attempt.on, self._next())
        if there.leader == attempt.then.leader:
            applied = there.head == attempt.then.head
        else:  # overtaken: others may have gone on from either
            applied = there.head >= attempt.then.head and await self._table.was_written(
                attempt.first, attempt.written, there
            )
        self._doubt = None
        if applied:
            self._committed(attempt)
        self._header = there if there.leader == attempt.then.leader else None
        return applied

    def _committed(self, attempt: _Attempt) -> None:
        then = attempt.then
        self._header = replace(then, row=replace(then.row, n=then.n, epoch=then.leader))
        self._known.learn(attempt.keys, attempt.count, attempt.first)

    async def read(self, after: int, limit: int, modality: Modality | None = None) -> list[Perception]:
        self._check()
        return await self._reader.read(after, limit, modality)

    async def get(self, ids: Sequence[str]) -> dict[str, Perception]:
        self._check()
        return await self._reader.get(ids)

    async def head(self) -> int:
        self._check()
        return (await self._log.read()).head

    async def epoch(self) -> int:
        """The last epoch of writing that was begun; 0 before the first."""
        self._check()
        return (await self._log.decided()).leader

    async def forget(
        self, received_before: Instant, up_to: int, limit: int = 10_000, believed: Instant = math.inf
    ) -> int:
        self._check()
        async with self._turn:
            header = await self._log.read()
            if self._led and header.leader != self._epoch:
                raise FencedOut(self._epoch, header.leader)
            low = await forget(self._log, self._table, header, up_to, limit, Age(received_before, believed))
            self._known.forget(low)
            await sweep(self._log, self._table, self._known, header.swept, low)
            self._header = None  # its number has changed
            return low - header.low

    async def erase(self, seqs: Sequence[int]) -> int:
        self._check()
        async with self._turn:
            header = await self._log.read()
            if self._led and header.leader != self._epoch:
                raise FencedOut(self._epoch, header.leader)
            self._counter = max(self._counter, header.n)
            written, gone = stamp(header.leader, self._next()), 0
            there = sorted({seq for seq in seqs if header.low < seq <= header.head})
            for chunk, numbers in groupby(there, chunk_of):
                wanted = list(numbers)
                for segment in await self._table.index(chunk, header.head):
                    places = [seq - segment.position for seq in wanted if segment.position <= seq <= segment.end]
                    if places:
                        count, keys = await self._table.erase(segment, places, written)
                        await self._known.delete(keys, written)
                        gone += count
            return gone

    async def rows(self) -> int:
        """How many perceptions are kept."""
        self._check()
        header = await self._log.read()
        return header.head - header.low

    async def close(self) -> None:
        """End what runs in the background; the session stays open. May be called twice."""
        self._closed = True
        await self._known.stop()

    def _check(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self._session.address} has been closed")
