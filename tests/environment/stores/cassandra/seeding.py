"""A mind with a long past, made quickly: the rows that its commits would have written, by several processes at once.

What is left out is what the past no longer needs: deciding on each commit before its rows are written. The last one is
decided as any other.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

from environment.errors import StoreUnavailable
from environment.messages import Trace
from environment.ports import WriteTrace
from environment.stores.cassandra.commits.drafts import Draft
from environment.stores.cassandra.commits.lanes import Decision
from environment.stores.cassandra.commits.record import CORE, TRACES, LaneState, Part, Record
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.stores import CassandraStores, open_stores

_COMMIT = 1000
_PROCESSES = 3
_GENTLE = CassandraSettings(concurrency=48, request_timeout=30, deadline=120, attempts=20)

Make = Callable[[int], Trace]
"""Trace by number, from 0 on; can be pickled."""


class _NothingIsThere:
    """How the traces of an empty mind stand, its entries, and its growth."""

    async def of(self, ids: Iterable[str]) -> dict[str, object]:
        return {}


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
        lanes = stores._writer.lanes
        before = LaneState(change=starts[-1], traces=starts[-1], live=live)
        draft = await _draft(make, range(starts[-1], count), before)
        payload = draft.payload()
        view = await lanes.look(CORE, [TRACES])
        decision = await lanes.decide(view, [draft.counted(payload)[0]], payload, 0, b"seeded")
        assert decision is not None
        await lanes.apply(decision)
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
            draft = await _draft(make, range(start, start + _COMMIT), LaneState(change=start, traces=start))
            payload = draft.payload()
            live += sum(standing.live for standing in payload.standings)
            record = Record(start + 1, b"seeded", [Part(CORE, TRACES, 0, LaneState())], b"")
            await _apply(stores, Decision(record, payload, (0,)))
    finally:
        await stores.close()
    return live


async def _apply(stores: CassandraStores, decision: Decision) -> None:
    for patience in range(20, -1, -1):
        try:
            await stores._writer.lanes.apply(decision)
        except StoreUnavailable as error:  # a server that shares its cores may be late
            if not patience:
                raise
            await asyncio.sleep(error.retry_after)
        else:
            return


async def _draft(make: Make, numbers: Iterable[int], before: LaneState) -> Draft:
    draft, nothing = Draft(before, LaneState(), LaneState()), _NothingIsThere()
    await draft.add([WriteTrace(make(number)) for number in numbers], nothing, nothing, nothing)
    return draft
