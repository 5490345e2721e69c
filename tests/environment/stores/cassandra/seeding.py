"""A mind with a long past, made quickly: the rows that its commits would have written, by several processes at once.

What is left out is what the past no longer needs: deciding on each commit before its rows are written. The last one is
decided as any other.
"""

import asyncio
import multiprocessing
import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

from environment.errors import StoreUnavailable
from environment.messages import Trace
from environment.ports import WriteTrace
from environment.stores.cassandra.commits.commit_logs import Decided
from environment.stores.cassandra.commits.drafts import Draft, Known
from environment.stores.cassandra.commits.record import CORE, TRACES, CommitRecord, Counters, Part
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.stores import CassandraStores, open_stores

_COMMIT = 1000
_PROCESSES = 3
_GENTLE = CassandraSettings(concurrency=48, request_timeout=30, deadline=120, attempts=20)

Make = Callable[[int], Trace]
"""Trace by number, from 0 on; can be pickled."""


class _NothingIsThere:
    """How the traces of an empty mind stand, and its entries."""

    async def of(self, ids: Iterable[str]) -> dict[str, object]:
        return {}


_NOTHING = _NothingIsThere()
UNKNOWN = Known(_NOTHING, _NOTHING, _NOTHING, lambda *_: False)
"""What the writer of an empty mind knows."""


async def seed(place: str, mind: str, make: Make, count: int, settings: CassandraSettings) -> None:
    """Leave the new traces 0 to ``count`` - 1 in an empty mind."""
    starts = list(range(0, count, _COMMIT))
    shares = [starts[:-1][nth::_PROCESSES] for nth in range(_PROCESSES)]
    with ProcessPoolExecutor(_PROCESSES, multiprocessing.get_context("spawn")) as pool:
        loop = asyncio.get_running_loop()
        counts = await asyncio.gather(
            *(loop.run_in_executor(pool, _write_share, place, mind, make, share) for share in shares if share)
        )
    live = sum(counts)
    stores = await open_stores(place, mind, settings=settings, rng=random.Random(1))
    try:
        logs = stores._writer.logs
        before = Counters(change=starts[-1], traces=starts[-1], live=live)
        draft = await _draft(make, range(starts[-1], count), before)
        rows, view = draft.finish(), await logs.look(CORE, [TRACES])
        decided = await logs.decide(view, [draft.counted()[TRACES]], rows, 0, (b"seeded", draft.stamp))
        assert decided is not None
        await logs.apply(decided)
    finally:
        await stores.close()


def _write_share(place: str, mind: str, make: Make, starts: Sequence[int]) -> int:
    return asyncio.run(_write(place, mind, make, starts))


async def _write(place: str, mind: str, make: Make, starts: Sequence[int]) -> int:
    """Write the rows of some commits; how many of their traces are live."""
    stores = await open_stores(place, mind, settings=_GENTLE, rng=random.Random(starts[0]))
    live = 0
    try:
        for start in starts:
            draft = await _draft(make, range(start, start + _COMMIT), Counters(change=start, traces=start))
            rows = draft.finish()
            live += sum(status.live for status in draft.statuses().values())
            record = CommitRecord(draft.stamp, b"seeded", [Part(CORE, TRACES, 0, Counters())], b"")
            await _apply(stores, Decided((), record, rows))
    finally:
        await stores.close()
    return live


async def _apply(stores: CassandraStores, decided: Decided) -> None:
    for patience in range(20, -1, -1):
        try:
            await stores._writer.logs.apply(decided)
        except StoreUnavailable as error:  # a server that shares its cores may be late
            if not patience:
                raise
            await asyncio.sleep(error.retry_after)
        else:
            return


async def _draft(make: Make, numbers: Iterable[int], before: Counters) -> Draft:
    draft = Draft(before.change + 1, UNKNOWN, {TRACES: before})
    await draft.add([WriteTrace(make(number)) for number in numbers])
    return draft
